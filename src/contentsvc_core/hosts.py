"""The code host as this service calls it: hooks that it keeps there, what it answers, and what it failed to deliver."""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum, auto
from typing import Final, Generic, TypeVar, final

from attrs import field, frozen

from contentsvc_core.content.pull_requests import PullRequest

#: What our hooks listen to, beside the ping that a code host sends of itself (specification 6).
HOOK_EVENTS: Final = ("push", "release")

_SUCCESS: Final = 2
_Value = TypeVar("_Value")


class HostFault(Enum):
    """Why the code host did not do what it was asked."""

    #: The token is wrong, or may not do that; or there is no such repository or hook: a code host does not tell apart
    #: what is not there and what may not be seen.
    NO_ACCESS = auto()
    #: Too many requests; later it will do.
    RATE_LIMITED = auto()
    #: It cannot be reached, did not answer in time, or has a fault of its own. Whether it was done is unknown.
    UNREACHABLE = auto()
    #: A hook with this address is there already.
    HOOK_EXISTS = auto()
    #: It refused for a reason that it gives.
    REFUSED = auto()
    #: It answered what no code host of this dialect answers. Whether it was done is unknown.
    STRANGE = auto()
    #: It has no such operation.
    UNSUPPORTED = auto()

    @property
    def is_unknown(self) -> bool:
        """Tell whether it may have been done all the same."""
        return self in {HostFault.UNREACHABLE, HostFault.STRANGE}


@final
@frozen(kw_only=True)
class HostRefusal:
    """The code host did not do what it was asked."""

    fault: HostFault
    #: One line for people, with what to do about it; it holds no token.
    reason: str
    #: The HTTP status of its answer; ``None``: there was none.
    status: int | None = None
    #: When a limit ends, in seconds from now; at least 1.
    retry_after_s: int | None = None


@final
@frozen(kw_only=True)
class HostAnswer(Generic[_Value]):
    """The code host did what it was asked."""

    value: _Value
    #: The HTTP status of its answer.
    status: int


@final
@frozen(kw_only=True)
class HostedRepository:
    """A repository, as its code host knows it."""

    #: 1 to 2**63 - 1; it stays when the repository is renamed.
    id: int
    #: ``owner/name`` as it is now.
    full_name: str
    #: ``None``: it has none yet.
    default_branch: str | None


@final
@frozen(kw_only=True)
class Hook:
    """What a webhook at the code host is to be: its payload is JSON, and its events are :data:`HOOK_EVENTS`."""

    #: Where deliveries are sent.
    url: str
    #: What they are signed with.
    secret: str = field(repr=False)


@final
@frozen(kw_only=True)
class HookAccess:
    """How an integration's hook at the code host is reached."""

    #: The code host's name for the hook; ``None``: none was created, or it is not known.
    hook_id: str | None
    #: What the hook was created with; ``None``: it was entered by hand.
    token: str | None = field(repr=False)


@final
@frozen(kw_only=True)
class HostDelivery:
    """An attempt of the code host to deliver."""

    #: The attempt's own id: what a redelivery is asked for by.
    id: str
    #: The event's id, which all its attempts share: the value of the delivery header.
    delivery_id: str
    event: str
    action: str | None
    #: What we answered; 0 where nobody did.
    status_code: int
    delivered_at: datetime

    @property
    def succeeded(self) -> bool:
        """Tell whether it was answered with a 2xx."""
        # RFC 9110, section 15.3.
        return self.status_code // 100 == _SUCCESS


@final
@frozen(kw_only=True)
class HostDeliveries:
    """The attempts of some time."""

    attempts: tuple[HostDelivery, ...] = field(converter=tuple)
    #: False: there were more than are read; those that are missing are the oldest.
    complete: bool


@final
@frozen(kw_only=True)
class HostPullRequests:
    """The pull requests that a code host was asked for, as far as it described them."""

    #: What is no pull request, is unknown, or belongs to another repository is absent.
    found: tuple[PullRequest, ...] = field(converter=tuple, factory=tuple)
    #: Why not all of them were read; ``None``: all were.
    refusal: HostRefusal | None = None


def missed(attempts: Iterable[HostDelivery]) -> list[HostDelivery]:
    """Give the latest attempt of each event that no attempt has delivered, in the order in which they were made."""
    latest: dict[str, HostDelivery] = {}
    delivered: set[str] = set()
    for attempt in sorted(attempts, key=lambda each: (each.delivered_at, each.id)):
        latest.pop(attempt.delivery_id, None)
        latest[attempt.delivery_id] = attempt
        if attempt.succeeded:
            delivered.add(attempt.delivery_id)
    return [attempt for delivery_id, attempt in latest.items() if delivery_id not in delivered]
