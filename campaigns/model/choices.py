"""The choices of scripts: few, so that steps meet the same objects; the simplest first, because Hypothesis shrinks."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, final

from attrs import evolve, frozen
from campaigns.model.material import (
    ASTRAY,
    BODIES,
    FOUNDED,
    HOOKS,
    INTEGRATIONS,
    NEWCOMERS,
    ORGANIZATIONS,
    Flaw,
    Sending,
)
from campaigns.model.model import A_DAY
from hypothesis import strategies as st

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.workflows.runs import RunStatus

_MS: Final = timedelta(milliseconds=1)
#: The bodies, which every hook has.
_LABELS: Final = [*next(iter(BODIES.values()))]
#: The number of bodies that are processed.
_SOUND: Final = 6

#: The position of an object among several, modulo their number.
WHICH: Final = st.integers(0, 7)
OWNERS: Final = st.sampled_from([organization.id for organization in ORGANIZATIONS])
SPANS: Final = st.sampled_from(
    [
        timedelta(seconds=1),
        _MS,
        timedelta(minutes=1),
        timedelta(hours=1),
        A_DAY - _MS,
        A_DAY,
        timedelta(days=7),
        timedelta(days=30),
        # Clocks are also set back.
        -timedelta(seconds=5),
        -timedelta(hours=1),
    ]
)
LIMITS: Final = st.sampled_from([10, 1, 2, 100])
#: The key that at most one post has.
ONCE: Final = st.sampled_from([None, "v1", "v2"])


@final
@frozen(kw_only=True)
class Switching:
    """A trigger or an integration is switched on or off."""

    #: A trigger by its place; ``None``: the integration.
    trigger: int | None = None
    integration: str = INTEGRATIONS[0].id
    owner: str
    enabled: bool


@final
@frozen(kw_only=True)
class Settling:
    """An earlier settlement is settled again."""

    which: int


@final
@frozen(kw_only=True)
class Taking:
    """An executor takes a run, by its position among the pending ones.

    One run only: of several runs that two executors request at once, each executor may get some, and PostgreSQL skips
    rows that are locked at the moment. The promise is that each run goes to one executor.
    """

    place: int


@final
@frozen(kw_only=True)
class Completing:
    """A run that was taken gets its post."""

    once: str | None
    published: bool


@final
@frozen(kw_only=True)
class Ending:
    """A run that was taken ends without a post."""

    status: RunStatus


@final
@frozen(kw_only=True)
class Retrying:
    """A taken run is retried."""

    wait: timedelta


@final
@frozen(kw_only=True)
class Remembering:
    """A step of a run that was taken is finished."""

    step: str
    result: str


@final
@frozen(kw_only=True)
class GivingBack:
    """A run that was taken is put back."""


@final
@frozen(kw_only=True)
class Cancelling:
    """An operator cancels a run, by its position, in any state."""

    owner: str


@final
@frozen(kw_only=True)
class Creating:
    """A trigger is created."""

    owner: str
    repositories: tuple[int, ...]
    provider: str
    kinds: tuple[str, ...]


@final
@frozen(kw_only=True)
class Retargeting:
    """A trigger, by its place, is changed, or removed."""

    owner: str
    which: int
    #: ``None``: it is removed.
    repositories: tuple[int, ...] | None
    kinds: tuple[str, ...]


Doing = Completing | Ending | Retrying | Remembering | GivingBack | Cancelling
Change = Switching | Creating | Retargeting | Integration | Organization
Move = Sending | Switching | Settling | Taking | Completing


def sendings(*, sound: bool = False) -> st.SearchStrategy[Sending]:
    """Return a delivery; a sound one is processed where it is connected and enabled, unless it is a duplicate."""
    if sound:
        return _sent([*HOOKS], labels=_LABELS[:_SOUND])
    return st.one_of(_sent([*HOOKS]), _sent([*HOOKS]), _sent([*HOOKS], flaws=[*Flaw]), _sent([*ASTRAY]))


def _sent(
    hooks: Sequence[str], *, labels: Sequence[str] = _LABELS, flaws: Sequence[Flaw] = (Flaw.NONE,)
) -> st.SearchStrategy[Sending]:
    return st.builds(
        Sending,
        to=st.sampled_from(hooks),
        delivery_id=st.sampled_from(["d-0", "d-1", "d-2"]),
        label=st.sampled_from(labels),
        flaw=st.sampled_from(flaws),
    )


def another(sending: Sending, which: int) -> Sending:
    """Return another event under the same delivery id."""
    return evolve(sending, label=_LABELS[which % _SOUND])


def switchings() -> st.SearchStrategy[Switching]:
    """Return a switch, now and then of another organization's."""
    return st.builds(
        Switching,
        trigger=WHICH | st.none(),
        integration=st.sampled_from([integration.id for integration in INTEGRATIONS]),
        owner=st.sampled_from(["org_acme", "org_acme", "org_zenith"]),
        enabled=st.booleans(),
    )


def changes() -> st.SearchStrategy[Change]:
    """Return the changes of organizations."""
    repositories = st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple)
    kinds = st.sampled_from([(), ("push",), ("release",), ("push", "release")])
    return st.one_of(
        switchings(),
        st.builds(
            Creating,
            owner=OWNERS,
            repositories=repositories,
            provider=st.sampled_from(["codehost", "github"]),
            kinds=kinds,
        ),
        st.builds(Retargeting, owner=OWNERS, which=WHICH, repositories=repositories | st.none(), kinds=kinds),
        st.sampled_from(NEWCOMERS),
        st.sampled_from(FOUNDED),
    )


def copies() -> st.SearchStrategy[list[Sending]]:
    """Return several copies of one delivery."""
    return st.builds(copies_of, sendings(sound=True), st.integers(2, 5))


def copies_of(sending: Sending, number: int) -> list[Sending]:
    return [sending] * number


def moves() -> st.SearchStrategy[Move]:
    """Return operations that run concurrently with others."""
    return st.one_of(
        sendings(sound=True),
        sendings(sound=True),
        switchings(),
        st.builds(Taking, place=st.integers(0, 2)),
        st.builds(Settling, which=WHICH),
        _completings(),
    )


def doings() -> st.SearchStrategy[Doing]:
    """Return operations on a run."""
    return st.one_of(
        _completings(),
        _completings(),
        st.builds(Remembering, step=st.sampled_from(["write", "render"]), result=st.sampled_from(["1", "2"])),
        st.builds(Retrying, wait=SPANS),
        st.builds(Ending, status=st.sampled_from([RunStatus.SKIPPED, RunStatus.FAILED])),
        st.just(GivingBack()),
        st.builds(Cancelling, owner=OWNERS),
    )


def _completings() -> st.SearchStrategy[Completing]:
    return st.builds(Completing, once=ONCE, published=st.booleans())


def queries() -> st.SearchStrategy[PostQuery]:
    return st.builds(
        PostQuery,
        ascending=st.booleans(),
        statuses=st.lists(st.sampled_from(PostStatus), unique=True, max_size=1),
        content_types=st.lists(st.sampled_from([*ContentType][:2]), unique=True, max_size=2),
    )


def page_requests() -> st.SearchStrategy[PageRequest]:
    """Return a page, which may be beyond the last one."""
    return st.builds(PageRequest, limit=st.sampled_from([10, 1, 2]), page=st.sampled_from([1, 1, 1, 2, 3, 2**63 - 1]))
