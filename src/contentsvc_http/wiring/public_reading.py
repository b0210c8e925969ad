"""What the public pages read."""

from typing import TYPE_CHECKING

import attrs

from contentsvc_adapters.aside import OneAtATime
from contentsvc_core.ports import Aside, Clock, IdSource
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_core.usecases.subscribe import Subscriptions
from contentsvc_http.changelog.kept import RenderedPages
from contentsvc_http.changelog.reading import ByMail, PublicReading
from contentsvc_http.client_address import Proxies
from contentsvc_http.settings import Settings

if TYPE_CHECKING:
    from contentsvc_adapters.memory import MemoryStores
    from contentsvc_adapters.sql import SqlStores


def open_public_reading(
    settings: Settings,
    stores: "SqlStores | MemoryStores",
    clock: Clock,
    ids: IdSource,
    aside: Aside | None = None,
) -> PublicReading:
    """Return what the public pages read.

    Args:
        settings: Addresses begin with the one that is set; where none is, with that of the request.
        stores: Holds the changelogs.
        clock: The time of subscriptions.
        ids: Their ids and tokens.
        aside: Renders the pages; ``None``: a thread of their own.
    """
    is_set = settings.base_url != attrs.fields(Settings).base_url.default
    return PublicReading(
        changelogs=stores.changelogs,
        search=stores.search,
        pages=RenderedPages(aside or OneAtATime("public pages")),
        base_url=settings.base_url if is_set else "",
        by_mail=None
        if not settings.smtp_url
        else ByMail(
            subscriptions=Subscriptions(stores.subscribers, clock, ids),
            limiter=RateLimiter(stores.rate_limits, clock),
            proxies=Proxies.read(settings.trusted_proxies),
            own_url=settings.base_url,
        ),
    )
