"""Retries of messages, and the verdicts about answers."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import existing

from contentsvc_core.outgoing.retries import (
    DELAYS,
    MAX_ATTEMPTS,
    MAX_RETRY_AFTER,
    Answer,
    AttemptResult,
    NotSent,
    fault_text,
    next_attempt_at,
    verdict,
)
from contentsvc_core.testing import START

FAILED = Answer(status=500)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, AttemptResult.DELIVERED) for status in (200, 204, 299)),
        *((status, AttemptResult.RETRY) for status in (199, 301, 302, 400, 401, 404, 429, 500, 503)),
        (410, AttemptResult.GONE),
    ],
)
def test_only_2xx_succeeds_and_410_ends_the_endpoint(status: int, expected: AttemptResult) -> None:
    assert verdict(Answer(status=status)) is expected


def test_an_unanswered_attempt_is_retried() -> None:
    assert verdict(NotSent(error="no answer")) is AttemptResult.RETRY
    assert fault_text(NotSent(error="no answer")) == "no answer"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (302, "the endpoint answered with status 302: redirects are not followed"),
        (410, "the endpoint answered with status 410: it is gone, and was switched off"),
        (404, "the endpoint answered with status 404"),
    ],
)
def test_the_fault_of_an_attempt_names_the_answer(status: int, message: str) -> None:
    assert fault_text(Answer(status=status)) == message


@given(st.uuids(), st.integers(1, MAX_ATTEMPTS - 1))
def test_a_pause_is_the_schedule_s_and_at_most_a_fifth_more(key: object, attempts: int) -> None:
    again = existing(next_attempt_at(f"msg_{key}", attempts, FAILED, START))

    assert DELAYS[attempts - 1] <= again - START <= DELAYS[attempts - 1] * 1.2
    # The same result for each call.
    assert next_attempt_at(f"msg_{key}", attempts, FAILED, START) == again


def test_all_attempts_span_more_than_a_day_and_are_bounded() -> None:
    assert sum(DELAYS, timedelta()) >= timedelta(hours=24)
    assert MAX_ATTEMPTS == 8
    assert next_attempt_at("msg_1", MAX_ATTEMPTS, FAILED, START) is None


def test_messages_that_failed_together_are_retried_at_different_times() -> None:
    ends = {next_attempt_at(f"msg_{number}", 4, FAILED, START) for number in range(100)}

    assert len(ends) == 100


@pytest.mark.parametrize(
    ("status", "asked", "expected"),
    [
        (429, "600", timedelta(seconds=600)),
        (503, "600", timedelta(seconds=600)),
        (503, " 600 ", timedelta(seconds=600)),
        (503, "Thu, 01 Jan 2026 02:00:00 GMT", timedelta(hours=2)),
        # At most this long, for any Retry-After.
        (429, "999999999", MAX_RETRY_AFTER),
        (429, "Fri, 01 Jan 2027 00:00:00 GMT", MAX_RETRY_AFTER),
    ],
)
def test_a_longer_retry_after_is_honoured_within_bounds(status: int, asked: str, expected: timedelta) -> None:
    assert next_attempt_at("msg_1", 1, Answer(status=status, retry_after=asked), START) == START + expected


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        # A Retry-After before the scheduled retry has no effect.
        (429, "0"),
        (429, "1"),
        (429, "-600"),
        (429, "9" * 40),
        (429, "soon"),
        (429, ""),
        (503, "Mon, 01 Dec 2025 00:00:00 GMT"),
        (503, "Thursday, 01-Jan-26 02:00:00 GMT"),
        # Only these two statuses have a Retry-After.
        (500, "600"),
        (404, "600"),
    ],
)
def test_an_invalid_retry_after_is_ignored(status: int, asked: str) -> None:
    plain = next_attempt_at("msg_1", 1, FAILED, START)

    assert next_attempt_at("msg_1", 1, Answer(status=status, retry_after=asked), START) == plain
