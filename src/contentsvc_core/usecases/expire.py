from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.access.keyed_requests import RETENTION
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.journal import retention_cutoff
from contentsvc_core.outgoing.subscribers import CONFIRM_WITHIN, RECENT
from contentsvc_core.ports import Clock, Stores
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW

#: The time for which a replaced webhook secret is kept after its end, to explain refusals.
FORMER_SECRET_RETENTION: Final = timedelta(days=7)
#: Rows per transaction: a few milliseconds on SQLite, for which a delivery may have to wait.
_BATCH: Final = 100


@final
@frozen(kw_only=True)
class SweepResult:
    """The numbers of deleted rows."""

    log_entries: int
    claims: int
    windows: int
    secrets: int
    sessions: int
    #: Messages to endpoints, mails, and announced posts.
    messages: int
    #: Unconfirmed subscribers and recipients.
    subscribers: int = 0
    #: Requests with an idempotency key.
    requests: int = 0


async def _no_pause() -> None:
    pass


@final
@frozen(eq=False, repr=False)
class Sweeper:
    """Deletes log entries and messages by each organization's current plan, and other expired data, but no content.

    After each batch, ``pause`` lets other writers come first. Without ``on_fault``, a fault ends the sweep.
    """

    _stores: Stores
    _clock: Clock
    _pause: Callable[[], Awaitable[None]] = field(default=_no_pause, kw_only=True, alias="pause")
    _on_fault: Callable[[Exception], None] | None = field(default=None, kw_only=True, alias="on_fault")

    async def sweep(self) -> SweepResult:
        """Delete in small batches, each in its own transaction, so that the sweep may be interrupted."""
        stores, now = self._stores, self._clock.now()
        entries = messages = 0
        for organization_id, days in (await stores.directory.retention_days()).items():
            cutoff = retention_cutoff(days, now)
            entries += await self._all(partial(stores.journal.sweep, organization_id, before=cutoff, limit=_BATCH))
            messages += await self._all(partial(stores.outbox.sweep, organization_id, before=cutoff, limit=_BATCH))
            # A post stays announced as long as it could be mailed again, whatever the plan.
            mails = partial(stores.mailbox.sweep, organization_id, before=now - RECENT, limit=_BATCH)
            messages += await self._all(mails)
        unconfirmed = now - CONFIRM_WITHIN
        secrets = partial(stores.hooks.sweep_secrets, now - FORMER_SECRET_RETENTION)
        previous = partial(stores.endpoints.sweep_secrets, now)
        return SweepResult(
            log_entries=entries,
            claims=await self._all(partial(stores.journal.sweep_claims, before=now - DEDUPE_WINDOW, limit=_BATCH)),
            windows=await self._all(partial(stores.rate_limits.sweep, before=now, limit=_BATCH)),
            secrets=await self._all(secrets) + await self._all(previous),
            sessions=await self._all(partial(stores.sessions.sweep, before=now, limit=_BATCH)),
            messages=messages,
            subscribers=await self._all(partial(stores.subscribers.sweep, before=unconfirmed, limit=_BATCH))
            + await self._all(partial(stores.recipients.sweep, before=unconfirmed, limit=_BATCH)),
            requests=await self._all(partial(stores.keyed_requests.sweep, before=now - RETENTION, limit=_BATCH)),
        )

    async def _all(self, sweep: Callable[[], Awaitable[int]]) -> int:
        swept = 0
        try:
            while batch := await sweep():
                swept += batch
                await self._pause()
        except StoreUnavailable:
            raise
        except Exception as exc:
            if self._on_fault is None:
                raise
            self._on_fault(exc)
        return swept
