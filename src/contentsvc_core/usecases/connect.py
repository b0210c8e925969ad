"""Connecting repositories and disconnecting them: integrations, and their hooks at the code host."""

from contextlib import suppress
from enum import Enum
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.hosts import HostAnswer, HostRefusal
from contentsvc_core.identifiers import is_own_id, is_token
from contentsvc_core.organizations import Integration, Removed, Repository
from contentsvc_core.ports import Clock, CodeHost, Directory, Hooks, IdSource
from contentsvc_core.text import one_line
from contentsvc_core.usecases.host_calls import ByHand, HostCalls, Reach
from contentsvc_core.usecases.operate import ALREADY_CONNECTED, Refusal, connection_fault, new_secret

_BRANCH_LENGTH: Final = 255
_NO_TOKEN: Final = Refusal(reason="the token must be 1 to 1000 visible ASCII characters, without spaces")
_NO_BRANCH: Final = Refusal(reason=f"a branch's name is one line of 1 to {_BRANCH_LENGTH} characters")
UNKNOWN: Final = Refusal(reason="Integration not found")
REMOVED_MEANWHILE: Final = Refusal(reason="the integration was deleted while its webhook was being created")


@final
@frozen(kw_only=True)
class Connected:
    """A repository that was connected."""

    integration: Integration
    #: Where the code host is to deliver.
    url: str
    #: What it is to sign with.
    secret: str = field(repr=False)
    #: True: the code host knows all of that; False: somebody has to enter it there.
    created_at_host: bool


class HookEnd(Enum):
    """What became of the hook at the code host."""

    #: It is gone.
    REMOVED = "removed"
    #: It was entered by hand, and has to be removed by hand.
    BY_HAND = "by hand"
    #: The code host did not remove it.
    LEFT = "left"


@final
@frozen(kw_only=True)
class Disconnected:
    """An integration that is no more."""

    id: str
    removed: Removed
    hook: HookEnd
    #: What the code host said, when it did not remove the hook.
    refusal: HostRefusal | None = None


