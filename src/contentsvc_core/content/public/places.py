"""Places in a public changelog: lists are read on from where they ended, and nothing is counted over."""

import re
from datetime import datetime
from typing import Final, Self, final

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.timestamps import from_ms, to_ms

#: Fourteen digits end before the last year that a calendar of four digits holds.
_WRITTEN: Final = re.compile(r"([0-9]{1,14})_(.+)", re.ASCII)


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
        found = _WRITTEN.fullmatch(text)
        if found is None or not is_own_id(found[2]):
            return None
        return cls(published_at=from_ms(int(found[1])), id=found[2])

    @property
    def written(self) -> str:
        """Give it as addresses spell it: milliseconds since the epoch, and the id."""
        return f"{to_ms(self.published_at)}_{self.id}"
