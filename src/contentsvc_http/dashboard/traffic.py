"""What arrived through each integration in the last days."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Self, final

from attrs import frozen

from contentsvc_core.insights import LogCount, stretch_at
from contentsvc_http.dashboard.charts import Columns, columns, share
from contentsvc_http.dashboard.context import Dashboard

#: How far back is looked, in days.
DAYS: Final = 14
_DAY: Final = timedelta(days=1)


@final
@frozen(kw_only=True)
class Traffic:
    """What an integration's log has of the last days."""

    chart: Columns

    @classmethod
    def of(cls, counts: Sequence[LogCount], since: datetime) -> Self:
        """Put the counts of one integration, or of several, into columns."""
        return cls(chart=columns(counts, since=since, span=_DAY, number=DAYS, label="%d %b"))

    @property
    def number(self) -> int:
        """Give how many entries there are."""
        return sum(self.chart.totals.values())

    @property
    def failed(self) -> int:
        """Give how many of them failed."""
        return self.chart.totals["failed"]

    @property
    def succeeded(self) -> str:
        """Give which part of what has ended was a success, in words."""
        success = self.chart.totals["success"]
        return share(success, success + self.failed)


async def traffic(dashboard: Dashboard, organization_id: str) -> Mapping[str, Traffic]:
    """Count by integrations, by their ids; one through which nothing came is not there."""
    since = _first_day(dashboard)
    counts: dict[str, list[LogCount]] = {}
    for count in await dashboard.insights.log_counts(organization_id, since=since, span=_DAY):
        counts.setdefault(count.integration_id, []).append(count)
    return {integration_id: Traffic.of(each, since) for integration_id, each in counts.items()}


def no_traffic(dashboard: Dashboard) -> Traffic:
    """Give what there is where nothing came."""
    return Traffic.of((), _first_day(dashboard))


def _first_day(dashboard: Dashboard) -> datetime:
    """Give when the first of the days began."""
    return stretch_at(dashboard.clock.now(), _DAY) - (DAYS - 1) * _DAY