@final
class Connector:
    """Connects repositories, and disconnects them."""

    def __init__(self, directory: Directory, hooks: Hooks, calls: HostCalls, clock: Clock, ids: IdSource) -> None:
        """Take the ports, and what calls code hosts."""
        self._directory = directory
        self._hooks = hooks
        self._calls = calls
        self._clock = clock
        self._ids = ids

    async def connect(
        self,
        organization_id: str,
        *,
        full_name: str,
        provider: str,
        repository_id: int | None = None,
        branch: str | None = None,
        token: str | None = None,
    ) -> Connected | Refusal | HostRefusal:
        """Connect a repository, and with a token create its hook at the code host.

        Without a repository id or with a token the code host is asked for what the repository is; else nobody is
        asked. When the hook cannot be created, nothing is left behind, here or there; a crash in the middle leaves
        an integration whose log entry is pending, and removing that finds its hook by the address. All that the code
        host is asked for ends within the patience of :class:`HostCalls`.

        Args:
            organization_id: Whose it is to be.
            full_name: ``owner/name``.
            provider: The provider's slug.
            repository_id: As the code host knows it; ``None``: it is asked.
            branch: What content is generated from on demand; ``None``: the default branch, when the code host is asked.
            token: Lets the hook be created, changed and removed. It is stored, sealed.

        Raises:
            StoreUnavailable: Nothing was connected, or only the integration is there, without a hook.
        """
        host = await self._calls.host(provider)
        fault = _fault(full_name, provider, repository_id, branch, token)
        if fault is not None:
            return fault
        if repository_id is not None and token is None:
            repository = Repository(id=repository_id, full_name=full_name, branch=branch)
        else:
            repository = await _asked(host, full_name, repository_id, branch, token)
        if not isinstance(repository, Repository):
            return repository
        integration = Integration(
            id=self._ids.mint("int_"),
            organization_id=organization_id,
            provider=provider,
            repositories=(repository,),
            created_at=self._clock.now(),
        )
        secret = new_secret(self._ids)
        # First: the unique keys decide, and the code host's ping finds where it belongs.
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
        reach = Reach(host=host, token=token, hook_id=None)
        refused = await self._create_hook(reach, integration, repository, secret)
        return connected if refused is None else refused

    async def _create_hook(
        self, reach: Reach, integration: Integration, repository: Repository, secret: str
    ) -> HostRefusal | Refusal | None:
        try:
            made = await self._calls.create_hook(reach, integration, repository, secret)
            if isinstance(made, HostAnswer):
                reach = evolve(reach, hook_id=made.value)
                if await self._hooks.note_hook(integration.organization_id, integration.id, made.value):
                    return None
                # Who deleted the integration could not see the hook yet.
                await self._calls.remove_hook(reach, integration, repository)
                return REMOVED_MEANWHILE
        except Exception:
            # Whatever it is; and what came of cleaning up must not hide it.
            with suppress(Exception):
                # What the hook is called may not be known: its address tells.
                await self._calls.take_back(reach, integration, repository)
            with suppress(Exception):
                await self._directory.remove_integration(integration.organization_id, integration.id)
            raise
        await self._directory.remove_integration(integration.organization_id, integration.id)
        return made

    async def disconnect(self, organization_id: str, integration_id: str) -> Disconnected | None:
        """Remove an integration, and its hook at the code host as far as that can be done; ``None``: it is unknown.

        The hook goes first: what is cut off in between can be done again.
        """
        integration = await self._integration(organization_id, integration_id)
        if integration is None:
            return None
        reach = await self._calls.reach(integration)
        hook, refusal = await self._remove_hooks(reach, integration)
        removed = await self._directory.remove_integration(organization_id, integration_id)
        if isinstance(reach, Reach) and reach.hook_id is None and hook is HookEnd.REMOVED:
            # One that was being created meanwhile stands by now, or its creator finds the integration gone.
            ends = [await self._calls.take_back(reach, integration, each) for each in integration.repositories]
            refusal = next((end for end in ends if end is not None), None)
            hook = HookEnd.REMOVED if refusal is None else HookEnd.LEFT
        if removed is None:
            return None
        return Disconnected(id=integration_id, removed=removed, hook=hook, refusal=refusal)

    async def _remove_hooks(
        self, reach: Reach | ByHand | HostRefusal, integration: Integration
    ) -> tuple[HookEnd, HostRefusal | None]:
        match reach:
            case ByHand():
                return HookEnd.BY_HAND, None
            case HostRefusal():
                return HookEnd.LEFT, reach
            case Reach():
                ends = [await self._calls.remove_hook(reach, integration, each) for each in integration.repositories]
                refusal = next((end for end in ends if isinstance(end, HostRefusal)), None)
                return HookEnd.REMOVED if refusal is None else HookEnd.LEFT, refusal

    async def _integration(self, organization_id: str, integration_id: str) -> Integration | None:
        if not is_own_id(integration_id):
            return None
        return await self._directory.integration(organization_id, integration_id)


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


async def _asked(
    host: CodeHost | HostRefusal,
    full_name: str,
    repository_id: int | None,
    branch: str | None,
    token: str | None,
) -> Repository | Refusal | HostRefusal:
    """Ask the code host what a repository is."""
    if isinstance(host, HostRefusal):
        return evolve(host, reason=f"{host.reason}, or give the repository's id and no token")
    found = await host.repository(full_name, token=token)
    if isinstance(found, HostRefusal):
        return found
    known = found.value
    if repository_id not in {None, known.id}:
        return Refusal(reason=f"the code host knows '{known.full_name}' by the id {known.id}, not {repository_id}")
    return Repository(id=known.id, full_name=known.full_name, branch=branch or known.default_branch)
