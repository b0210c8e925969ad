"""The deterministic writer: events in, a title and Markdown out. Same events, same bytes."""

from typing import TYPE_CHECKING

from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.content.changelog.writer import write_changelog as write_changelog

__all__ = ["ChangelogOptions", "write_changelog"]

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__)
