from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, final

from attrs import evolve, frozen

from contentsvc_cli.operate.doctor.findings import Finding, Findings, FindingState, fault, ok, skipped, warning
from contentsvc_cli.operate.doctor.work import duration
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.journal import Direction, ListedEntry, LogOutcome, LogStatus
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.read_model import LogCount, LogSearch, stretch_at
from contentsvc_core.usecases.diagnoses import Diagnoses
from contentsvc_core.webhooks.diagnosis import CONSIDERED, Health, command_of, health_of
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.zones import zone_fault
from contentsvc_http.wiring.diagnostics import DatabaseInspector

_NAME: Final = "deliveries"
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
#: The maximum number of checked integrations: each takes a few short queries, and the check has seconds.
_LOOKED_AT: Final = 100
#: Maximum number of findings to print, worst first.
_SHOWN: Final = 20
#: Number of entries to read before an outgoing call, to find the last delivery.
_BEHIND: Final = 50
#: Warn if more than one delivery in this many is refused; anyone can send a forged one.
_SELDOM: Final = 10
_GRAVITY: Final = (FindingState.FAULT, FindingState.WARNING, FindingState.OK, FindingState.SKIPPED)

_NEVER: Final = (
    "look at the webhook's page at the code host (docs/repository.md, When nothing arrives); then request the missed "
    "deliveries: "
    "contentsvc integration reconcile {integration} --dry-run"
)
_NO_TRIGGER: Final = (
    "contentsvc trigger create --organization {organization} --repository-id {repository} --provider {provider}"
)
_UNREADABLE: Final = "run the version of contentsvc that stored it, or restore the row from a backup"

_UNKNOWN_ZONE: Final = (
    "update the package tzdata, or choose another time zone: "
    "contentsvc organization edit --organization {organization} --time-zone ZONE"
)


@final
@frozen(kw_only=True)
class ArrivedDeliveries:
    refused: int
    number: int

    @classmethod
    def of(cls, counts: Collection[LogCount], since: datetime) -> "ArrivedDeliveries":
        counted = [count for count in counts if count.starts_at >= since]
        return cls(
            refused=sum(count.number for count in counted if count.status is LogStatus.FAILED),
            number=sum(count.number for count in counted),
        )

    @property
    def is_mostly_refused(self) -> bool:
        return 0 < self.number <= 2 * self.refused

    @property
    def is_often_refused(self) -> bool:
        """Return whether more were refused than occasional forgeries explain."""
        return self.refused * _SELDOM > self.number


async def deliveries(database: DatabaseInspector, now: datetime | None = None) -> Findings:
    now = now or datetime.now(UTC)
    findings: list[Finding] = []
    remaining = _LOOKED_AT
    directory = database.stores.directory
    for id_ in await database.organization_ids():
        try:
            organization = await directory.organization_of(id_)
            if organization and (unknown := zone_fault(organization.time_zone, organization.slug)):
                findings.append(fault(_NAME, unknown, _UNKNOWN_ZONE.format(organization=organization.slug)))
            integrations = await directory.integrations(id_)
            if organization is not None and integrations and remaining:
                findings += await _of_organization(database, organization, integrations[:remaining], now)
        except UnreadableRow as exc:
            # An organization that cannot be read must not hide the others.
            findings.append(fault(_NAME, str(exc), _UNREADABLE))
            continue
        remaining -= min(remaining, len(integrations))
    if not findings:
        return [skipped(_NAME, "nothing is connected")]
    findings.sort(key=lambda finding: _GRAVITY.index(finding.state))
    if len(findings) > _SHOWN:
        rest = len(findings) - _SHOWN
        findings[_SHOWN:] = [ok(_NAME, f"{rest} more integrations are not shown")]
    return findings


async def _of_organization(
    database: DatabaseInspector, organization: Organization, integrations: Sequence[Integration], now: datetime
) -> list[Finding]:
    newest = await database.stores.read_model.newest_entries(organization.id)
    since = stretch_at(now - _DAY, _HOUR)
    counts = await database.stores.read_model.log_counts(organization.id, since=since, span=_HOUR)
    triggers = await database.stores.triggers.all_of(organization.id)
    schedules = await database.stores.schedules.all_of(organization.id)
    reported = {id_ for schedule in schedules if schedule.enabled for id_ in schedule.repository_ids}
    findings: list[Finding] = []
    for integration in integrations:
        own = [count for count in counts if count.integration_id == integration.id]
        one = _One(database, organization, integration, now)
        starts = {
            repository.id
            for repository in integration.repositories
            if repository.id in reported
            or any(
                trigger.enabled and trigger.watches(source_type(integration.provider), repository.id)
                for trigger in triggers
            )
        }
        findings.append(await one.finding(newest.get(integration.id), own, starts=bool(starts)))
    return findings


