"""Places in a public changelog: lists are read on from where they ended, and nothing is counted over."""

from datetime import datetime
from typing import Self, final

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.insights import Place
from contentsvc_core.places import read_place, written_place


@final
@frozen(kw_only=True)
class PublishedPlace:
    """Where a post stands in what was published, which is ordered by publication and then id."""

    published_at: datetime
    id: str

    @classmethod
    def of(cls, post: Post) -> Self:
        """Give where a post stands.

        Raises:
            ValueError: It was never published.
        """
        if post.published_at is None:
            message = f"{post.id} was never published"
            raise ValueError(message)
        return cls(published_at=post.published_at, id=post.id)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a place from an address; ``None``: it is none."""
        found = read_place(text)
        return None if found is None else cls(published_at=found.created_at, id=found.id)

    @property
    def written(self) -> str:
        """Give it as addresses spell it: milliseconds since the epoch, and the id."""
        return written_place(Place(created_at=self.published_at, id=self.id))
