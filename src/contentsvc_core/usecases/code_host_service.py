from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar, final

from attrs import evolve, field, frozen

from contentsvc_core.code_hosts import Hook, HostAnswer, HostDelivery, HostFault, HostRefusal
from contentsvc_core.errors import SecretUnreadable, StoreUnavailable
from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.organizations import Integration, Repository, webhook_path, webhook_url
from contentsvc_core.ports import Clock, CodeHost, Hooks, IdSource, Journal

_Value = TypeVar("_Value")
_NOT_FOUND = 404
#: The part of the time limit that is reserved for cleaning up, however long the other calls took.
_RESERVED: Final = 1 / 3
_NO_HOOK: Final = HostRefusal(
    fault=HostFault.REFUSED,
    reason="the code host has no webhook that delivers here: it was removed there; connect the repository again",
)


@final
@frozen(kw_only=True)
class HostAccess:
    """What a call to an integration's hook at the code host needs."""

    integration: Integration
    host: CodeHost
    token: str = field(repr=False)
    hook_id: str | None


@final
@frozen(kw_only=True)
class ByHand:
    """An integration without a token: its hooks are entered and changed by hand."""


@final
@frozen(eq=False, repr=False)
class CodeHostService:
    """``patience_s`` limits all calls while a user waits; ``hosts`` finds a code host by slug."""

    _hosts: Callable[[str], Awaitable[CodeHost | None]]
    _hooks: Hooks
    _journal: Journal
    _clock: Clock
    _ids: IdSource
    _base_url: str = field(kw_only=True, alias="base_url")
    _patience_s: float = field(default=30.0, kw_only=True, alias="patience_s")

    async def host(self, provider: str, *, patient: bool = False) -> CodeHost | HostRefusal:
        host = await self._hosts(provider)
        if host is not None:
            return host if patient else host.within(self._patience_s * (1 - _RESERVED))
        reason = f"the API of '{provider}' is not configured: set CONTENTSVC_{provider.upper()}_API_URL"
        return HostRefusal(fault=HostFault.UNSUPPORTED, reason=reason)

    async def access_to(self, integration: Integration, *, patient: bool = False) -> HostAccess | ByHand | HostRefusal:
        try:
            access = await self._hooks.access(integration.organization_id, integration.id)
        except SecretUnreadable as exc:
            return HostRefusal(fault=HostFault.NO_ACCESS, reason=str(exc))
        if access is None or access.token is None:
            return ByHand()
        host = await self.host(integration.provider, patient=patient)
        if isinstance(host, HostRefusal):
            return host
        return HostAccess(integration=integration, host=host, token=access.token, hook_id=access.hook_id)

    def url(self, integration: Integration, repository: Repository) -> str:
        return webhook_url(self._base_url, integration, repository.id)

    async def create_hook(
        self, access: HostAccess, repository: Repository, secret: str
    ) -> HostAnswer[str] | HostRefusal:
        """Create a repository's hook; a hook with an unknown outcome is removed again."""
        hook = Hook(url=self.url(access.integration, repository), secret=secret)

        async def create() -> HostAnswer[str] | HostRefusal:
            answer = await access.host.create_hook(repository.full_name, hook, token=access.token)
            if isinstance(answer, HostRefusal) and answer.fault.is_unknown:
                refusal = await self.take_back(access, repository)
                if refusal is not None:
                    advice = f"a webhook may be left there: remove the one that delivers to {hook.url}"
                    return evolve(answer, reason=f"{answer.reason}; {advice}")
            return answer

        return await self._recorded("Webhook creation", "create_hook", access, repository, create)

    async def take_back(self, access: HostAccess, repository: Repository) -> HostRefusal | None:
        """Delete a hook that may have been created just now, without a log entry; ``None``: no hook is left."""
        access = evolve(access, host=access.host.within(self._patience_s * _RESERVED))
        removed = await self._remove(access, repository)
        return removed if isinstance(removed, HostRefusal) else None

    async def change_secret(
        self, access: HostAccess, repository: Repository, secret: str
    ) -> HostAnswer[None] | HostRefusal:

        async def change() -> HostAnswer[None] | HostRefusal:
            hook_id = await self.hook_id(access, repository)
            if isinstance(hook_id, HostRefusal):
                return hook_id
            return await access.host.change_secret(repository.full_name, hook_id, secret, token=access.token)

        return await self._recorded("Webhook secret change", "change_secret", access, repository, change)

    async def remove_hook(self, access: HostAccess, repository: Repository) -> HostAnswer[None] | HostRefusal:
        """Delete a repository's hook; a hook that is gone already counts as success."""
        remove = partial(self._remove, access, repository)
        return await self._recorded("Webhook removal", "remove_hook", access, repository, remove)

    async def redeliver(
        self, access: HostAccess, repository: Repository, hook_id: str, attempt: HostDelivery
    ) -> HostAnswer[None] | HostRefusal:
        redeliver = partial(access.host.redeliver, repository.full_name, hook_id, attempt.id, token=access.token)
        return await self._recorded(
            "Redelivery request", "redeliver", access, repository, redeliver, reference_id=attempt.delivery_id
        )

    async def note_refusal(
        self, title: str, operation: str, integration: Integration, repository: Repository, refusal: HostRefusal
    ) -> None:
        """Log the refusal of a call that only reads; if the store is unavailable, the entry is lost."""
        entry = evolve(
            self._entry(title, operation, integration, repository),
            status=LogStatus.FAILED,
            status_code=refusal.status,
            error_message=refusal.reason,
        )
        with suppress(StoreUnavailable):
            await self._journal.append(entry)

    async def hook_id(self, access: HostAccess, repository: Repository) -> str | HostRefusal:
        """Return the id of a repository's hook, looked up by its address if it is not stored."""
        if access.hook_id is not None and repository == access.integration.repositories[0]:
            return access.hook_id
        path = webhook_path(access.integration, repository.id)
        answer = await access.host.find_hook(repository.full_name, path, token=access.token)
        if isinstance(answer, HostRefusal):
            return answer
        return _NO_HOOK if answer.value is None else answer.value

    async def _remove(self, access: HostAccess, repository: Repository) -> HostAnswer[None] | HostRefusal:
        hook_id = await self.hook_id(access, repository)
        if isinstance(hook_id, HostRefusal):
            return _gone(hook_id)
        removed = await access.host.remove_hook(repository.full_name, hook_id, token=access.token)
        if not isinstance(removed, HostRefusal) or removed.status != _NOT_FOUND:
            return removed
        # The hook is missing or hidden: the list of hooks distinguishes the two.
        again = await self.hook_id(evolve(access, hook_id=None), repository)
        return _gone(_NO_HOOK) if again is _NO_HOOK else removed

    async def _recorded(
        self,
        title: str,
        operation: str,
        access: HostAccess,
        repository: Repository,
        call: Callable[[], Awaitable[HostAnswer[_Value] | HostRefusal]],
        *,
        reference_id: str | None = None,
    ) -> HostAnswer[_Value] | HostRefusal:
        """Call between two writes of a log entry: if a crash interrupts the call, the entry stays pending."""
        entry = evolve(self._entry(title, operation, access.integration, repository), reference_id=reference_id)
        await self._journal.append(entry)
        try:
            answered = await call()
        except Exception as exc:
            # An internal fault; its message may contain secrets.
            fault = f"a fault of ours: {type(exc).__name__}"
            await self._finish(evolve(entry, status=LogStatus.FAILED, error_message=fault))
            raise
        if isinstance(answered, HostRefusal):
            ended = evolve(entry, status=LogStatus.FAILED, status_code=answered.status, error_message=answered.reason)
        else:
            ended = evolve(entry, status=LogStatus.SUCCESS, status_code=answered.status)
        await self._finish(ended)
        return answered

    def _entry(self, title: str, operation: str, integration: Integration, repository: Repository) -> LogEntry:
        return LogEntry(
            id=self._ids.new_id("log_"),
            organization_id=integration.organization_id,
            integration_id=integration.id,
            repository_id=repository.id,
            reference_id=None,
            title=title,
            integration_type=integration.provider,
            direction=Direction.OUTGOING,
            status=LogStatus.PENDING,
            status_code=None,
            detail={"operation": operation, "repository": repository.full_name},
            created_at=self._clock.now(),
        )

    async def _finish(self, ended: LogEntry) -> None:
        with suppress(StoreUnavailable):
            await self._journal.finish(ended)


def _gone(refusal: HostRefusal) -> HostAnswer[None] | HostRefusal:
    return HostAnswer(value=None, status=_NOT_FOUND) if refusal is _NO_HOOK else refusal
