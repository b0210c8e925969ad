"""The earlier texts of a post, and the differences between two of them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, Self, TypeAlias, final

from msgspec import Struct

from contentsvc_core.content.posts import Label, Post, PostText
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.values import Value

#: The most versions of a post, and the most bytes of their texts together: fifty saves are a day of editing, and the
#: longest text has 400 KB. The newest version is kept whatever its size.
MAX_VERSIONS: Final = 50
MAX_VERSION_BYTES: Final = 1024 * 1024

Mark: TypeAlias = Literal["same", "added", "removed"]


@final
class PostVersion(Value, frozen=True, kw_only=True):
    #: Counts from 1, in the order of saving.
    number: int
    text: PostText
    saved_at: datetime
    #: Who saved the text: the prefix of an API key, or ``command``; ``None``: unknown, or the service itself.
    author: str | None = None

    @property
    def size(self) -> int:
        text = self.text
        return sum(
            len(part.encode("utf-8", "surrogatepass")) for part in (text.title, text.markdown, text.summary or "")
        )


@final
class VersionBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A version of a post's text."""

    number: int
    title: str
    markdown: str
    summary: str | None
    labels: list[Label]
    saved_at: str
    author: str | None

    @classmethod
    def of(cls, version: PostVersion) -> Self:
        return cls(
            number=version.number,
            title=version.text.title,
            markdown=version.text.markdown,
            summary=version.text.summary,
            labels=list(version.text.labels),
            saved_at=iso_ms(version.saved_at),
            author=version.author,
        )


def versions_after(
    stored: Sequence[PostVersion], before: Post, after: Post, author: str | None
) -> tuple[Sequence[PostVersion], Sequence[PostVersion]]:
    """Return the versions that a change adds, and all that are stored then, each newest first.

    ``stored`` are the versions before, newest first. The text before the change is added first if no version has it.
    """
    if before.text == after.text:
        return (), stored
    added: list[PostVersion] = []
    number = stored[0].number if stored else 0
    if not stored or stored[0].text != before.text:
        number += 1
        added.append(PostVersion(number=number, text=before.text, saved_at=before.updated_at))
    added.append(PostVersion(number=number + 1, text=after.text, saved_at=after.updated_at, author=author))
    added.reverse()
    return added, list(_fitting([*added, *stored]))


def current_first(stored: Sequence[PostVersion], post: Post) -> Sequence[PostVersion]:
    if stored and stored[0].text == post.text:
        return stored
    number = stored[0].number + 1 if stored else 1
    return [PostVersion(number=number, text=post.text, saved_at=post.updated_at), *stored]


def _fitting(versions: Iterable[PostVersion]) -> Iterator[PostVersion]:
    remaining = MAX_VERSION_BYTES
    for index, version in enumerate(versions):
        remaining -= version.size
        if index and (remaining < 0 or index >= MAX_VERSIONS):
            return
        yield version


@final
class DiffLineBody(Struct, frozen=True):
    """A line of the difference."""

    mark: Mark
    text: str


def differences(old: str, new: str) -> list[DiffLineBody]:
    """Return the lines of both texts in order, each marked as same, added or removed.

    Lines that both texts have once are matched, in the longest common order (patience): time n log n.
    """
    a, b = old.split("\n"), new.split("\n")
    diff: list[DiffLineBody] = []
    i = j = 0
    for line_a, line_b in [*_anchors(a, b), (len(a), len(b))]:
        diff += _between(a[i:line_a], b[j:line_b])
        if line_a < len(a):
            diff.append(DiffLineBody("same", a[line_a]))
        i, j = line_a + 1, line_b + 1
    return diff


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    once_a, once_b = Counter(a), Counter(b)
    index_in_b = {line: at for at, line in enumerate(b) if once_b[line] == 1}
    pairs = [(at, index_in_b[line]) for at, line in enumerate(a) if once_a[line] == 1 and line in index_in_b]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        length = bisect_left(ends, at)
        ends[length : length + 1] = [at]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    anchors: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        anchors.append(pairs[number])
        number = before[number]
    return anchors[::-1]


def _between(a: Sequence[str], b: Sequence[str]) -> list[DiffLineBody]:
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return [
        *(DiffLineBody("same", line) for line in a[:start]),
        *(DiffLineBody("removed", line) for line in a[start : len(a) - end]),
        *(DiffLineBody("added", line) for line in b[start : len(b) - end]),
        *(DiffLineBody("same", line) for line in a[len(a) - end :]),
    ]
