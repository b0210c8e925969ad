"""Event summaries: the line of an event in lists, small however large the event is."""

from typing import Final, Self, assert_never, final

import msgspec

from contentsvc_core.events.normalized import Event, Push, Release
from contentsvc_core.text import one_line
from contentsvc_core.values import Value

#: In characters: a list shows 90 of each line, and a stored summary stays below 2 KiB.
_REF_LENGTH: Final = 100
_TITLE_LENGTH: Final = 200


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    ref: str
    title: str
    commits: int


@final
class EventSummary(Value, frozen=True, kw_only=True):
    """The line of an event in a list."""

    type: str
    #: The branch of a push or the tag of a release; empty: unknown, as for a large event of an older version.
    ref: str = ""
    #: First line of the newest commit, or the release's name; empty without both.
    title: str = ""
    commits: int = 0

    @classmethod
    def of(cls, event: Event) -> Self:
        ref, title, commits = _parts(event)
        return cls(type=event.type, ref=ref, title=title, commits=commits)

    @property
    def about(self) -> str:
        """Return one line for people; empty if only the type is known."""
        if not self.ref:
            return ""
        if self.type == Release.type:
            name = self.title or self.ref
            return name if self.ref in name else f"{self.ref}: {name}"
        more = f" and {self.commits - 1} more" if self.commits > 1 else ""
        return f"{self.ref}: {self.title if self.commits else 'no commits'}{more}"


def summary_to_json(event: Event) -> str:
    return msgspec.json.encode(_parts(event)).decode()


def summary_from_json(kind: str, text: str | bytes) -> EventSummary:
    stored = msgspec.json.decode(text, type=_Stored)
    return EventSummary(type=kind, ref=stored.ref, title=stored.title, commits=stored.commits)


def _parts(event: Event) -> tuple[str, str, int]:
    match event:
        case Push(commits=commits):
            # Sliced first: a message may have 25 MB without a line break.
            newest = commits[-1].message[: 8 * _TITLE_LENGTH] if commits else ""
            ref, title, number = event.branch, newest.partition("\n")[0], len(commits)
        case Release():
            ref, title, number = event.tag_name, event.name or "", 0
        case _:
            assert_never(event)
    return one_line(ref, _REF_LENGTH), one_line(title, _TITLE_LENGTH), number
