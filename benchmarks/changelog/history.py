"""A history generated from a seed: pushes of conventional and plain commits, and releases."""

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit, Event, Push, Release

REPOSITORY: Final = "acme/lighthouse"
PAGE: Final = f"https://github.com/{REPOSITORY}"
#: The number of pushes before each release.
PUSHES_IN_RELEASE: Final = 50
#: The file that every commit changes.
FILE: Final = "lamp.txt"
_BEGIN: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
_PEOPLE: Final = (("Ada Keeper", "ada"), ("Grace Lamp", "grace"), ("Alan Tower", "alan"), ("Mary Fog", "mary"))
#: The frequency of each kind of subject; "" means a subject without a convention.
_KINDS: Final = {"feat": 14, "fix": 22, "perf": 3, "docs": 9, "chore": 14, "test": 8, "ci": 6, "refactor": 9, "": 15}
_SCOPES: Final = ("lamp", "lens", "clock", "radio", "api", "deps")
_VERBS: Final = ("add", "repair", "turn", "measure", "show", "keep", "remove", "allow", "refuse", "count")
_NOUNS: Final = ("the beam", "signals", "a second lens", "fog reports", "the tide table", "old charts", "pilot calls")
#: Enough words that two subjects are not equal by chance: a writer may join equal ones into one line.
_PIERS: Final = 500
_ENDS: Final = ("at night", "when the sea is calm", "by default", "on every turn", "for each tower", "without delay")
_BODY: Final = "The keeper asked for it after the storm.\nIt is what the chart has said all along."


@final
@frozen(kw_only=True)
class Made:
    """A commit."""

    message: str
    name: str
    login: str
    at: datetime

    @property
    def id(self) -> str:
        """Return a hash; in a repository the commit has another one."""
        return hashlib.sha256(f"{self.at.isoformat()} {self.message}".encode()).hexdigest()[:40]


@final
@frozen(kw_only=True)
class MadePush:
    """Commits of one push, and the tag of their release."""

    commits: tuple[Made, ...] = field(converter=tuple)
    tag: str | None


def history(*, pushes: int, seed: int) -> tuple[MadePush, ...]:
    """Create the history of a seed, oldest push first."""
    source = random.Random(seed)  # noqa: S311  # a history, no secret
    at = _BEGIN
    made_pushes: list[MadePush] = []
    for number in range(1, pushes + 1):
        commits: list[Made] = []
        for _ in range(source.choice((1, 1, 1, 2, 2, 3, 5))):
            at += timedelta(minutes=source.randint(3, 300))
            name, login = source.choice(_PEOPLE)
            commits.append(Made(message=_message(source), name=name, login=login, at=at))
        release, rest = divmod(number, PUSHES_IN_RELEASE)
        made_pushes.append(MadePush(commits=commits, tag=None if rest else f"v1.{release}.0"))
    return tuple(made_pushes)


def _message(source: random.Random) -> str:
    [kind] = source.choices(list(_KINDS), weights=list(_KINDS.values()))
    subject = (
        f"{source.choice(_VERBS)} {source.choice(_NOUNS)} of pier {source.randint(1, _PIERS)} {source.choice(_ENDS)}"
    )
    if not kind:
        subject = subject.capitalize()
    else:
        scope = f"({source.choice(_SCOPES)})" if source.random() < 0.6 else ""  # noqa: PLR2004  # the usual share
        mark = "!" if source.random() < 0.02 else ""  # noqa: PLR2004  # as above
        subject = f"{kind}{scope}{mark}: {subject}"
    if source.random() < 0.4:  # noqa: PLR2004  # as above
        subject += f" (#{source.randint(1, 4000)})"
    parts = [subject]
    if source.random() < 0.3:  # noqa: PLR2004  # as above
        parts.append(_BODY)
    if source.random() < 0.02:  # noqa: PLR2004  # as above
        parts.append("BREAKING CHANGE: the old lamp is no longer turned")
    elif source.random() < 0.2:  # noqa: PLR2004  # as above
        parts.append(f"Closes #{source.randint(1, 4000)}")
    return "\n\n".join(parts)


def brief_of(pushes: Sequence[MadePush]) -> Brief:
    """Return the brief of a history: the events that the service stores for it."""
    events: list[Event] = []
    for push in pushes:
        events.append(_push(push))
        if push.tag is not None:
            events.append(_release(push.tag, push.commits[-1].at))
    return Brief(chapters=(Chapter(repository=REPOSITORY, events=tuple(events)),))


def releases_of(made_pushes: Sequence[MadePush]) -> list[Brief]:
    """Return the same history as one brief for each release, and one for unreleased changes; nothing is cut."""
    briefs: list[Brief] = []
    pushes: list[Event] = []
    previous: str | None = None
    for push in made_pushes:
        pushes.append(_push(push))
        if push.tag is not None:
            chapter = Chapter(repository=REPOSITORY, events=tuple(pushes))
            release = _release(push.tag, push.commits[-1].at)
            briefs.append(Brief(chapters=(chapter,), release=release, previous_tag=previous))
            previous, pushes = push.tag, []
    if pushes:
        briefs.append(Brief(chapters=(Chapter(repository=REPOSITORY, events=tuple(pushes)),)))
    return briefs


def raw_commits(pushes: Sequence[MadePush]) -> list[list[dict[str, Any]]]:
    """Return the same commits as a repository's log has them: release by release, newest first."""
    stretches: list[list[dict[str, Any]]] = [[]]
    for push in pushes:
        for commit in push.commits:
            tag = push.tag if commit is push.commits[-1] else None
            entry = {"message": commit.message, "hash": commit.id, "tag": tag, "date": commit.at.isoformat(" ")}
            stretches[-1].insert(0, entry)
        if push.tag is not None:
            stretches.append([])
    return list(reversed(stretches))


def _push(push: MadePush) -> Push:
    commits = tuple(
        Commit(
            id=commit.id,
            message=commit.message,
            author=Author(name=commit.name, email=f"{commit.login}@mail.example", username=commit.login),
            timestamp=commit.at.isoformat(),
            url=f"{PAGE}/commit/{commit.id}",
            modified=(FILE,),
        )
        for commit in push.commits
    )
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=None)


def _release(tag: str, at: datetime) -> Release:
    return Release(
        action="published",
        tag_name=tag,
        name=tag,
        body=None,
        prerelease=False,
        draft=False,
        published_at=at.isoformat(),
        url=f"{PAGE}/releases/tag/{tag}",
    )
