from collections.abc import Iterable
from datetime import datetime
from enum import Enum, auto
from typing import Final, Generic, TypeVar, final

from attrs import field, frozen

from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.events.normalized import Commit
from contentsvc_core.refusals import Refusal, RefusalKind

#: The events that our hooks subscribe to, besides the code host's own ping (specification 6).
HOOK_EVENTS: Final = ("push", "release")

_SUCCESS: Final = 2
_Value = TypeVar("_Value")


class HostFault(Enum):
    #: The token is invalid or lacks a right, or a resource is missing or hidden: code hosts do not distinguish these.
    NO_ACCESS = auto()
    RATE_LIMITED = auto()
    #: No connection, no answer in time, or an internal error of the code host. The effect of the call is unknown.
    UNREACHABLE = auto()
    HOOK_EXISTS = auto()
    REFUSED = auto()
    #: The answer does not fit the API. The effect of the call is unknown.
    STRANGE = auto()
    UNSUPPORTED = auto()

    @property
    def is_unknown(self) -> bool:
        """Check whether the call may have had its effect all the same."""
        return self in {HostFault.UNREACHABLE, HostFault.STRANGE}


#: The field of a request that a refusal of the code host is about.
_AT_FAULT: Final = {HostFault.UNSUPPORTED: "repository_id", HostFault.NO_ACCESS: "token"}


@final
@frozen(kw_only=True)
class HostRefusal:
    """The reason why a code host refused a request, or gave no answer."""

    fault: HostFault
    #: One line for people, with advice; it contains no token.
    reason: str
    status: int | None = None
    #: The time until a rate limit ends, in seconds; at least 1.
    retry_after_s: int | None = None

    @property
    def refusal(self) -> Refusal:
        match self.fault:
            case HostFault.UNREACHABLE | HostFault.STRANGE:
                kind, at_fault = RefusalKind.HOST_UNREACHABLE, None
            case HostFault.RATE_LIMITED:
                kind, at_fault = RefusalKind.HOST_BUSY, None
            case _:
                kind, at_fault = RefusalKind.HOST_REFUSED, _AT_FAULT.get(self.fault)
        return Refusal(kind, self.reason, at_fault, retry_after_s=self.retry_after_s)


@final
@frozen(kw_only=True)
class HostAnswer(Generic[_Value]):
    value: _Value
    status: int


@final
@frozen(kw_only=True)
class RemoteRepository:
    id: int
    full_name: str
    #: ``None``: the repository is empty.
    default_branch: str | None


@final
@frozen(kw_only=True)
class Hook:
    """A webhook to create at the code host. Its payload is JSON, and its events are :data:`HOOK_EVENTS`."""

    url: str
    secret: str = field(repr=False)


@final
@frozen(kw_only=True)
class HookAccess:
    #: The code host's id of the hook; ``None``: no hook was created, or its id is unknown.
    hook_id: str | None
    #: The token that the hook was created with; ``None``: the hook was entered by hand.
    token: str | None = field(repr=False)


@final
@frozen(kw_only=True)
class HostDelivery:
    #: The attempt's own id; redeliveries are requested with it.
    id: str
    #: The event's id, which all its attempts share: the value of the delivery header.
    delivery_id: str
    event: str
    action: str | None
    #: The status of our answer; 0: there was no answer.
    status_code: int
    delivered_at: datetime

    @property
    def succeeded(self) -> bool:
        return self.status_code // 100 == _SUCCESS


@final
@frozen(kw_only=True)
class HostDeliveries:
    attempts: tuple[HostDelivery, ...] = field(converter=tuple[HostDelivery, ...])
    #: False: the list was cut, and the oldest attempts are missing.
    complete: bool


@final
@frozen(kw_only=True)
class CommitRange:
    """The commits of a push of which the code host listed the newest only."""

    head: str
    #: The commit that ends the range; ``""``: all commits of the head.
    before: str
    limit: int


@final
@frozen(kw_only=True)
class HostCommits:
    #: Oldest first.
    found: tuple[Commit, ...] = field(converter=tuple[Commit, ...], factory=tuple)
    #: True: there are more than the limit, and the oldest ones are absent.
    is_cut: bool = False
    #: Why the reading failed, so that nothing was found; ``None``: it did not.
    refusal: HostRefusal | None = None


@final
@frozen(kw_only=True)
class HostPullRequests:
    #: Numbers that are unknown, name an issue, or belong to another repository are absent.
    found: tuple[PullRequest, ...] = field(converter=tuple[PullRequest, ...], factory=tuple)
    #: Why the reading stopped early; ``None``: all were read.
    refusal: HostRefusal | None = None


def missed(attempts: Iterable[HostDelivery]) -> list[HostDelivery]:
    """Return the latest attempt of each event without a successful attempt, in the order of the attempts."""
    latest: dict[str, HostDelivery] = {}
    delivered: set[str] = set()
    for attempt in sorted(attempts, key=lambda each: (each.delivered_at, each.id)):
        latest.pop(attempt.delivery_id, None)
        latest[attempt.delivery_id] = attempt
        if attempt.succeeded:
            delivered.add(attempt.delivery_id)
    return [attempt for delivery_id, attempt in latest.items() if delivery_id not in delivered]
