from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.events import Occurrence
from contentsvc_core.outgoing.failing import IntegrationAlert
from contentsvc_core.outgoing.messages import Attempted, DueMessage, FreePlaces, LeasedMessage, Message
from contentsvc_core.outgoing.recipients import Recipient
from contentsvc_core.outgoing.retries import Answer, NotSent
from contentsvc_core.refusals import Refusal


class WebhookEndpoints(Protocol):
    """The webhook endpoints of organizations; secrets are sealed.

    Messages are written in the transaction that completes or fails a run, or publishes a post.
    """

    async def add(self, endpoint: WebhookEndpoint, secret: str) -> WebhookEndpoint | Refusal:
        """Store an endpoint and return it; a repeated call returns the stored one. Concurrent calls keep the limit."""
        ...

    async def endpoint(self, organization_id: str, endpoint_id: str) -> WebhookEndpoint | None: ...

    async def endpoints(self, organization_id: str) -> Sequence[WebhookEndpoint]:
        """List an organization's endpoints, oldest first."""
        ...

    async def change(
        self, organization_id: str, endpoint_id: str, change: Callable[[WebhookEndpoint], WebhookEndpoint]
    ) -> WebhookEndpoint | None:
        """Apply ``change`` to the current endpoint, and return the new endpoint; ``None``: it is unknown.

        ``change`` is a pure function, may be called several times, and keeps the ids. Messages that wait while an
        endpoint is disabled are sent when it is enabled again.
        """
        ...

    async def rotate(
        self, organization_id: str, endpoint_id: str, secret: str, *, overlap_until: datetime
    ) -> WebhookEndpoint | None:
        """Store a new secret; the previous one also signs until ``overlap_until``, and an older one expires now."""
        ...

    async def remove(self, organization_id: str, endpoint_id: str) -> bool:
        """Delete an endpoint, its secrets and messages; ``False``: it is unknown. Pending log entries fail."""
        ...

    async def sweep_secrets(self, now: datetime) -> int:
        """Delete the previous secrets whose overlap has ended at ``now``; return their number."""
        ...


class Outbox(Protocol):
    """The outbox of messages. One process leases a message at a time; the outcome of the last lease counts."""

    async def add(self, message: Message) -> None:
        """Store a message in a transaction of its own; a repeated call changes nothing."""
        ...

    async def due(self, now: datetime, places: FreePlaces) -> Sequence[DueMessage]:
        """Return the pending messages that are due, those of healthy endpoints first, for as many places as are free.

        * Of one endpoint, the longest due ones. None of an endpoint that is disabled.
        * In turns: the first message of each organization comes before the second message of any.
        """
        ...

    async def take(
        self, ids: Sequence[str], *, now: datetime, lease: timedelta, mail_lease: timedelta | None = None
    ) -> Sequence[LeasedMessage]:
        """Lease messages that are due; each message goes to one caller. Only a recorded attempt counts.

        The lease lasts for ``lease``, that of a message by mail for ``mail_lease`` (default: ``lease``). The database
        measures a lease by its own clock, so the clocks of processes need not agree. A message without a recorded
        outcome is due again at its end. The secrets are the ones that sign at ``now``; a message whose secret cannot be
        opened is left out. A message by mail comes with the recipients among the addresses of its endpoint.
        """
        ...

    async def record(self, attempted: Attempted) -> None:
        """Write the outcome of an attempt to the message, its log entry and the endpoint, in one transaction.

        If the outcome disables the endpoint, the messages of ``attempted.event`` are written. Other due messages of a
        busy endpoint wait until ``attempted.busy_until``. Nothing is written when another process has leased the
        message since, or the message is gone.
        """
        ...

    async def requeue(self, taken: LeasedMessage, *, due_at: datetime) -> None:
        """Set a message due at ``due_at``, if its lease is still this one."""
        ...

    async def message(self, organization_id: str, message_id: str) -> Message | None: ...

    async def resend(self, organization_id: str, message_id: str, *, due_at: datetime) -> bool:
        """Set a message pending with all attempts left, with a new log entry if it had ended; ``False``: it is gone."""
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` of an organization's messages created before ``before``, whatever their status."""
        ...


class Recipients(Protocol):
    """The recipients of organizations. The stores keep tokens as digests, and encrypted for the mails.

    An address is confirmed once for all endpoints of its organization.
    """

    async def ask(self, recipient: Recipient, token: str, message: Message) -> None:
        """Store an unconfirmed recipient, or its new token, and the message that asks it, in one transaction.

        Nothing is written for an address that is confirmed or removed.
        """
        ...

    async def confirm(self, digest: str, *, at: datetime, new_digest: str, new_token: str) -> Recipient | None:
        """Confirm the recipient with a digest.

        An unconfirmed recipient gets the new token, so that its link works once; ``None`` if ``CONFIRM_WITHIN`` has
        passed. A removed recipient keeps its token: earlier mails have it. ``None``: the digest is unknown.
        """
        ...

    async def leave(self, digest: str) -> Recipient | None:
        """Remove the recipient with a digest: it gets no more messages; ``None``: the digest is unknown."""
        ...

    async def recipients(self, organization_id: str) -> Sequence[Recipient]:
        """List an organization's recipients by address."""
        ...

    async def give_token(self, recipient: Recipient, *, digest: str, token: str) -> str | None:
        """Set the token of a recipient that has none, or one that the keys do not open, and return the token.

        If another process has set a token meanwhile, return that token; ``None``: the recipient is gone.
        """
        ...

    async def forget(self, organization_id: str, *, used: Collection[str]) -> int:
        """Delete the confirmed recipients that are not in ``used``; return their number."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` unconfirmed recipients that were asked before ``before``."""
        ...


class Alerts(Protocol):
    """The failure periods of integrations, each reported once: messages are written in the same transaction."""

    async def watched(self) -> Sequence[str]:
        """List the organizations with an enabled endpoint that subscribes to failing or recovered integrations."""
        ...

    async def alerts(self, organization_id: str) -> Mapping[str, IntegrationAlert]:
        """Return the last failure period of each integration, by the integration's id."""
        ...

    async def begin(self, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        """Begin a failure period; ``False``: a period lasts already, or the integration was removed."""
        ...

    async def end(self, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        """End the failure period of an integration; ``False``: no period lasts."""
        ...


class WebhookSender(Protocol):
    """Sends messages to URLs that users have entered. The URLs are untrusted."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        """Send a JSON body by POST, and return the answer.

        Only addresses that :func:`~contentsvc_core.outgoing.targets.read_endpoint_url` allows are contacted. Each IP
        address of a host name must be public, else nothing is sent; the connection uses an address that was checked.
        Redirects are not followed: they are answers. Time is limited, and only the beginning of an answer is read.
        """
        ...
