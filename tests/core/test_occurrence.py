"""The time of a run's events, by the dates of the code host."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from tests.builders import a_release

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.events.normalized import Author, Commit, Event, Push
from contentsvc_core.testing import START
from contentsvc_core.workflows.causes import Delivered, Generation, occurred_at

RELEASE = a_release()


def delivered(event: Event) -> Delivered:
    return Delivered(
        trigger_id="trg_1",
        provider="codehost",
        repository_id=1,
        repository="acme/lighthouse",
        delivery_id="d-1",
        event=event,
    )


def push(*timestamps: str) -> Push:
    author = Author(name="Ada", email="")
    commits = tuple(Commit(id="1", message="m", author=author, timestamp=each, url="") for each in timestamps)
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=None)


@pytest.mark.parametrize(
    ("published_at", "expected"),
    [
        ("2025-06-01T12:00:00Z", datetime(2025, 6, 1, 12, tzinfo=UTC)),
        ("2025-06-01T12:00:00.123456+02:00", datetime(2025, 6, 1, 10, 0, 0, 123_000, tzinfo=UTC)),
        ("2025-06-01 12:00:00 UTC", datetime(2025, 6, 1, 12, tzinfo=UTC)),
        ("2025-06-01T12:00:00", datetime(2025, 6, 1, 12, tzinfo=UTC)),
        ("2026-01-01T00:00:00Z", START),
        ("1990-01-01T00:00:00Z", datetime(1990, 1, 1, tzinfo=UTC)),
        # Dates in the future, dates of a clock that was never set, and missing dates.
        ("2026-01-01T00:00:00.001Z", START),
        ("1989-12-31T23:59:59Z", START),
        ("1970-01-01T00:00:00Z", START),
        ("0001-01-01T00:00:00+02:00", START),
        ("9999-12-31T23:59:59-02:00", START),
        ("yesterday", START),
        ("", START),
        (None, START),
    ],
)
def test_a_release_happened_when_it_was_published(published_at: str | None, expected: datetime) -> None:
    assert occurred_at(delivered(evolve(RELEASE, published_at=published_at)), START) == expected


@pytest.mark.parametrize(
    ("timestamps", "expected"),
    [
        # In any order, in the authors' own time zones.
        (["2025-06-03T00:00:00Z", "2025-06-04T01:00:00+02:00", "x"], datetime(2025, 6, 3, 23, tzinfo=UTC)),
        (["2025-06-03T00:00:00Z", "2026-06-01T00:00:00Z"], START),
        (["x", ""], START),
        ([], START),
    ],
)
def test_a_push_happened_when_its_newest_commit_was_made(timestamps: list[str], expected: datetime) -> None:
    assert occurred_at(delivered(push(*timestamps)), START) == expected


@pytest.mark.parametrize(
    ("until", "expected"), [(START, START - timedelta(milliseconds=1)), (START + timedelta(seconds=1), START)]
)
def test_a_window_happened_when_it_ended(until: datetime, expected: datetime) -> None:
    request = Generation(
        job_id="job_1",
        content_type=ContentType.CHANGELOG,
        lookback=Lookback.YESTERDAY,
        window=LookbackWindow(since=until - timedelta(days=1), until=until),
        sources=[],
    )

    assert occurred_at(request, START) == expected
