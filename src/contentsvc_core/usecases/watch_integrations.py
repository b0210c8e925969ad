from collections.abc import Callable
from typing import Any, Final, final

from attrs import define, field

from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.organizations import Integration
from contentsvc_core.outgoing.events import EventType, state_changed
from contentsvc_core.outgoing.failing import CONSIDERED, IntegrationAlert, failure_of, has_recovered
from contentsvc_core.ports import Alerts, Clock, Directory, ReadModel
from contentsvc_core.read_model import LogSearch
from contentsvc_core.timestamps import iso_ms, whole_ms
from contentsvc_core.webhooks.diagnosis import IntegrationFacts, diagnose

#: Entries that are read of an integration: its log also has calls to its code host.
_READ: Final = 2 * CONSIDERED


@final
@define(eq=False, repr=False)
class IntegrationWatch:
    """Compares the log with the failure periods; safe to call from any number of processes.

    ``on_fault`` is called with the fault of an organization, and the other organizations are watched.
    """

    _alerts: Alerts
    _directory: Directory
    _read_model: ReadModel
    _clock: Clock
    _on_fault: Callable[[Exception], object] = field(kw_only=True, alias="on_fault")
    #: The newest entry of each integration at the last turn: without a newer entry, nothing has changed.
    _newest_ids: dict[str, str] = field(init=False, factory=dict[str, str])

    async def turn(self) -> int:
        changed = 0
        newest_ids: dict[str, str] = {}
        for organization_id in await self._alerts.watched():
            try:
                changed += await self._watch(organization_id, newest_ids)
            except StoreUnavailable:
                raise
            except Exception as exc:  # noqa: BLE001  # an unreadable row must not stop the alerts of others
                self._on_fault(exc)
        self._newest_ids = newest_ids
        return changed

    async def _watch(self, organization_id: str, newest_ids: dict[str, str]) -> int:
        changed = 0
        newest = await self._read_model.newest_entries(organization_id)
        alerts = await self._alerts.alerts(organization_id)
        for integration in await self._directory.integrations(organization_id):
            entry = newest.get(integration.id)
            if entry is None or not integration.enabled:
                continue
            if self._newest_ids.get(integration.id) != entry.id:
                changed += await self._judge(integration, alerts.get(integration.id))
            newest_ids[integration.id] = entry.id
        return changed

    async def _judge(self, integration: Integration, alert: IntegrationAlert | None) -> bool:
        owner, now = integration.organization_id, whole_ms(self._clock.now())
        entries = await self._read_model.log(owner, LogSearch(integration_ids=(integration.id,)), limit=_READ)
        if alert is not None and alert.recovered_at is None:
            if not has_recovered(entries, now=now, since=alert.failing_since):
                return False
            data = _of(integration) | {"failingSince": iso_ms(alert.failing_since), "recoveredAt": iso_ms(now)}
            event = state_changed(EventType.INTEGRATION_RECOVERED, owner, integration.id, data, now)
            return await self._alerts.end(integration.id, event, at=now)
        failure = failure_of(entries, now=now, after=None if alert is None else alert.recovered_at)
        if failure is None:
            return False
        newest = failure.newest
        diagnosis = diagnose(newest, IntegrationFacts())
        data = _of(integration) | {
            "failed": failure.failed,
            "of": failure.of,
            "cause": newest.error_message or newest.title if diagnosis is None else diagnosis.sentence,
            "remedy": "See the delivery." if diagnosis is None else diagnosis.advice,
            "logId": newest.id,
            "failingSince": iso_ms(now),
        }
        event = state_changed(EventType.INTEGRATION_FAILING, owner, integration.id, data, now)
        return await self._alerts.begin(integration.id, event, at=now)


def _of(integration: Integration) -> dict[str, Any]:
    names = [repository.full_name for repository in integration.repositories]
    return {"provider": integration.provider, "repositories": names}
