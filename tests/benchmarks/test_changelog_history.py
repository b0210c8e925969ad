"""The generated history for the comparison of changelog writers: deterministic and realistic."""

import subprocess
from collections import Counter
from pathlib import Path

from benchmarks.changelog.command import changelog
from benchmarks.changelog.history import brief_of, history, raw_commits, releases_of
from benchmarks.changelog.repository import write_repository

from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.events.normalized import Push, Release


def test_a_seed_makes_one_history_and_another_seed_another_one() -> None:
    assert history(pushes=40, seed=7) == history(pushes=40, seed=7)
    assert history(pushes=40, seed=7) != history(pushes=40, seed=8)


def test_it_has_conventional_and_plain_commits_and_releases() -> None:
    pushes = history(pushes=400, seed=1)
    messages = [commit.message for created in pushes for commit in created.commits]
    kinds = Counter(message.partition(":")[0].partition("(")[0] for message in messages if message[0].islower())

    assert len(pushes) == 400
    assert [created.tag for created in pushes if created.tag] == [f"v1.{number}.0" for number in range(1, 9)]
    assert {"feat", "fix", "docs", "chore", "refactor", "test"} <= set(kinds)
    assert 20 < sum(message[0].isupper() for message in messages) < len(messages) / 2
    assert any("BREAKING CHANGE: " in message for message in messages)
    assert len({commit.id for created in pushes for commit in created.commits}) == len(messages)
    times = [commit.at for created in pushes for commit in created.commits]
    assert times == sorted(times)


def test_both_sides_are_given_the_same_commits() -> None:
    pushes = history(pushes=120, seed=3)
    messages = [commit.message for created in pushes for commit in created.commits]
    stretches = raw_commits(pushes)

    events = brief_of(pushes).chapters[0].events
    assert [commit.message for event in events if isinstance(event, Push) for commit in event.commits] == messages
    assert [event.tag_name for event in events if isinstance(event, Release)] == ["v1.1.0", "v1.2.0"]
    # As in a log, newest first.
    assert [commit["message"] for stretch in stretches for commit in stretch] == messages[::-1]
    assert [stretch[0]["tag"] for stretch in stretches] == [None, "v1.2.0", "v1.1.0"]


def test_every_commit_is_in_the_brief_of_exactly_one_release() -> None:
    pushes = history(pushes=120, seed=3)
    briefs = releases_of(pushes)

    commits = [
        commit.id for brief in briefs for event in brief.events if isinstance(event, Push) for commit in event.commits
    ]
    assert commits == [commit.id for created in pushes for commit in created.commits]
    assert [brief.release and brief.release.tag_name for brief in briefs] == ["v1.1.0", "v1.2.0", None]
    assert [brief.previous_tag for brief in briefs] == [None, "v1.1.0", None]


def test_the_repository_holds_the_history_and_the_command_equals_the_call(tmp_path: Path) -> None:
    pushes = history(pushes=60, seed=5)

    write_repository(pushes, tmp_path)

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    messages = [commit.message for created in pushes for commit in created.commits]
    stored = git("log", "--reverse", "--format=%B%x00", "main").split("\0")
    assert [message.strip() for message in stored if message.strip()] == messages
    assert git("tag").split() == ["v1.1.0"]
    page = changelog(tmp_path)
    draft = write_changelog(brief_of(pushes))
    assert draft is not None
    # The commits have other hashes there; nothing else differs.
    assert page.count("\n- ") == draft.markdown.count("\n- ") > 30
    assert "## [v1.1.0]" in page