class _One:
    def __init__(
        self, database: DatabaseInspector, organization: Organization, integration: Integration, now: datetime
    ) -> None:
        self._database = database
        self._organization = organization
        self._integration = integration
        self._now = now
        repository = integration.repositories[0] if integration.repositories else None
        self._name = integration.id if repository is None else repository.full_name
        self._names = {
            "integration": integration.id,
            "organization": organization.slug,
            "provider": integration.provider,
            "repository": "" if repository is None else repository.id,
        }

    async def finding(self, newest: ListedEntry | None, counts: Collection[LogCount], *, starts: bool) -> Finding:
        last = await self._last_delivery(newest)
        if last is None:
            age = self._ago(self._integration.created_at)
            if not self._integration.enabled:
                return ok(_NAME, f"{self._name}: disabled, nothing was ever delivered")
            return warning(_NAME, f"{self._name}: connected {age}, never delivered", _NEVER.format(**self._names))
        hour = ArrivedDeliveries.of(counts, stretch_at(self._now, _HOUR) - _HOUR)
        day = ArrivedDeliveries.of(counts, datetime.min.replace(tzinfo=UTC))
        failing = last.status is LogStatus.FAILED
        ended = "refused" if failing else f"accepted ({last.title})"
        sentence = f"{self._name}: last delivery {self._ago(last.created_at)}, {ended}"
        if day.refused:
            began = f"{stretch_at(self._now, _HOUR) - _HOUR:%H:%M}"
            sentence += (
                f"; refused: {hour.refused} of {hour.number} since {began} UTC, {day.refused} of {day.number} in 24 h"
            )
        if day.refused and (failing or day.is_often_refused):
            is_fault = failing and (hour if hour.number else day).is_mostly_refused
            refused = await self._refused_entries(counts)
            health = await self._health(refused or [last])
            if health.diagnosis is not None:
                return self._refused(sentence, health, is_fault=is_fault or health.is_failing)
        if self._integration.enabled and not starts and not failing:
            sentence += "; deliveries arrive, but no trigger or schedule uses them"
            return warning(_NAME, sentence, _NO_TRIGGER.format(**self._names))
        return ok(_NAME, sentence)

    def _refused(self, sentence: str, health: Health, *, is_fault: bool) -> Finding:
        diagnosis = health.diagnosis
        assert diagnosis is not None  # the caller has checked it
        sentence += f"; {health.summary}. {diagnosis.sentence}"
        command = command_of(diagnosis, self._integration.id)
        advice = diagnosis.advice if command is None else f"{diagnosis.advice} Run: {command}"
        return fault(_NAME, sentence, advice) if is_fault else warning(_NAME, sentence, advice)

    async def _health(self, refused: Sequence[ListedEntry]) -> Health:
        diagnoses = Diagnoses(
            self._database.stores.read_model, self._database.stores.directory, self._database.stores.hooks
        )
        health = await diagnoses.health(self._integration)
        if health.diagnosis is not None:
            return health
        earlier = health_of(refused, await diagnoses.known(self._integration))
        return evolve(health, diagnosis=earlier.diagnosis)

    async def _last_delivery(self, newest: ListedEntry | None) -> ListedEntry | None:
        if newest is None or newest.direction is Direction.INCOMING:
            return newest
        search = LogSearch(integration_ids=[self._integration.id])
        before = await self._database.stores.read_model.log(
            self._organization.id, search, limit=_BEHIND, before=Cursor.of(newest)
        )
        return next((entry for entry in before if entry.direction is Direction.INCOMING), None)

    async def _refused_entries(self, counts: Collection[LogCount]) -> Sequence[ListedEntry]:
        hours = [count.starts_at for count in counts if count.status is LogStatus.FAILED]
        if not hours:
            return ()
        search = LogSearch(integration_ids=[self._integration.id], outcomes=[LogOutcome.REFUSED])
        return await self._database.stores.read_model.log(
            self._organization.id,
            search,
            limit=CONSIDERED,
            after=Cursor(at=max(hours), id=""),
            before=Cursor(at=max(hours) + _HOUR, id=""),
        )

    def _ago(self, at: datetime) -> str:
        return f"{duration(max(0.0, (self._now - at).total_seconds()))} ago"
