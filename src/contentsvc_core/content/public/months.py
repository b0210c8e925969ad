"""Calendar months, by which a public changelog is paged. A month begins at midnight UTC."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Self, final

from attrs import field, frozen

from contentsvc_core.content.posts import Post

#: Fixed English names: the standard library's depend on the process's locale.
_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WRITTEN: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])", re.ASCII)
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 9998


@final
@frozen(order=True)
class Month:
    """A month of a year."""

    year: int
    #: 1 to 12.
    number: int

    @classmethod
    def of(cls, at: datetime) -> Self:
        """Return the month of a point in time."""
        utc = at.astimezone(UTC)
        return cls(utc.year, utc.month)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read ``YYYY-MM``; ``None``: the text is no month."""
        found = _WRITTEN.fullmatch(text)
        if found is None or not _FIRST_YEAR <= int(found[1]) <= _LAST_YEAR:
            return None
        return cls(int(found[1]), int(found[2]))

    @property
    def written(self) -> str:
        """Return ``YYYY-MM``."""
        return f"{self.year:04}-{self.number:02}"

    @property
    def name(self) -> str:
        """Return its English name with the year."""
        return f"{_NAMES[self.number - 1]} {self.year}"

    @property
    def since(self) -> datetime:
        """Return the time at which it begins."""
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def until(self) -> datetime:
        """Return the time at which the next month begins."""
        return self.next.since

    @property
    def next(self) -> "Month":
        """Return the next month."""
        return Month(self.year + self.number // 12, self.number % 12 + 1)


def months_between(first: Month, last: Month) -> list[Month]:
    """Return the months from the first to the last one, both included, the newest first."""
    months: list[Month] = []
    each = first
    while each <= last:
        months.append(each)
        each = each.next
    return months[::-1]


@final
@frozen(kw_only=True)
class MonthOfPosts:
    """A month, and the posts about events in it."""

    month: Month
    posts: tuple[Post, ...] = field(converter=tuple)


def by_month(posts: Iterable[Post]) -> list[MonthOfPosts]:
    """Group posts, which are sorted by the time of their events, by month; the order stays."""
    return [
        MonthOfPosts(month=month, posts=within)
        for month, within in groupby(posts, key=lambda post: Month.of(post.occurred_at))
    ]


def by_year(months: Sequence[Month]) -> list[tuple[int, tuple[Month, ...]]]:
    """Group sorted months by year; the order stays."""
    return [(year, tuple(within)) for year, within in groupby(months, key=lambda month: month.year)]
