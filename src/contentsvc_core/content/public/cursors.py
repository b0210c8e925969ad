"""Cursors in the lists of a public changelog: the next part of a list begins behind a cursor."""

from datetime import datetime
from typing import Self, final

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.lists.cursors import Cursor, read_cursor, written_cursor


@final
@frozen(kw_only=True)
class PublishedCursor:
    occurred_at: datetime
    id: str

    @classmethod
    def of(cls, post: Post) -> Self:
        return cls(occurred_at=post.occurred_at, id=post.id)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a cursor from an address; ``None``: the text is no cursor."""
        cursor = read_cursor(text)
        return None if cursor is None else cls(occurred_at=cursor.created_at, id=cursor.id)

    @property
    def written(self) -> str:
        """Return the form in addresses: milliseconds since the epoch, and the id."""
        return written_cursor(Cursor(created_at=self.occurred_at, id=self.id))
