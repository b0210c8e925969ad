"""Doctor checks of deliveries: they arrive, are accepted, and start runs."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, final

from attrs import frozen

from contentsvc_cli.operate.doctor.findings import Finding, Findings, FindingState, fault, ok, skipped, warning
from contentsvc_cli.operate.doctor.work import duration
from contentsvc_core.insights import LogCount, LogSearch, stretch_at
from contentsvc_core.journal import Direction, ListedEntry, LogStatus
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.webhooks.outcomes import Fault
from contentsvc_core.workflows.triggers import source_type
from contentsvc_http.wiring.looking import LookedAt

_NAME: Final = "deliveries"
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
#: The maximum number of checked integrations: each takes a few short queries, and the check has seconds.
_LOOKED_AT: Final = 100
#: Maximum number of findings to print, worst first.
_SHOWN: Final = 20
#: Number of refused entries of one hour that are sampled for the most frequent cause.
_SAMPLED: Final = 100
#: Number of entries to read before an outgoing call, to find the last delivery.
_BEHIND: Final = 50
#: Warn if more than one delivery in this many is refused; anyone can send a forged one.
_SELDOM: Final = 10
_GRAVITY: Final = (FindingState.FAULT, FindingState.WARNING, FindingState.OK, FindingState.SKIPPED)

#: Fix for each cause of a refusal, by the title of its log entry; also in docs/repository.md.
REMEDIES: Final[Mapping[str | None, str]] = {
    Fault.INVALID_SIGNATURE.log_title: "enter the webhook's secret at the code host again, or create a new one: "
    "contentsvc integration rotate-secret {integration}",
    Fault.INTEGRATION_DISABLED.log_title: "contentsvc integration enable {integration}",
    Fault.REPOSITORY_NOT_FOUND.log_title: "enter the URL at the code host that this command prints: "
    "contentsvc integration list --organization {organization}",
    Fault.REPOSITORY_MISMATCH.log_title: "enter the URL at the code host that this command prints: "
    "contentsvc integration list --organization {organization}",
    Fault.INVALID_HEADER.log_title: "check whether a proxy drops headers, and whether the integration's provider is "
    "correct",
    Fault.INVALID_PAYLOAD.log_title: "set the webhook's content type to application/json at the code host",
    Fault.BODY_TOO_LARGE.log_title: "the limit is 25 MiB: push fewer commits at a time",
    Fault.ENCODED_BODY.log_title: "check whether a proxy compresses bodies",
    Fault.BODY_LATE.log_title: "check whether a proxy or the network delays bodies",
    Fault.UNAVAILABLE.log_title: "see the server's log: the database was unavailable, or the server was overloaded; "
    "then request the missed deliveries: contentsvc integration reconcile {integration} --dry-run",
    Fault.FAILED.log_title: "see the fault in the server's log, fix it, then request the missed deliveries: contentsvc "
    "integration reconcile {integration} --dry-run",
}
_NEVER: Final = (
    "look at the webhook's page at the code host (docs/repository.md, When nothing arrives); then request the missed "
    "deliveries: "
    "contentsvc integration reconcile {integration} --dry-run"
)
_NO_TRIGGER: Final = (
    "contentsvc trigger create --organization {organization} --repository-id {repository} --provider {provider}"
)


@final
@frozen(kw_only=True)
class ArrivedDeliveries:
    """Number of deliveries in a time window, and number of refused ones."""

    refused: int
    number: int

    @classmethod
    def of(cls, counts: Collection[LogCount], since: datetime) -> "ArrivedDeliveries":
        """Return the totals of the hours that begin at ``since`` or later."""
        counted = [count for count in counts if count.starts_at >= since]
        return cls(
            refused=sum(count.number for count in counted if count.status is LogStatus.FAILED),
            number=sum(count.number for count in counted),
        )

    @property
    def is_mostly_refused(self) -> bool:
        """Return whether at least half were refused."""
        return 0 < self.number <= 2 * self.refused

    @property
    def is_often_refused(self) -> bool:
        """Return whether more were refused than occasional forgeries explain."""
        return self.refused * _SELDOM > self.number


async def deliveries(database: LookedAt, now: datetime | None = None) -> Findings:
    """Check for each integration that deliveries arrive, are accepted, and start something."""
    now = now or datetime.now(UTC)
    found: list[Finding] = []
    left = _LOOKED_AT
    for organization in await database.stores.directory.organizations():
        integrations = await database.stores.directory.integrations(organization.id)
        if integrations and left:
            found += await _of_organization(database, organization, integrations[:left], now)
        left -= min(left, len(integrations))
    if not found:
        return [skipped(_NAME, "nothing is connected")]
    found.sort(key=lambda each: _GRAVITY.index(each.state))
    if len(found) > _SHOWN:
        rest = len(found) - _SHOWN
        found[_SHOWN:] = [ok(_NAME, f"{rest} more integrations are not shown")]
    return found


async def _of_organization(
    database: LookedAt, organization: Organization, integrations: Sequence[Integration], now: datetime
) -> list[Finding]:
    newest = await database.stores.insights.newest_entries(organization.id)
    since = stretch_at(now - _DAY, _HOUR)
    counts = await database.stores.insights.log_counts(organization.id, since=since, span=_HOUR)
    triggers = await database.stores.directory.triggers(organization.id)
    schedules = await database.stores.schedules.schedules(organization.id)
    written = {(each.source_type, id_) for each in triggers if each.enabled for id_ in each.repository_ids}
    reported = {id_ for each in schedules if each.enabled for id_ in each.repository_ids}
    found: list[Finding] = []
    for integration in integrations:
        mine = [count for count in counts if count.integration_id == integration.id]
        one = _One(database, organization, integration, now)
        starts = {
            repository.id
            for repository in integration.repositories
            if (source_type(integration.provider), repository.id) in written or repository.id in reported
        }
        found.append(await one.finding(newest.get(integration.id), mine, starts=bool(starts)))
    return found


@final
class _One:
    """The check of one integration."""

    def __init__(self, database: LookedAt, organization: Organization, integration: Integration, now: datetime) -> None:
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
        """Return the finding.

        Args:
            newest: Newest log entry of the integration, possibly a call to the code host.
            counts: Number of its entries in the last hours.
            starts: Whether a trigger or schedule uses its repositories.
        """
        last = await self._last_delivery(newest)
        if last is None:
            age = self._ago(self._integration.created_at)
            if not self._integration.enabled:
                return ok(_NAME, f"{self._name}: disabled, nothing was ever delivered")
            return warning(_NAME, f"{self._name}: connected {age}, never delivered", _NEVER.format(**self._names))
        hour = ArrivedDeliveries.of(counts, stretch_at(self._now, _HOUR) - _HOUR)
        day = ArrivedDeliveries.of(counts, datetime.min.replace(tzinfo=UTC))
        said = f"{self._name}: last delivery {self._ago(last.created_at)}, {_ended(last)}"
        if day.refused:
            began = f"{stretch_at(self._now, _HOUR) - _HOUR:%H:%M}"
            said += (
                f"; refused since {began} UTC: {hour.refused} of {hour.number}, in 24 h: {day.refused} of {day.number}"
            )
        failing = last.status is LogStatus.FAILED
        if day.refused and (failing or day.is_often_refused):
            cause = await self._cause(counts) or (last if failing else None)
            if cause is not None:
                return self._refused(said, cause, is_fault=failing and (hour if hour.number else day).is_mostly_refused)
        if self._integration.enabled and not starts and not failing:
            said += "; deliveries arrive, but no trigger or schedule uses them"
            return warning(_NAME, said, _NO_TRIGGER.format(**self._names))
        return ok(_NAME, said)

    def _refused(self, said: str, cause: ListedEntry, *, is_fault: bool) -> Finding:
        said += f"; mostly: {cause.status_code} {cause.title}"
        remedy = REMEDIES.get(cause.title, "contentsvc log list --organization {organization}").format(**self._names)
        return fault(_NAME, said, remedy) if is_fault else warning(_NAME, said, remedy)

    async def _last_delivery(self, newest: ListedEntry | None) -> ListedEntry | None:
        if newest is None or newest.direction is Direction.INCOMING:
            return newest
        search = LogSearch(integration_ids=[self._integration.id])
        before = await self._database.stores.insights.log(
            self._organization.id, search, limit=_BEHIND, before=Cursor.of(newest)
        )
        return next((entry for entry in before if entry.direction is Direction.INCOMING), None)

    async def _cause(self, counts: Collection[LogCount]) -> ListedEntry | None:
        """Return an entry with the most frequent cause in the last hour that had refusals."""
        hours = [count.starts_at for count in counts if count.status is LogStatus.FAILED]
        if not hours:
            return None
        search = LogSearch(integration_ids=[self._integration.id], statuses=[LogStatus.FAILED])
        found = await self._database.stores.insights.log(
            self._organization.id,
            search,
            limit=_SAMPLED,
            after=Cursor(created_at=max(hours), id=""),
            before=Cursor(created_at=max(hours) + _HOUR, id=""),
        )
        refused = [entry for entry in found if entry.direction is Direction.INCOMING]
        causes = Counter((entry.status_code, entry.title) for entry in refused)
        return next(
            (entry for entry in refused if (entry.status_code, entry.title) == causes.most_common(1)[0][0]), None
        )

    def _ago(self, at: datetime) -> str:
        return f"{duration(max(0.0, (self._now - at).total_seconds()))} ago"


def _ended(entry: ListedEntry) -> str:
    return "refused" if entry.status is LogStatus.FAILED else f"accepted ({entry.title})"
