"""Calendar months, by which a public changelog is paged. A month begins at midnight of its time zone."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Final, Self, final
from zoneinfo import ZoneInfo

from attrs import field, frozen

from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.posts import Post
from contentsvc_core.zones import DEFAULT_ZONE, day_of, start_of_day

_WRITTEN: Final = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])", re.ASCII)
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 9998


@final
@frozen(order=True)
class Month:
    year: int
    number: int
    zone: ZoneInfo = field(default=DEFAULT_ZONE, eq=False, repr=False)

    @classmethod
    def of(cls, at: datetime, zone: ZoneInfo = DEFAULT_ZONE) -> Self:
        day = day_of(zone, at)
        return cls(day.year, day.month, zone)

    @classmethod
    def read(cls, text: str, zone: ZoneInfo = DEFAULT_ZONE) -> Self | None:
        """Read ``YYYY-MM``; ``None``: the text is no month."""
        match = _WRITTEN.fullmatch(text)
        if match is None or not _FIRST_YEAR <= int(match[1]) <= _LAST_YEAR:
            return None
        return cls(int(match[1]), int(match[2]), zone)

    @property
    def written(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    @property
    def name(self) -> str:
        return f"{ENGLISH.months[self.number - 1]} {self.year}"

    @property
    def since(self) -> datetime:
        return start_of_day(self.zone, date(self.year, self.number, 1))

    @property
    def until(self) -> datetime:
        return self.next.since

    @property
    def next(self) -> "Month":
        return Month(self.year + self.number // 12, self.number % 12 + 1, self.zone)


def months_between(first: Month, last: Month) -> list[Month]:
    """Return the months from the first to the last one, both included, the newest first."""
    months: list[Month] = []
    month = first
    while month <= last:
        months.append(month)
        month = month.next
    return months[::-1]


@final
@frozen(kw_only=True)
class MonthOfPosts:
    month: Month
    posts: tuple[Post, ...] = field(converter=tuple[Post, ...])


def by_month(posts: Iterable[Post], zone: ZoneInfo = DEFAULT_ZONE) -> list[MonthOfPosts]:
    return [
        MonthOfPosts(month=month, posts=within)
        for month, within in groupby(posts, key=lambda post: Month.of(post.occurred_at, zone))
    ]


def by_year(months: Sequence[Month]) -> list[tuple[int, tuple[Month, ...]]]:
    return [(year, tuple(within)) for year, within in groupby(months, key=lambda month: month.year)]
