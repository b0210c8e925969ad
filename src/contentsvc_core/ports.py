"""What the core needs from outside, each a role in the domain's words.

What a docstring here guarantees is proved for every adapter by one contract suite (``tests/contracts``). Any method
may raise :class:`~contentsvc_core.errors.StoreUnavailable`; a method that reads may be called again at once, and so
may one that writes unless it says otherwise. Tenant-scoped methods take the organization's id first and see nothing
of another one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.content.pagination import InvalidPage, PageRequest, Pagination
from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.journal import LogEntry
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.webhooks.delivery import Address, Endpoint
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import Completion, RunStatus, WorkflowRun
from contentsvc_core.workflows.triggers import Trigger


class DeliveryStore(Protocol):
    """Where deliveries are settled (specification 4.1, steps 2 and 6)."""

    async def endpoint(self, address: Address) -> Endpoint | None:
        """Give what is known at an address, as it is now; ``None``: no such integration there.

        Integration, repository, secrets, triggers and version are of one moment.
        """
        ...

    async def settle(self, settlement: Settlement) -> Settled:
        """Make a settlement true, all of it or nothing, and answer only when it is durable.

        ``STALE`` when the organization's version differs: nothing is written. ``ALREADY_CLAIMED`` when the claim is
        held and the settlement takes or checks it: only ``settlement.duplicate_log`` is written. Of any number of
        concurrent settlements of one key, one takes the claim. A claim is free again exactly
        :data:`~contentsvc_core.webhooks.settlement.DEDUPE_WINDOW` after it was taken. Context records are upserted on
        (organization, custom id): the event is replaced; id and creation time stay. Settling the same value again,
        after an unknown outcome, writes nothing twice and gives the first answer.

        Raises:
            Unstorable: The store cannot hold this value; nothing was written.
        """
        ...


class RunLedger(Protocol):
    """The workflow runs: the rows that work is started by."""

    async def pending(self, now: datetime, *, limit: int) -> Sequence[str]:
        """Give the ids of at most ``limit`` runs that are pending and due.

        Those come first whose process was killed least often; of equals, the oldest. A suspect that has waited for
        ``SUSPECT_PATIENCE`` comes before all others.
        """
        ...

    async def take(self, ids: Sequence[str]) -> Sequence[WorkflowRun]:
        """Set pending runs running and count the attempt; give those that were pending. One caller gets each.

        A suspect (:data:`~contentsvc_core.workflows.runs.SUSPECT_KILLS`) runs alone: it is given when it is asked for
        first and nothing is running, and while it is running nothing is given. A run that cannot be read is not given:
        it has failed, and says so.
        """
        ...

    async def complete(self, run: WorkflowRun, post: Post, *, once: str | None) -> Completion:
        """Store a run's post and end the run, in one transaction. A run has at most one post.

        ``once`` is a key that at most one post of the organization carries; ``None``: it is not limited so.
        """
        ...

    async def end(self, run: WorkflowRun, status: RunStatus, reason: str) -> None:
        """End a running run without a post; nothing happens when it is not running."""
        ...

    async def retry(self, run: WorkflowRun, *, due_at: datetime, error: str) -> None:
        """Set a running run pending again, to be taken from ``due_at`` on; nothing happens when it is not running."""
        ...

    async def give_back(self, run: WorkflowRun) -> None:
        """Set a running run pending again, due as before, as if it had not been taken; else nothing happens."""
        ...

    async def recover(self, error: str) -> int:
        """Set every running run pending again, due at once, and give their number; their process was killed.

        For an engine that is the only one: called before it takes any. The attempt does not count, the kill does. A
        run that has seen too many (:data:`~contentsvc_core.workflows.runs.MAX_KILLS`) fails with ``error`` instead,
        and is not in the number.
        """
        ...

    async def runs(self, organization_id: str, *, limit: int | None = None) -> Sequence[WorkflowRun]:
        """List runs, newest first; all of them without a limit."""
        ...


class ContextLibrary(Protocol):
    """The context records (specification 2.5)."""

    async def record(self, organization_id: str, custom_id: str) -> ContextRecord | None:
        """Give one record."""
        ...

    async def before(self, record: ContextRecord, *, limit: int) -> Sequence[ContextRecord]:
        """List at most ``limit`` records of the same repository that arrived before ``record``, newest first."""
        ...

    async def records(self, organization_id: str, *, limit: int | None = None) -> Sequence[ContextRecord]:
        """List records, newest first; all of them without a limit."""
        ...


class PostLibrary(Protocol):
    """The posts (specification 2.1)."""

    async def page(
        self, organization_id: str, query: PostQuery, request: PageRequest
    ) -> tuple[Sequence[Post], Pagination] | InvalidPage:
        """Give one page, ordered by creation time and then id; count and page are of one moment."""
        ...

    async def posts(self, organization_id: str, *, limit: int | None = None) -> Sequence[Post]:
        """List posts, newest first; all of them without a limit."""
        ...


class LogWriter(Protocol):
    """Where single log entries are written."""

    async def append(self, entry: LogEntry) -> None:
        """Write an entry on its own."""
        ...


class Journal(LogWriter, Protocol):
    """The webhook log (specification 2.3)."""

    async def entries(self, organization_id: str, *, limit: int | None = None) -> Sequence[LogEntry]:
        """List entries, newest first; all of them without a limit."""
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` of an organization's entries older than ``before``; give how many."""
        ...

    async def sweep_claims(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` claims taken at ``before`` or earlier, of any organization; give how many."""
        ...


class Directory(Protocol):
    """Organizations and what they have connected. Every write raises the organization's version in its transaction."""

    async def add_organization(self, organization: Organization) -> bool:
        """Add an organization; False: the slug is taken, nothing was written."""
        ...

    async def organization(self, slug: str) -> Organization | None:
        """Find an organization by its slug."""
        ...

    async def organizations(self) -> Sequence[Organization]:
        """List all organizations, by slug."""
        ...

    async def add_integration(self, integration: Integration, secret: str) -> bool:
        """Add an integration, its repositories and its webhook secret; sealed, the secret is nowhere in clear.

        False: the organization has connected one of the repositories of that provider already, by id or by name
        (case-insensitively); nothing was written.
        """
        ...

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        """List an organization's integrations, oldest first."""
        ...

    async def secrets(self, organization_id: str, integration_id: str) -> tuple[str, ...]:
        """Give the webhook secrets of an integration that verify now; empty when it is unknown."""
        ...

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        """Switch an integration on or off; False: it is unknown."""
        ...

    async def add_trigger(self, trigger: Trigger) -> None:
        """Add a trigger."""
        ...

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        """Find a trigger."""
        ...

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        """List an organization's triggers, oldest first."""
        ...

    async def enable_trigger(self, organization_id: str, trigger_id: str, *, enabled: bool) -> bool:
        """Switch a trigger on or off; False: it is unknown."""
        ...

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the field's word
        """Find the organization that an integration or trigger belongs to: for operators, who name ids alone."""
        ...


class ApiKeys(Protocol):
    """The API keys (specification 5.1)."""

    async def add(self, key: ApiKey) -> None:
        """Add a key."""
        ...

    async def key(self, prefix: str) -> ApiKey | None:
        """Find a key by its prefix, of whatever organization: it is what tells the organization."""
        ...

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        """List an organization's keys, or an operator's view of all, oldest first."""
        ...

    async def revoke(self, prefix: str, at: datetime) -> bool:
        """Revoke a key; False: it is unknown. A key that was revoked before keeps its first time."""
        ...

    async def touch(self, prefix: str, at: datetime) -> None:
        """Note that a key was used."""
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Give the time: aware, UTC, whole milliseconds."""
        ...


class IdSource(Protocol):
    """Makes what nobody has made before."""

    def mint(self, prefix: str) -> str:
        """Give ``prefix`` and a UUIDv7 (RFC 9562): ids of one process sort in the order in which they were made."""
        ...

    def token(self, length: int) -> str:
        """Give ``length`` random characters of ``A-Za-z0-9``, fit for a secret."""
        ...


class SecretSealer(Protocol):
    """Encrypts secrets for storage."""

    def seal(self, secret: str) -> str:
        """Encrypt; two sealings of one secret differ."""
        ...

    def open(self, sealed: str) -> str:
        """Decrypt.

        Raises:
            SecretUnreadable: It was not sealed with a key that is configured now.
        """
        ...


class ContentWriter(Protocol):
    """Writes content."""

    #: Names the writer in a post's metadata.
    name: str

    async def write(self, brief: Brief) -> Draft | None:
        """Write from a brief; ``None``: there is nothing to report. May raise anything: the run is tried again."""
        ...


class MarkupRenderer(Protocol):
    """Turns Markdown into HTML that is safe to show, whoever wrote it."""

    async def render(self, markdown: str) -> str:
        """Give the HTML."""
        ...


class WorkflowStarter(Protocol):
    """Starts work on runs."""

    async def start(self, ids: Sequence[str]) -> None:
        """Work on these runs, soon; a run that is being worked on already is not started twice."""
        ...
