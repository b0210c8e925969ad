"""Failure periods of integrations: their beginnings and ends."""

from datetime import datetime, timedelta

import pytest
from tests.builders import an_entry

from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.outgoing.failing import CONSIDERED, WINDOW, failure_of, has_recovered
from contentsvc_core.testing import START
from contentsvc_core.webhooks.outcomes import Fault

_MINUTE = timedelta(minutes=1)


def entries(outcomes: str) -> list[LogEntry]:
    """Return entries, newest first: ``x`` failed, ``.`` was accepted, ``-`` is a call to the host, ``?`` undecided."""
    number = len(outcomes)
    return [entry(each, START - i * _MINUTE, str(number - i)) for i, each in enumerate(outcomes)]


def entry(outcome: str, at: datetime, id_: str) -> LogEntry:
    failed = outcome == "x"
    return an_entry(
        at,
        id=f"log_{id_}",
        title=str(Fault.INVALID_SIGNATURE.log_title) if failed else "Processed push event",
        direction=Direction.OUTGOING if outcome == "-" else Direction.INCOMING,
        status={"x": LogStatus.FAILED, "?": LogStatus.PENDING}.get(outcome, LogStatus.SUCCESS),
        status_code=401 if failed else 200,
        error_message="Invalid webhook signature" if failed else None,
    )


@pytest.mark.parametrize(
    ("outcomes", "failed", "of"),
    [
        ("", None, None),
        ("xxxx", None, None),
        ("xxxxx", 5, 5),
        ("xxxxxxx.", 7, 7),
        (".xxxxx", None, None),
        ("xx--x-xx", 5, 5),
        ("x?x?xxx", 5, 5),
        ("x." * 10, 10, 20),
        ("x." * 9 + "..", None, None),
        ("x." * 9 + "x", None, None),
    ],
)
def test_five_in_a_row_or_half_of_twenty(outcomes: str, failed: int | None, of: int | None) -> None:
    found = failure_of(entries(outcomes), now=START, after=None)

    assert (failed, of) == (None, None) if found is None else (found.failed, found.of) == (failed, of)


def test_old_and_reported_failures_do_not_count() -> None:
    failed = entries("xxxxx")

    assert timedelta(days=7) == WINDOW
    assert failure_of(failed, now=START + WINDOW - 5 * _MINUTE, after=None) is not None
    assert failure_of(failed, now=START + WINDOW, after=None) is None
    assert failure_of(failed, now=START, after=START - 5 * _MINUTE) is not None
    assert failure_of(failed, now=START, after=START - 4 * _MINUTE) is None


@pytest.mark.parametrize(
    ("outcomes", "recovered"), [("...", True), ("..x.", False), ("..", False), (".-..xxxxx", True), ("x...", False)]
)
def test_three_accepted_deliveries_end_a_period(outcomes: str, *, recovered: bool) -> None:
    since = START - timedelta(hours=1)

    assert has_recovered(entries(outcomes), now=START, since=since) is recovered
    # Deliveries from before the period do not count.
    assert not has_recovered(entries(outcomes), now=START, since=START)


def test_alternating_outcomes_start_a_failure_and_do_not_end_it() -> None:
    both = entries("x." * (CONSIDERED // 2))

    assert failure_of(both, now=START, after=None) is not None
    assert not has_recovered(both, now=START, since=START - timedelta(hours=1))
