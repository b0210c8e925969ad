"""The code host as somebody to be called, and what is kept of the hooks there."""

from datetime import datetime
from typing import Protocol, Self

from contentsvc_core.content.pull_requests import NamedPullRequests
from contentsvc_core.hosts import (
    Hook,
    HookAccess,
    HostAnswer,
    HostDeliveries,
    HostedRepository,
    HostPullRequests,
    HostRefusal,
)


class CodeHost(Protocol):
    """One code host's API.

    Whatever it answers is a value; no method raises for an answer or its absence. Every call ends within a time that
    the adapter sets, and reads no more of an answer than it allows. A token is repeated nowhere: not in a refusal's
    reason, and in no log.
    """

    #: Whether it lists what it failed to deliver: without that, missed deliveries are asked for by hand.
    lists_deliveries: bool

    def within(self, limit_s: float) -> Self:
        """Give the same code host for some seconds from now on, all calls and pages of each together.

        A call that is under way then is cut off, and later ones are not made: ``UNREACHABLE``. Another limit takes the
        place of one that was set.
        """
        ...

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[HostedRepository] | HostRefusal:
        """Read a repository by its ``owner/name``, an old one too; without a token, a public one."""
        ...

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        """Create a hook and give the code host's id of it."""
        ...

    async def find_hook(self, full_name: str, path: str, *, token: str) -> HostAnswer[str | None] | HostRefusal:
        """Look for the hook whose address ends with ``path`` and give its id: for when nobody knows what it is called.

        The path names us well enough; what stands before it may have changed since.
        """
        ...

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        """Have a hook sign with another secret; where it delivers to stays as it is."""
        ...

    async def remove_hook(self, full_name: str, hook_id: str, *, token: str) -> HostAnswer[None] | HostRefusal:
        """Remove a hook. One that is not there cannot be told from one that may not be seen: ``NO_ACCESS``."""
        ...

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        """List a hook's attempts to deliver since a point in time; ``UNSUPPORTED`` where that is not known."""
        ...

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        """Ask for another attempt; it is made a little later, with the same delivery id."""
        ...

    async def pull_requests(
        self, full_name: str, repository_id: int, named: NamedPullRequests, *, token: str
    ) -> HostPullRequests:
        """Read pull requests of a repository, in a bounded number of calls; at a refusal, the rest is not asked for.

        ``full_name`` may be an old one. Pull requests of a repository with another id are not returned.
        """
        ...


class Hooks(Protocol):
    """What is kept of integrations' hooks: what deliveries are signed with, and how the code host is reached."""

    async def rotate_secret(
        self, organization_id: str, integration_id: str, secret: str, *, at: datetime, overlap_until: datetime
    ) -> bool:
        """Give an integration a new webhook secret, and raise its organization's version; False: it is unknown.

        From the next delivery on both verify, until ``overlap_until``: exactly then the old one no longer does. A
        secret that was to end earlier ends earlier; none is prolonged, so that a rotation without an overlap ends all
        that came before. What has expired at ``at`` is deleted. The newest secret once more changes nothing.
        """
        ...

    async def sweep_secrets(self, now: datetime) -> int:
        """Delete the secrets that verify no longer, of any organization; give how many."""
        ...

    async def access(self, organization_id: str, integration_id: str) -> HookAccess | None:
        """Tell how an integration's hook at the code host is reached; ``None``: the integration is unknown."""
        ...

    async def note_hook(self, organization_id: str, integration_id: str, hook_id: str) -> bool:
        """Note what the code host calls an integration's hook; False: the integration is unknown."""
        ...
