from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.code_hosts import HostDelivery, HostFault, HostRefusal, missed
from contentsvc_core.organizations import LOOK_BACK_HOURS, Repository
from contentsvc_core.ports import Clock, Directory, Journal
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.code_host_service import ByHand, CodeHostService, HostAccess
from contentsvc_core.usecases.connect import UNKNOWN
from contentsvc_core.values import nothing

#: The largest difference between the code host's clock and the service's.
_CLOCKS: Final = timedelta(hours=1)
BY_HAND: Final = Refusal(
    RefusalKind.UNSUITABLE,
    "the integration has no token: request missed deliveries on the webhook's page at the code host",
)


class MissedEnd(Enum):
    """The result of reconciling a missed delivery."""

    REQUESTED = "redelivery asked"
    #: It would have been requested (dry run).
    FOUND = "would be asked"
    #: The log has an answer with success, which the code host did not receive: nothing is missing.
    ANSWERED = "answered already"
    REFUSED = "refused"
    #: Not requested: the code host's rate limit is reached.
    NOT_REQUESTED = "not asked"


@final
@frozen(kw_only=True)
class Missed:
    """A delivery that failed at the code host, and the result of its redelivery request."""

    attempt: HostDelivery
    repository: str
    end: MissedEnd
    refusal: HostRefusal | None = None


@final
@frozen(kw_only=True)
class Reconciled:
    missed: tuple[Missed, ...] = field(converter=tuple[Missed, ...])
    #: False: the list of attempts was cut, and the oldest ones were not checked.
    complete: bool


@final
@frozen(eq=False, repr=False)
class Reconciler:
    """Requests failed deliveries again at the code host; refuses integrations without a token."""

    _directory: Directory
    _journal: Journal
    _calls: CodeHostService
    _clock: Clock

    async def reconcile(
        self,
        organization_id: str,
        integration_id: str,
        *,
        lookback: timedelta = timedelta(hours=LOOK_BACK_HOURS),
        dry_run: bool = False,
        patient: bool = True,
        on_progress: Callable[[int, int], None] = nothing,
    ) -> Reconciled | Refusal:
        """Find failed deliveries and request them again, except for deliveries that arrived meanwhile.

        A second request within 24 hours is harmless, since the delivery's claim is held. ``lookback`` is the age of
        the oldest delivery to check. Unless ``patient``, all calls together have one request's time. ``on_progress``
        receives the number of requested deliveries, and their total.
        """
        integration = await self._directory.integration(organization_id, integration_id)
        if integration is None:
            return UNKNOWN
        access = await self._calls.access_to(integration, patient=patient)
        match access:
            case ByHand():
                return BY_HAND
            case HostRefusal():
                return access.refusal
            case HostAccess():
                since = self._clock.now() - lookback
                missed: list[Missed] = []
                complete = True
                for repository in integration.repositories:
                    listed = await self._found(access, repository, since)
                    if isinstance(listed, HostRefusal):
                        return listed.refusal
                    hook_id, of_repository = listed
                    complete = complete and of_repository.complete
                    missed += (
                        of_repository.missed
                        if dry_run
                        else await self._request(access, repository, hook_id, of_repository.missed, on_progress)
                    )
                return Reconciled(missed=missed, complete=complete)

    async def _found(
        self, access: HostAccess, repository: Repository, since: datetime
    ) -> tuple[str, Reconciled] | HostRefusal:
        hook_id = await self._calls.hook_id(access, repository)
        if isinstance(hook_id, HostRefusal):
            return hook_id
        listed = await access.host.deliveries(repository.full_name, hook_id, since=since, token=access.token)
        if isinstance(listed, HostRefusal):
            return listed
        attempts = missed(listed.value.attempts)
        answered = await self._journal.answered(
            access.integration.organization_id,
            access.integration.id,
            [attempt.delivery_id for attempt in attempts],
            since=since - _CLOCKS,
        )
        return hook_id, Reconciled(
            missed=[
                Missed(
                    attempt=attempt,
                    repository=repository.full_name,
                    end=MissedEnd.ANSWERED if attempt.delivery_id in answered else MissedEnd.FOUND,
                )
                for attempt in attempts
            ],
            complete=listed.value.complete,
        )

    async def _request(
        self,
        access: HostAccess,
        repository: Repository,
        hook_id: str,
        missed: tuple[Missed, ...],
        report: Callable[[int, int], None],
    ) -> list[Missed]:
        ended: list[Missed] = []
        limited: HostRefusal | None = None
        for number, delivery in enumerate(missed):
            report(number, len(missed))
            if delivery.end is not MissedEnd.FOUND:
                ended.append(delivery)
            elif limited is not None:
                ended.append(evolve(delivery, end=MissedEnd.NOT_REQUESTED, refusal=limited))
            else:
                answered = await self._calls.redeliver(access, repository, hook_id, delivery.attempt)
                if not isinstance(answered, HostRefusal):
                    ended.append(evolve(delivery, end=MissedEnd.REQUESTED))
                    continue
                ended.append(evolve(delivery, end=MissedEnd.REFUSED, refusal=answered))
                if answered.fault in {HostFault.RATE_LIMITED, HostFault.UNREACHABLE}:
                    limited = answered
        report(len(missed), len(missed))
        return ended
