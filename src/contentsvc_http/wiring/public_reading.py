"""What the public pages read."""

from typing import TYPE_CHECKING

import attrs

from contentsvc_http.changelog.reading import PublicReading
from contentsvc_http.settings import Settings

if TYPE_CHECKING:
    from contentsvc_adapters.memory import MemoryStores
    from contentsvc_adapters.sql import SqlStores


def open_public_reading(settings: Settings, stores: "SqlStores | MemoryStores") -> PublicReading:
    """Take the store; addresses begin with the one that is set, and where none is, with that of the request."""
    is_set = settings.base_url != attrs.fields(Settings).base_url.default
    return PublicReading(changelogs=stores.changelogs, base_url=settings.base_url if is_set else "")
