"""The cost of many commits: their analysis is linear in their number, for any texts."""

import time
from collections.abc import Callable
from typing import Any, Final

from tests.builders import a_release

from contentsvc_core.content.changelog.select import Bump, Change, chained, reported_changes
from contentsvc_core.content.forms.news import news_of, pending
from contentsvc_core.content.options import DEFAULT_OPTIONS
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit, Push

#: The allowed growth of the cost of one commit among four times as many: 1 is linear, 4 is quadratic.
_GROWTH: Final = 2.5
#: The number of measurements, of which the least counts: other load only makes them larger.
_MEASURES: Final = 6


def grows_linearly(prepare: Callable[[int], Callable[[], Any]], number: int) -> bool:
    """Return whether the cost of each object stays the same with four times as many."""
    few, many = prepare(number), prepare(4 * number)
    few_s = many_s = float("inf")
    for _ in range(_MEASURES):
        few_s, many_s = min(few_s, _seconds(few)), min(many_s, _seconds(many))
        if many_s <= 4 * _GROWTH * few_s:
            return True
    return False


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _push(*messages: str) -> Push:
    author = Author(name="Ada", email="ada@acme.example", username="ada")
    commits = [
        Commit(id=f"{number:040x}", message=message, author=author, timestamp="", url="")
        for number, message in enumerate(messages)
    ]
    return Push(ref="refs/heads/main", branch="main", commits=tuple(commits), head_commit=None)


def test_a_chain_of_dependency_updates_is_joined_at_its_end() -> None:
    def prepare(number: int) -> Callable[[], tuple[Bump, ...]]:
        steps = [Bump(name="lamp", begin=str(step), end=str(step + 1)) for step in range(number)]
        assert chained(steps) == (Bump(name="lamp", begin="0", end=str(number)),)
        return lambda: chained(steps)

    assert grows_linearly(prepare, 3_000)


def test_merges_take_time_in_proportion_to_the_commits_of_a_push() -> None:
    def prepare(number: int) -> Callable[[], tuple[Change, ...]]:
        branches = [
            message
            for each in range(number)
            for message in (f"Turn lamp {each}", f"Merge pull request #{each} from ada/x\n\nAdd lamp {each}")
        ]
        push = _push(*branches)
        return lambda: reported_changes([push], DEFAULT_OPTIONS)

    assert grows_linearly(prepare, 100)


def test_distinguishing_changes_from_releases_of_another_repository_is_linear() -> None:
    def prepare(number: int) -> Callable[[], list[bool]]:
        push = _push(*(f"feat: lamp {each}" for each in range(number)))
        chapters = (
            Chapter(repository="acme/harbour", events=tuple(a_release(f"v{each}") for each in range(2 * number))),
            Chapter(repository="acme/lighthouse", events=(push,)),
        )
        news = news_of(Brief(chapters=chapters))
        assert not any(map(pending, news.items))
        return lambda: [pending(item) and news.several for item in news.items]

    assert grows_linearly(prepare, 150)


def test_a_change_after_the_last_release_of_its_repository_is_pending() -> None:
    events = (_push("feat: lamp"), a_release(f"v{1}"), _push("feat: lamp", "feat: door"))
    news = news_of(Brief(chapters=(Chapter(repository="acme/lighthouse", events=events),)))

    assert [(item.change.text, pending(item)) for item in news.items] == [("Lamp", False), ("Door", True)]
