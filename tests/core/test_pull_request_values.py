"""Pull requests as values: the ones that commits name, the kept part of a description, and the labels."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_release

from contentsvc_core.content.changelog.labels import SKIP, section_of_labels
from contentsvc_core.content.pull_requests import (
    BODY_LENGTH,
    NamedPullRequests,
    PullRequest,
    described_pull_request,
    named_pull_requests,
)
from contentsvc_core.content.sections import Section
from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push, Release
from contentsvc_core.strategies import events


def push(*messages: str, head: str | None = "a" * 40) -> Push:
    author = Author(name="Ada", email="ada@example.com")
    commits = tuple(Commit(id="c", message=each, author=author, timestamp="", url="") for each in messages)
    return Push(
        ref="refs/heads/main",
        branch="main",
        commits=commits,
        head_commit=None if head is None else HeadCommit(id=head, message=messages[-1] if messages else ""),
    )


RELEASE = a_release(body="(#77)")


@pytest.mark.parametrize(
    ("subject", "numbers"),
    [
        ("feat: a lamp (#12)", (12,)),
        ("fix: a lamp (#12) (#14)", (12, 14)),
        ("fix (#12): a lamp", (12,)),
        ("Merge pull request #12 from ada/lamp\n\nA lamp", (12,)),
        ("Merge pull request 'A lamp (old)' (#12) from ada/lamp into main", (12,)),
        ("Merge #12", (12,)),
        ("Auto merge of #12 - ada:lamp, r=bob", (12,)),
        ("fix: a lamp, closes #12", ()),
        ("fix: a lamp (fixes #12)", ()),
        ("fix: a lamp (acme/buoy#12)", ()),
        ("Revert #12", ()),
        ("feat: a lamp\n\nas in (#12)", ()),
        ("feat: a lamp (#0)", ()),
        ("feat: a lamp (#2147483647)", (2**31 - 1,)),
        ("feat: a lamp (#2147483648)", ()),
        ("feat: a lamp (#99999999999)", ()),
        ("feat: a lamp (#١٢)", ()),
        ("", ()),
    ],
)
def test_a_subject_names_pull_requests_as_hosts_write_them(subject: str, numbers: tuple[int, ...]) -> None:
    found = named_pull_requests([push(subject)])

    assert found == NamedPullRequests(numbers=numbers, commits=() if numbers else ("a" * 40,))


def test_the_newest_come_first_and_each_once() -> None:
    found = named_pull_requests(
        [
            push("one (#1)", "two (#2)", head="1" * 40),
            RELEASE,
            push("no number", head="2" * 40),
            push("no number", head="3" * 64),
            push("three (#3)", "one again (#1)"),
        ]
    )

    assert found == NamedPullRequests(numbers=(1, 3, 2), commits=("3" * 64, "2" * 40))
    assert len(found) == 5
    assert found.first(2) == NamedPullRequests(numbers=(1, 3))
    assert found.first(4) == NamedPullRequests(numbers=(1, 3, 2), commits=("3" * 64,))
    assert found.first(9) == found
    assert found.first(0) == NamedPullRequests()


@pytest.mark.parametrize("nothing", [push(head="a" * 40), push("x", head=None), push("x", head='"} evil'), RELEASE])
def test_events_without_numbers_name_no_pull_requests(nothing: Push | Release) -> None:
    assert not named_pull_requests([nothing])


@pytest.mark.slow("a short campaign over generated examples")
@given(st.lists(events(), max_size=3))
def test_any_delivery_names_pull_requests_by_valid_numbers_and_hashes(delivered: list[Push | Release]) -> None:
    found = named_pull_requests(delivered)

    assert all(0 < number < 2**31 for number in found.numbers)
    assert all(commit.isalnum() and commit.isascii() for commit in found.commits)


@given(st.text(), st.none() | st.text(), st.lists(st.text()), st.none() | st.text(), st.none() | st.text())
def test_the_description_of_a_pull_request_is_bounded(
    title: str, body: str | None, labels: list[str], author: str | None, sha: str | None
) -> None:
    described = described_pull_request(12, title=title, body=body, labels=labels, author=author, merged_sha=sha)

    if described is not None:
        assert 0 < len(described.title) <= 256
        assert "\n" not in described.title
        assert len(described.body) <= BODY_LENGTH
        assert "\x00" not in described.body
        assert all(described.labels)
        assert described.merged_sha in {None, sha}


@pytest.mark.parametrize("number", [0, -1, 2**31])
def test_a_number_that_no_pull_request_has_describes_nothing(number: int) -> None:
    assert described_pull_request(number, title="x", body="", labels=(), author=None, merged_sha=None) is None


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (None, ""),
        ("  It shines.\r\n\r\nReally. ", "It shines.\n\nReally."),
        ("<!-- Describe --->It shines.<!-- a\nb -->", "It shines."),
        ("It shines.<!-- and the rest", "It shines."),
        ("<!-- <!-- -->It --> shines", "It --> shines"),
        ("x" * BODY_LENGTH, "x" * BODY_LENGTH),
        ("x" * (BODY_LENGTH - 2) + " yy", "x" * (BODY_LENGTH - 2) + "…"),
        ("x" * (BODY_LENGTH + 1), "x" * (BODY_LENGTH - 1) + "…"),
    ],
)
def test_a_body_is_kept_without_the_comments_of_its_template(body: str | None, kept: str) -> None:
    described = described_pull_request(1, title="x", body=body, labels=(), author="", merged_sha="no hash")

    assert described == PullRequest(number=1, title="x", body=kept)


#: Labels with the section that each of them chooses, in the spellings of several code hosts and projects.
_LABELS: Final[dict[object, tuple[str, ...]]] = {
    Section.BREAKING: (
        *("breaking", "breaking-change 💥", "BREAKING CHANGE", "semver:major", "Semver-Major", "type: breaking"),
        *("release-note-action-required",),
    ),
    Section.SECURITY: ("security", "Type: Security"),
    Section.ADDED: ("enhancement", "C-feature-request", "changelog: added", ":sparkles: new feature"),
    Section.CHANGED: ("kind/api-change", "T: improvement"),
    Section.DEPRECATED: ("deprecation",),
    Section.REMOVED: ("removed",),
    Section.FIXED: (
        *("bug", "type: bug", "type:bug", "Type/Bug", "type-bug", "kind/bug", "C-bug", "PR: Bug Fix :bug:", "🐛 bug"),
    ),
    Section.PERFORMANCE: ("perf",),
    Section.REVERTED: ("revert",),
    Section.DOCUMENTATION: ("documentation", "area/docs", "A-docs"),
    Section.DEPENDENCIES: ("area/dependency", "dependencies"),
    Section.INTERNAL: ("kind/failing-test", "pr/ci", "internal", "chore"),
    SKIP: (
        *("skip-changelog", "no-changelog", "changelog: skip", "release-note-none", "release-notes/none"),
        *("ignore-for-release", "no-changelog-entry-needed", "skip news"),
    ),
    None: (
        *("good first issue", "help wanted", "priority: major", "semver:minor", "area: security", "area/performance"),
        *("topic: breaking changes", "debug", "bugs are fun", "kind", "type:", "", "🎉"),
    ),
}


@pytest.mark.parametrize(("label", "section"), [(each, key) for key, labels in _LABELS.items() for each in labels])
def test_a_label_decides_the_kind_in_any_spelling(label: str, section: object) -> None:
    assert section_of_labels([label]) == section


@pytest.mark.parametrize(
    ("labels", "section"),
    [
        ((), None),
        (("size/XS", "lgtm", "kind/bug"), Section.FIXED),
        (("breaking", "skip-changelog"), SKIP),
        (("enhancement", "breaking-change"), Section.BREAKING),
        (("dependencies", "javascript", "security"), Section.SECURITY),
        (("bug", "documentation"), Section.DOCUMENTATION),
        (("kind/feature", "area/docs"), Section.ADDED),
        (("kind/cleanup", "area/docs"), Section.INTERNAL),
        (("chore", "bug"), Section.FIXED),
        (("tests", "improvement"), Section.CHANGED),
        (("improvement", "enhancement"), Section.ADDED),
        (("area/docs", "area/tests"), Section.DOCUMENTATION),
    ],
)
def test_of_several_labels_the_most_important_decides(labels: tuple[str, ...], section: object) -> None:
    assert section_of_labels(labels) == section
    assert section_of_labels(reversed(labels)) == section


@given(st.lists(st.text()))
def test_no_label_is_a_fault(labels: list[str]) -> None:
    section_of_labels(labels)
