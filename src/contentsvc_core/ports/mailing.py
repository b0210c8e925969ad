from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contentsvc_core.outgoing.letters import Letter, SentLetter
from contentsvc_core.outgoing.subscribers import (
    MAX_PENDING,
    MAX_SUBSCRIBERS,
    AnnouncedPost,
    LeasedMail,
    MailOutcome,
    Subscriber,
    WaitingPosts,
)


class Subscribers(Protocol):
    """The subscribers of changelogs. The stores keep tokens as digests, and encrypted for the mails."""

    async def request(
        self, subscriber: Subscriber, token: str, *, at_most: int = MAX_SUBSCRIBERS, pending: int = MAX_PENDING
    ) -> bool:
        """Store a pending subscriber and its confirmation mail; ``False``: the changelog's limit is reached.

        A confirmed address stays unchanged, and gets no mail. A pending address gets the new token and another mail,
        unless its last mail is less than ``RESEND_AFTER`` old. The result does not disclose which was the case.
        """
        ...

    async def confirm(self, digest: str, *, at: datetime, new_digest: str, new_token: str) -> Subscriber | None:
        """Confirm a pending subscriber, and replace its token; ``None``: unknown, or ``CONFIRM_WITHIN`` has passed."""
        ...

    async def remove(self, digest: str) -> bool:
        """Delete the subscriber with a digest, and its mails; ``False``: the digest is unknown."""
        ...

    async def remove_address(self, organization_id: str, address: str) -> int:
        """Delete an address from all changelogs of an organization; return the number of subscriptions."""
        ...

    async def subscribers(self, organization_id: str) -> Sequence[Subscriber]:
        """List the subscribers of an organization by changelog and address."""
        ...

    async def confirmed(self, organization_id: str) -> Mapping[str, int]:
        """Count the confirmed subscribers of an organization, by changelog; changelogs without any are left out."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` pending subscribers that were requested before ``before``."""
        ...


class Mailbox(Protocol):
    """The durable outbox of mails.

    The transaction that publishes a post announces it, when its organization has confirmed subscribers. A post is
    announced once, also when it is withdrawn and published again. A batch turns announced posts into one mail for each
    subscriber. Mails are taken under a lease and retried, as messages are (:class:`~contentsvc_core.ports.Outbox`).
    """

    async def waiting(self, before: datetime, *, limit: int, posts: int) -> Sequence[WaitingPosts]:
        """List the posts that no batch has, oldest first, of organizations whose oldest one has waited long enough."""
        ...

    async def batch(self, waiting: WaitingPosts, batch_id: str, *, changelog_ids: Sequence[str], at: datetime) -> int:
        """Create a batch of waiting posts with its mails; return their number, 0 if another process has a post."""
        ...

    async def posts(self, batch_id: str) -> Sequence[AnnouncedPost]: ...

    async def take(self, *, limit: int, now: datetime, lease: timedelta) -> Sequence[LeasedMail]:
        """Lease due mails for ``lease`` and count the attempt; confirmations first. Each goes to one caller."""
        ...

    async def record(self, taken: LeasedMail, outcome: MailOutcome) -> None:
        """Store the outcome of an attempt, unless another process took the mail since, or the mail is gone."""
        ...

    async def errors(self, organization_id: str) -> Mapping[str, str]:
        """Return the error of each subscriber's last failed mail, by subscriber; the others are left out."""
        ...

    async def requeue(self, taken: LeasedMail, *, due_at: datetime) -> None:
        """Set a mail due at ``due_at``, and do not count the attempt."""
        ...

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` mails, and as many announced posts, that are older than ``before``."""
        ...


class MailSender(Protocol):
    async def send(self, letters: Sequence[Letter]) -> Sequence[SentLetter]:
        """Send letters over one connection and return the outcome of each; faults of the server are values."""
        ...
