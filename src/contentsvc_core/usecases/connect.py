from contextlib import suppress
from enum import Enum
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.code_hosts import HostAnswer, HostRefusal
from contentsvc_core.identifiers import is_token
from contentsvc_core.organizations import Integration, Repository
from contentsvc_core.ports import Clock, CodeHost, Directory, Hooks, IdSource
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.usecases.code_host_service import ByHand, CodeHostService, HostAccess
from contentsvc_core.usecases.operate import ALREADY_CONNECTED, connection_fault, new_secret
from contentsvc_core.workflows.removals import Removed

_BRANCH_LENGTH: Final = 255
_NO_TOKEN: Final = Refusal(
    RefusalKind.INVALID, "the token must be 1 to 1000 visible ASCII characters, without spaces", "token"
)
_NO_BRANCH: Final = Refusal(
    RefusalKind.INVALID, f"a branch's name is one line of 1 to {_BRANCH_LENGTH} characters", "branch"
)
UNKNOWN: Final = Refusal(RefusalKind.NOT_FOUND, "Integration not found")
REMOVED_MEANWHILE: Final = Refusal(
    RefusalKind.CONFLICT, "the integration was deleted while its webhook was being created"
)


@final
@frozen(kw_only=True)
class Connected:
    """A connected repository; its secret is available only now."""

    integration: Integration
    url: str
    secret: str = field(repr=False)
    #: True: the hook was created at the code host; False: the user must enter it there.
    created_at_host: bool


class HookRemoval(Enum):
    """What became of the hooks of a deleted integration."""

    REMOVED = "removed"
    BY_HAND = "by hand"
    LEFT = "left"


@final
@frozen(kw_only=True)
class Disconnected:
    """A deleted integration; ``refusal`` is the reason why a hook is left at the code host."""

    id: str
    removed: Removed
    hook: HookRemoval
    refusal: HostRefusal | None = None


@final
@frozen(eq=False, repr=False)
class Connector:
    """Connects and disconnects repositories, also at the code host; refuses a repository that is connected."""

    _directory: Directory
    _hooks: Hooks
    _calls: CodeHostService
    _clock: Clock
    _ids: IdSource

    async def connect(
        self,
        organization_id: str,
        *,
        full_name: str,
        provider: str,
        repository_id: int | None = None,
        branch: str | None = None,
        token: str | None = None,
    ) -> Connected | Refusal:
        """Connect a repository, and with a token create its hook at the code host.

        Without a repository id or with a token, the repository is read from the code host. If the hook cannot be
        created, integration and hook are removed again. A crash in the middle leaves an integration with a pending log
        entry; its removal finds the hook by the address. The token is stored sealed.
        """
        host = await self._calls.host(provider)
        fault = _fault(full_name, provider, repository_id, branch, token)
        if fault is not None:
            return fault
        if repository_id is not None and token is None:
            repository = Repository(id=repository_id, full_name=full_name, branch=branch)
        else:
            repository = await _fetch_repository(host, full_name, repository_id, branch, token)
        if isinstance(repository, HostRefusal):
            return repository.refusal
        if isinstance(repository, Refusal):
            return repository
        integration = Integration(
            id=self._ids.new_id("int_"),
            organization_id=organization_id,
            provider=provider,
            repositories=(repository,),
            created_at=self._clock.now(),
        )
        secret = new_secret(self._ids)
        # First: the unique keys decide, and the code host's ping finds the integration.
        if not await self._directory.add_integration(integration, secret, token=token):
            return ALREADY_CONNECTED
        connected = Connected(
            integration=integration,
            url=self._calls.url(integration, repository),
            secret=secret,
            created_at_host=token is not None,
        )
        if token is None or isinstance(host, HostRefusal):
            return connected
        access = HostAccess(integration=integration, host=host, token=token, hook_id=None)
        refused = await self._create_hook(access, repository, secret)
        return connected if refused is None else refused

    async def _create_hook(self, access: HostAccess, repository: Repository, secret: str) -> Refusal | None:
        integration = access.integration
        try:
            answer = await self._calls.create_hook(access, repository, secret)
            if isinstance(answer, HostAnswer):
                access = evolve(access, hook_id=answer.value)
                if await self._hooks.note_hook(integration.organization_id, integration.id, answer.value):
                    return None
                # A concurrent deletion of the integration could not know the hook yet.
                await self._calls.remove_hook(access, repository)
                return REMOVED_MEANWHILE
        except Exception:
            with suppress(Exception):
                await self._calls.take_back(access, repository)
            with suppress(Exception):
                await self._directory.remove_integration(integration.organization_id, integration.id)
            raise
        await self._directory.remove_integration(integration.organization_id, integration.id)
        return answer.refusal

    async def disconnect(self, organization_id: str, integration_id: str) -> Disconnected | None:
        """Delete an integration, and first its hook, so that the call can be repeated; ``None``: it is unknown."""
        integration = await self._directory.integration(organization_id, integration_id)
        if integration is None:
            return None
        access = await self._calls.access_to(integration)
        hook, refusal = await self._remove_hooks(access)
        removed = await self._directory.remove_integration(organization_id, integration_id)
        if isinstance(access, HostAccess) and access.hook_id is None and hook is HookRemoval.REMOVED:
            # A hook whose creation ran concurrently exists by now, or its creator finds the integration deleted.
            ends = [await self._calls.take_back(access, each) for each in integration.repositories]
            refusal = next((end for end in ends if end is not None), None)
            hook = HookRemoval.REMOVED if refusal is None else HookRemoval.LEFT
        if removed is None:
            return None
        return Disconnected(id=integration_id, removed=removed, hook=hook, refusal=refusal)

    async def _remove_hooks(self, access: HostAccess | ByHand | HostRefusal) -> tuple[HookRemoval, HostRefusal | None]:
        match access:
            case ByHand():
                return HookRemoval.BY_HAND, None
            case HostRefusal():
                return HookRemoval.LEFT, access
            case HostAccess():
                ends = [await self._calls.remove_hook(access, each) for each in access.integration.repositories]
                refusal = next((end for end in ends if isinstance(end, HostRefusal)), None)
                return HookRemoval.REMOVED if refusal is None else HookRemoval.LEFT, refusal


def _fault(
    full_name: str, provider: str, repository_id: int | None, branch: str | None, token: str | None
) -> Refusal | None:
    if (fault := connection_fault(full_name, repository_id, provider)) is not None:
        return fault
    if token is not None and not is_token(token):
        return _NO_TOKEN
    if branch is not None and not branch == one_line(branch, _BRANCH_LENGTH) != "":
        return _NO_BRANCH
    return None


async def _fetch_repository(
    host: CodeHost | HostRefusal,
    full_name: str,
    repository_id: int | None,
    branch: str | None,
    token: str | None,
) -> Repository | Refusal | HostRefusal:
    if isinstance(host, HostRefusal):
        return evolve(host, reason=f"{host.reason}, or give the repository's id and no token")
    answer = await host.repository(full_name, token=token)
    if isinstance(answer, HostRefusal):
        return answer
    remote = answer.value
    if repository_id not in {None, remote.id}:
        fault = f"the code host knows '{remote.full_name}' by the id {remote.id}, not {repository_id}"
        return Refusal(RefusalKind.UNSUITABLE, fault, "repository_id")
    return Repository(id=remote.id, full_name=remote.full_name, branch=branch or remote.default_branch)
