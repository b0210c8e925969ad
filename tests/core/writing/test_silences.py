"""Reasons for silence: each reason names the event."""

from typing import Final

import pytest
from attrs import evolve
from writing_samples import brand, brief, commit, push, release

from contentsvc_core.content.forms import write_content
from contentsvc_core.content.forms.choice import silence
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Draft, Silence

_BUMPS: Final = [f"chore(deps): bump cup from {n} to {n + 1}" for n in range(3)]
_HIDES: Final = ChangelogOptions(hidden=frozenset({"lid"}))


@pytest.mark.parametrize(
    ("messages", "counted"),
    [
        ([*_BUMPS, "test: drip twice"], "3 dependency updates and 1 change to tests"),
        (
            ["docs: spell it", "ci: twice", "ci: thrice"],
            "1 change to the documentation and 2 changes to build and tools",
        ),
        (["refactor: one spring"], "1 internal change"),
        (["chore(release): 1.2.3"], "1 commit that only makes a release"),
        (["feat: ring", 'Revert "feat: ring"'], "2 commits without an entry"),
        (
            ["docs: spell it", "feat(lid): ring"],
            "1 change to the documentation and 1 change that the house style hides",
        ),
    ],
)
def test_a_reason_counts_what_came(messages: list[str], counted: str) -> None:
    given = brief(ContentType.CHANGELOG, push(*messages), options=_HIDES)
    assert write_content(given) == Silence(reason=f"{counted}: nothing a reader notices")


def test_files_say_what_an_internal_change_is_about() -> None:
    tests = evolve(commit("Drip twice"), modified=("tests/test_drip.py",))
    tools = evolve(commit("Drip thrice"), modified=(".github/workflows/drip.yml",))
    assert write_content(brief(ContentType.CHANGELOG, push(tests, tools))) == Silence(
        reason="1 change to tests and 1 change to build and tools: nothing a reader notices"
    )


def test_without_commits_the_reason_says_so() -> None:
    assert write_content(brief(ContentType.CHANGELOG, push())) == Silence(reason="nothing to report: no new commits")
    assert write_content(brief(ContentType.BLOG_POST, release=release())) == Silence(
        reason="nothing to report: no commits, and no release notes"
    )


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        (ContentType.BLOG_POST, "a blog post"),
        (ContentType.LINKEDIN_POST, "a LinkedIn post"),
        (ContentType.TWITTER_POST, "a post for X"),
    ],
)
def test_other_posts_name_their_readers_and_are_never_about_upkeep(content_type: ContentType, name: str) -> None:
    asked = ChangelogOptions(upkeep_posts="write")
    given = brief(content_type, push(*_BUMPS, "Twice"), options=asked, brand=brand(audience="our customers"))
    assert write_content(given) == Silence(
        reason=f"3 dependency updates and 1 change of no known kind: nothing a reader of {name} notices"
    )


def test_what_only_developers_notice_and_what_is_only_counted_is_named() -> None:
    inside = brief(ContentType.TWITTER_POST, push("fix: update yarn.lock"), brand=brand(audience="our customers"))
    assert write_content(inside) == Silence(
        reason="1 change that only developers notice: nothing a reader of a post for X notices"
    )
    fold = evolve(_HIDES, folded=frozenset({Section.FIXED}))
    assert write_content(brief(ContentType.CHANGELOG, push("fix: drip"), options=fold)) == Silence(
        reason="1 change that the house style only counts: nothing a reader notices"
    )


def test_a_change_that_only_names_an_issue_is_counted_as_such() -> None:
    for message in ("Fix #12", "fix: close #12"):
        assert write_content(brief(ContentType.CHANGELOG, push(message))) == Silence(
            reason="1 change that only names an issue: nothing a reader notices"
        )


def test_notes_of_upkeep_alone_are_counted() -> None:
    noted = brief(ContentType.BLOG_POST, release=release(body="## Internal\n\n- One spring\n- Two cups\n"))
    assert write_content(noted) == Silence(reason="2 internal changes: nothing a reader of a blog post notices")
    assert isinstance(write_content(evolve(noted, content_type=ContentType.CHANGELOG)), Draft)


def test_the_reason_is_known_before_anything_is_written() -> None:
    upkeep, news = (brief(ContentType.CHANGELOG, push(message)) for message in ("ci: twice", "feat: ring"))
    assert silence(upkeep) == "1 change to build and tools: nothing a reader notices"
    assert silence(evolve(upkeep, content_type=ContentType.BLOG_POST)) == (
        "1 change to build and tools: nothing a reader of a blog post notices"
    )
    assert silence(news) is silence(evolve(news, content_type=ContentType.TWITTER_POST)) is None
