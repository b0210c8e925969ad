from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.workflows.context import ContextRecord


class Search(Protocol):
    """Full-text search whose matches depend on the words alone: every store returns the same matches.

    A search finds all documents written before it began, but for the documents that :attr:`~.Hits.behind` counts.
    """

    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Cursor | None = None
    ) -> Hits[ContextRecord]:
        """Return matching context records older than ``before``, newest first.

        Their stored events have about ``max_bytes`` together; the first record is returned whatever its size.
        """
        ...

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Cursor | None = None
    ) -> Hits[Post]:
        """Return matching posts, newest first by creation."""
        ...

    async def catch_up(self, *, limit: int) -> int:
        """Index at most ``limit`` new documents; return their number. Results of searches do not depend on it."""
        ...
