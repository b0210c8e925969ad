"""What finds context records and posts by their words."""

from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.insights import Place
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.workflows.context import ContextRecord


class Search(Protocol):
    """Finds by words, and by nothing that is a store's own idea: every store finds the same.

    What has been written before a search began is found by it, unless :attr:`~.Hits.behind` says how much is not.
    """

    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Place | None = None
    ) -> Hits[ContextRecord]:
        """Find context records, newest first.

        Args:
            organization_id: Whose.
            search: Which.
            limit: How many at most.
            max_bytes: How much their events have together, about, as they are stored; the first one is given whatever
                its size, and what does not fit is left for the next part.
            before: Only records that are older than this place: the next part of a list that ended there.
        """
        ...

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Place | None = None
    ) -> Hits[Post]:
        """Find posts, newest first, by their creation."""
        ...

    async def catch_up(self, *, limit: int) -> int:
        """Look at documents that were written since, at most ``limit`` of them, so that no search has to.

        Gives how many it has looked at; 0: nothing is left. Called by whoever works, from time to time; a search needs
        nobody to have called it.
        """
        ...
