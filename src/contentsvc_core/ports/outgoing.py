"""Webhooks out: where they go, what waits to be sent, and who sends it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.outgoing.endpoints import EndpointFault, WebhookEndpoint
from contentsvc_core.outgoing.messages import NOTHING_SENT, Attempted, DueMessage, Message, Taken
from contentsvc_core.outgoing.retries import Answer, NotSent


class WebhookEndpoints(Protocol):
    """The addresses that organizations are told at. Secrets are sealed: they are nowhere in clear.

    What they are told of is written by whoever makes it true, in the same transaction:
    :meth:`~contentsvc_core.ports.RunLedger.complete` and whatever has a run fail
    (:class:`~contentsvc_core.ports.RunLedger`, :class:`~contentsvc_core.ports.Executors`), and
    :meth:`~contentsvc_core.ports.PostLibrary.change`.
    """

    async def add(self, endpoint: WebhookEndpoint, secret: str) -> WebhookEndpoint | EndpointFault:
        """Add an endpoint; the same once more changes nothing, and gives it as it stands.

        ``TOO_MANY``: the organization has :data:`~contentsvc_core.outgoing.endpoints.MAX_ENDPOINTS`; nothing was
        written. Of any number that are added at once, no more are.
        """
        ...

    async def endpoint(self, organization_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        """Find an endpoint."""
        ...

    async def endpoints(self, organization_id: str) -> Sequence[WebhookEndpoint]:
        """List an organization's endpoints, oldest first."""
        ...

    async def change(
        self, organization_id: str, endpoint_id: str, change: Callable[[WebhookEndpoint], WebhookEndpoint]
    ) -> WebhookEndpoint | None:
        """Change an endpoint as it stands, and give it as it is then; ``None``: it is unknown.

        ``change`` is a pure function, may be called several times, and leaves the ids. Messages that wait while an
        endpoint is off are sent when it is on again.
        """
        ...

    async def rotate(
        self, organization_id: str, endpoint_id: str, secret: str, *, overlap_until: datetime
    ) -> WebhookEndpoint | None:
        """Give an endpoint a new secret; the one before signs, too, until ``overlap_until``. ``None``: it is unknown.

        The one before that one ends now. Rotating to the same secret again changes nothing.
        """
        ...

    async def remove(self, organization_id: str, endpoint_id: str) -> bool:
        """Delete an endpoint with its secrets and messages; False: it is unknown.

        Its log entries stay; those that were pending have failed.
        """
        ...

    async def sweep_secrets(self, now: datetime) -> int:
        """Delete the previous secrets that sign nothing any more at ``now``; give how many."""
        ...


class Outbox(Protocol):
    """The messages. Each is taken by one process at a time; whoever took it last says how it ended."""

    async def add(self, message: Message) -> None:
        """Add a message on its own; the same once more changes nothing."""
        ...

    async def due(
        self,
        now: datetime,
        *,
        limit: int,
        failing: int,
        per_endpoint: int,
        per_organization: int,
        without: Collection[str] = (),
        sending: Mapping[str, int] = NOTHING_SENT,
    ) -> Sequence[DueMessage]:
        """Return at most ``limit`` messages that are pending and due, those of endpoints that do not fail first.

        - Of one endpoint at most ``per_endpoint``, those that are due longest. None of an endpoint in ``without``, and
          none of an endpoint that is off.
        - Of one organization at most ``per_organization``, less what ``sending`` counts for it.
        - Of all endpoints whose last attempt failed at most ``failing`` together: dead ones do not hold up the others.
        - In turns: the first message of each organization comes before the second message of any.
        """
        ...

    async def take(self, ids: Sequence[str], *, now: datetime, until: datetime) -> Sequence[Taken]:
        """Take messages that are due, and count the attempt; of several callers one gets each.

        The lease ends at ``until``: a message whose taker has not said by then what became of it is due again, as after
        a kill. Secrets are those that sign at ``now``; one that cannot be opened is left out.
        """
        ...

    async def record(self, attempted: Attempted) -> None:
        """Write what became of an attempt: the message, its log entry and the endpoint, in one transaction.

        Nothing is written when somebody else has taken it since, or the message is gone.
        """
        ...

    async def give_back(self, taken: Taken, *, due_at: datetime) -> None:
        """Have a message taken again from ``due_at`` on, as if it had not been taken."""
        ...

    async def message(self, organization_id: str, message_id: str) -> Message | None:
        """Find a message."""
        ...

    async def resend(self, organization_id: str, message_id: str, *, due_at: datetime) -> bool:
        """Have a message sent again, whatever became of it: as if it had never been tried; False: it is gone.

        One that had ended gets a log entry of its own for this; one that is pending keeps the one that it has.
        """
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` of an organization's messages created before ``before``, whatever their status."""
        ...


class WebhookSender(Protocol):
    """Sends a message: to whatever address somebody has entered, hence with care."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        """Send a body of JSON by POST, and give the answer.

        Only to addresses that :func:`~contentsvc_core.outgoing.endpoints.read_endpoint_url` lets pass: each number of a
        name is public, else nothing is sent, and the connection goes to a number that was checked. Redirects are
        answers. Time is limited, and no more than the beginning of an answer is read.
        """
        ...
