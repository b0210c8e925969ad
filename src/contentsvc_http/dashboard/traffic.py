"""The deliveries of each integration in the last days."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Self, final

from attrs import frozen

from contentsvc_core.insights import LogCount, stretch_at
from contentsvc_http.dashboard.charts import Columns, columns, share
from contentsvc_http.dashboard.context import Dashboard

#: The shown days.
DAYS: Final = 14
_DAY: Final = timedelta(days=1)


@final
@frozen(kw_only=True)
class Traffic:
    """The deliveries of an integration in the shown days."""

    chart: Columns

    @classmethod
    def of(cls, counts: Sequence[LogCount], since: datetime) -> Self:
        """Return the traffic of one or several integrations."""
        return cls(chart=columns(counts, since=since, span=_DAY, number=DAYS, label="%d %b"))

    @property
    def number(self) -> int:
        return sum(self.chart.totals.values())

    @property
    def failed(self) -> int:
        return self.chart.totals["failed"]

    @property
    def succeeded(self) -> str:
        """Return the share of successful entries among the ended ones, as text."""
        success = self.chart.totals["success"]
        return share(success, success + self.failed)


async def traffic(dashboard: Dashboard, organization_id: str) -> Mapping[str, Traffic]:
    """Return the traffic by integration; integrations without entries are missing."""
    since = _first_day(dashboard)
    counts: dict[str, list[LogCount]] = {}
    for count in await dashboard.app.stores.insights.log_counts(organization_id, since=since, span=_DAY):
        counts.setdefault(count.integration_id, []).append(count)
    return {integration_id: Traffic.of(each, since) for integration_id, each in counts.items()}


def no_traffic(dashboard: Dashboard) -> Traffic:
    return Traffic.of((), _first_day(dashboard))


def _first_day(dashboard: Dashboard) -> datetime:
    """Return the beginning of the first day."""
    return stretch_at(dashboard.app.clock.now(), _DAY) - (DAYS - 1) * _DAY
