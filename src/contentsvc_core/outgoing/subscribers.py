import re
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.outgoing.messages import MessageStatus

#: The most subscribers of a changelog, unconfirmed ones included. A batch of mails is one statement.
MAX_SUBSCRIBERS: Final = 5_000
#: The maximum number of unconfirmed subscribers among them: strangers can enter addresses.
MAX_PENDING: Final = 1_000
#: The time for which a confirmation link is valid. After that, the address is deleted.
CONFIRM_WITHIN: Final = timedelta(hours=24)
RESEND_AFTER: Final = timedelta(minutes=15)
#: Posts whose events are older than this at their publication are not mailed: an import is no news.
RECENT: Final = timedelta(days=30)
#: Posts that were published longer ago are not mailed: mail was switched off meanwhile.
STALE: Final = timedelta(days=3)
#: The length of an address in characters (RFC 5321, section 4.5.3.1).
ADDRESS_LIMIT: Final = 254
#: Without the beginning of an encoded word (RFC 2047, section 2), which the parser of mails would decode.
_LOCAL: Final = re.compile(r"(?!.*=\?)[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.ASCII)
_LOCAL_LIMIT: Final = 64
_DOMAIN: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]", re.ASCII)


class SubscriberStatus(Enum):
    PENDING = "pending"
    CONFIRMED = "confirmed"


@final
@frozen(kw_only=True)
class Subscriber:
    """An e-mail address that gets the posts of a public changelog."""

    id: str
    organization_id: str
    changelog_id: str
    #: As :func:`read_address` returns it: unique in a changelog.
    address: str
    status: SubscriberStatus = SubscriberStatus.PENDING
    #: SHA-256 of the token in links: in the confirmation link while pending, then in the unsubscribe link.
    digest: str = field(repr=False)
    #: The time of the request, or of the last request while pending.
    created_at: datetime
    confirmed_at: datetime | None = None


class MailKind(Enum):
    """The kind of a mail. Confirmations are sent first, because readers wait for them."""

    CONFIRMATION = "confirmation"
    POSTS = "posts"


@final
@frozen(kw_only=True)
class AnnouncedPost:
    post_id: str
    at: datetime


@final
@frozen(kw_only=True)
class WaitingPosts:
    organization_id: str
    posts: tuple[AnnouncedPost, ...] = field(converter=tuple[AnnouncedPost, ...])


@final
@frozen(kw_only=True)
class LeasedMail:
    id: str
    kind: MailKind
    subscriber: Subscriber
    #: ``None``: the token cannot be opened with the configured keys.
    token: str | None = field(repr=False)
    #: The batch with the posts; ``None``: the mail is a confirmation.
    batch_id: str | None
    attempts: int
    #: The number of leases: only the last process to lease the mail records an outcome.
    takes: int
    created_at: datetime


@final
@frozen(kw_only=True)
class MailOutcome:
    status: MessageStatus
    at: datetime
    due_at: datetime
    error: str | None = None


def subscription(subscriber: Subscriber, existing: Subscriber | None, *, is_full: bool) -> Subscriber | bool:
    """Return the subscriber that a request stores, or the result of a request that stores nothing.

    ``existing`` is the stored subscriber with the same address; ``is_full``: the changelog's limit is reached.
    """
    if existing is not None and existing.digest == subscriber.digest:
        return True
    if is_full:
        return False
    if existing is None:
        return subscriber
    is_asked = existing.created_at > subscriber.created_at - RESEND_AFTER
    if is_asked or existing.status is SubscriberStatus.CONFIRMED:
        return True
    return evolve(subscriber, id=existing.id)


def read_address(text: str) -> str | None:
    """Return an e-mail address in its stored form: in lower case, its domain in ASCII; ``None``: it is invalid."""
    text = text.strip()
    local, _, domain = text.rpartition("@")
    if len(text) > ADDRESS_LIMIT:
        return None
    try:
        domain = domain.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    local = local.lower()
    usable = len(local) <= _LOCAL_LIMIT and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain)
    address = f"{local}@{domain}"
    return address if usable and len(address) <= ADDRESS_LIMIT else None


def mailbox_of(address: str) -> str:
    """Return an address without dots and without a tag after ``+``, which many servers ignore.

    For limits only: on other servers, such addresses are different mailboxes.
    """
    local, _, domain = address.rpartition("@")
    return f"{local.partition('+')[0].replace('.', '')}@{domain}"
