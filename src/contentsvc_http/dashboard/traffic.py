from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Self, final
from zoneinfo import ZoneInfo

from attrs import frozen

from contentsvc_core.organizations import Organization
from contentsvc_core.read_model import LogCount
from contentsvc_http.dashboard.charts import Columns, columns, last_days, share, span_of
from contentsvc_http.dashboard.context import Dashboard

DAYS: Final = 14


@final
@frozen(kw_only=True)
class Traffic:
    chart: Columns

    @classmethod
    def of(cls, counts: Sequence[LogCount], days: Sequence[datetime], zone: ZoneInfo) -> Self:
        return cls(chart=columns(counts, days, zone, label="%d %b"))

    @property
    def number(self) -> int:
        return sum(self.chart.totals.values())

    @property
    def failed(self) -> int:
        return self.chart.totals["failed"]

    @property
    def succeeded(self) -> str:
        success = self.chart.totals["success"]
        return share(success, success + self.failed)


async def traffic(dashboard: Dashboard, organization: Organization) -> Mapping[str, Traffic]:
    zone, days = organization.time_zone, _days(dashboard, organization)
    counts: dict[str, list[LogCount]] = {}
    for count in await dashboard.app.stores.read_model.log_counts(organization.id, since=days[0], span=span_of(zone)):
        counts.setdefault(count.integration_id, []).append(count)
    return {integration_id: Traffic.of(own_counts, days, zone) for integration_id, own_counts in counts.items()}


def no_traffic(dashboard: Dashboard, organization: Organization) -> Traffic:
    return Traffic.of((), _days(dashboard, organization), organization.time_zone)


def _days(dashboard: Dashboard, organization: Organization) -> list[datetime]:
    return last_days(dashboard.app.clock.now(), DAYS, organization.time_zone)
