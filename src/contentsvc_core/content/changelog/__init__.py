"""The deterministic writer: events in, a title and Markdown out. Same events, same bytes."""

from contentsvc_core.content.changelog.options import ChangelogOptions
from contentsvc_core.content.changelog.writer import write_changelog

__all__ = ["ChangelogOptions", "write_changelog"]
