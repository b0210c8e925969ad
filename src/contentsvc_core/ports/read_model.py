from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.journal import ListedEntry
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.read_model import LogCount, LogSearch


class ReadModel(Protocol):
    """Queries about the log. Lists do not read events, which may have 25 MiB."""

    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Cursor | None = None,
        after: Cursor | None = None,
    ) -> Sequence[ListedEntry]:
        """Return the newest entries that match, newest first, older than ``before`` and newer than ``after``."""
        ...

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None: ...

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        """Return the newest entry of each integration in the log, removed ones included, by the integration's id."""
        ...

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        """Count entries by stretch (:data:`~contentsvc_core.read_model.COUNTED_SPANS`), integration and status."""
        ...
