"""Cursors in the lists of a public changelog: the next part of a list begins behind a cursor."""

from datetime import datetime
from typing import Self, final

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor


@final
@frozen(kw_only=True)
class PublishedCursor:
    """A post's place in a public changelog, which is sorted by the time of the posts' events and then by id."""

    occurred_at: datetime
    id: str

    @classmethod
    def of(cls, post: Post) -> Self:
        """Return the place of a post."""
        return cls(occurred_at=post.occurred_at, id=post.id)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a cursor from an address; ``None``: the text is no cursor."""
        found = read_cursor(text)
        return None if found is None else cls(occurred_at=found.created_at, id=found.id)

    @property
    def written(self) -> str:
        """Return the form in addresses: milliseconds since the epoch, and the id."""
        return written_cursor(Cursor(created_at=self.occurred_at, id=self.id))
