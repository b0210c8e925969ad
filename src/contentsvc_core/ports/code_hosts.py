from datetime import datetime
from typing import Protocol, Self

from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HookAccess,
    HostAnswer,
    HostCommits,
    HostDeliveries,
    HostPullRequests,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests


class CodeHost(Protocol):
    """The API of one code host.

    No method raises: refusals and missing answers are values. Every call ends within the adapter's timeout, and reads
    at most the adapter's limit of bytes. A token appears in no refusal's reason and in no log.
    """

    def within(self, limit_s: float, *, limit_bytes: float = ...) -> Self:
        """Return a client whose calls must all end within ``limit_s`` seconds; later ones are ``UNREACHABLE``.

        The answers have at most ``limit_bytes`` bytes together, without a limit by default; more are ``STRANGE``.
        """
        ...

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        """Read a repository by its current or former ``owner/name``; without a token, a public one."""
        ...

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal: ...

    async def find_hook(self, full_name: str, path: str, *, token: str) -> HostAnswer[str | None] | HostRefusal:
        """Return the id of the hook whose address ends with ``path``, whatever its host; ``None``: no hook has it."""
        ...

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        """Set the secret that a hook signs with; its address stays the same."""
        ...

    async def remove_hook(self, full_name: str, hook_id: str, *, token: str) -> HostAnswer[None] | HostRefusal:
        """Delete a hook. The API does not distinguish a missing hook from a hidden one: ``NO_ACCESS``."""
        ...

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        """List a hook's delivery attempts since a point in time; ``UNSUPPORTED``: the API has no such list."""
        ...

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        """Request another attempt of a delivery. The code host sends it a little later, with the same delivery id."""
        ...

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        """Read the commits of a push, in a bounded number of calls."""
        ...

    async def pull_requests(
        self, full_name: str, repository_id: int, named: NamedPullRequests, *, token: str
    ) -> HostPullRequests:
        """Read pull requests of the repository with this id, renamed or not. The first refusal ends the reading."""
        ...


class Hooks(Protocol):
    """The stored data of integrations' hooks: signing secrets, hook ids and tokens."""

    async def rotate_secret(
        self, organization_id: str, integration_id: str, secret: str, *, at: datetime, overlap_until: datetime
    ) -> bool:
        """Store a new webhook secret of an integration, and raise its organization's version; ``False``: it is unknown.

        Old and new secret both verify from the next delivery on; the old one expires exactly at ``overlap_until``. No
        secret's end is postponed, so that a rotation without an overlap expires all earlier secrets. Secrets that have
        expired at ``at`` are deleted, except the replaced one. A repeated call with the newest secret changes nothing.
        """
        ...

    async def sweep_secrets(self, before: datetime) -> int:
        """Delete the secrets of all organizations that expired at ``before`` or earlier; return their number."""
        ...

    async def access(self, organization_id: str, integration_id: str) -> HookAccess | None:
        """Return the data for calls to an integration's hook at the code host; ``None``: the integration is unknown."""
        ...

    async def note_hook(self, organization_id: str, integration_id: str, hook_id: str) -> bool:
        """Store the code host's id of an integration's hook; ``False``: the integration is unknown."""
        ...
