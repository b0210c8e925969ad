"""The rule that decides whether the deliveries of an integration fail: pure, over entries of the log."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, final

from attrs import frozen

from contentsvc_core.journal import Direction, LogLine, LogStatus

#: Older deliveries say nothing about the present state. A repository may have few deliveries a week.
WINDOW: Final = timedelta(days=7)
#: An alert is sent after this many failures in a row: a few forged deliveries must not send one.
IN_A_ROW: Final = 5
#: An integration with several webhooks also fails if half of this many deliveries failed, in any order.
CONSIDERED: Final = 20
#: A failure period ends after this many accepted deliveries in a row.
RECOVERED_AFTER: Final = 3


@final
@frozen(kw_only=True)
class IntegrationAlert:
    failing_since: datetime
    recovered_at: datetime | None = None


@final
@frozen(kw_only=True)
class Failure:
    failed: int
    of: int
    newest: LogLine


def failure_of(entries: Sequence[LogLine], *, now: datetime, after: datetime | None) -> Failure | None:
    """Return the failure of an integration by its newest entries, newest first, that are later than ``after``."""
    deliveries = _deliveries(entries, now, after)
    failed = [each for each in deliveries if each.status is LogStatus.FAILED]
    newest_in_a_row = next(
        (i for i, each in enumerate(deliveries) if each.status is not LogStatus.FAILED), len(deliveries)
    )
    if newest_in_a_row >= IN_A_ROW:
        return Failure(failed=newest_in_a_row, of=newest_in_a_row, newest=deliveries[0])
    if len(deliveries) == CONSIDERED and len(failed) * 2 >= CONSIDERED:
        return Failure(failed=len(failed), of=CONSIDERED, newest=failed[0])
    return None


def has_recovered(entries: Sequence[LogLine], *, now: datetime, since: datetime) -> bool:
    newest = _deliveries(entries, now, since)[:RECOVERED_AFTER]
    return len(newest) == RECOVERED_AFTER and all(each.status is LogStatus.SUCCESS for each in newest)


def _deliveries(entries: Sequence[LogLine], now: datetime, after: datetime | None) -> list[LogLine]:
    begin = now - WINDOW if after is None else max(after, now - WINDOW)
    deliveries = [
        entry
        for entry in entries
        if entry.direction is Direction.INCOMING and entry.status is not LogStatus.PENDING and entry.created_at > begin
    ]
    return deliveries[:CONSIDERED]
