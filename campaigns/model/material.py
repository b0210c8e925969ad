"""The material of scripts: organizations, hooks, deliveries of every kind, and predictable ids."""

from collections import Counter
from contextvars import ContextVar
from datetime import datetime
from enum import Enum, auto
from typing import Any, Final, final

from attrs import Factory, define, evolve, field, frozen

from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.testing import START, push_body, release_body, signed
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers


class Fault(Enum):
    """A fault on the service's side while a delivery is received."""

    NONE = auto()
    #: The store raises before it reads: a bug, or an unreadable row.
    BROKEN = auto()
    #: The connection is cut before COMMIT.
    CUT_BEFORE = auto()
    #: The connection is cut right after COMMIT: the outcome is unknown.
    CUT_AFTER = auto()
    #: The integration is switched off when the delivery is decided, but not settled yet.
    SWITCHED_OFF = auto()


@final
@define(kw_only=True)
class Lane:
    """One of several concurrent operations: its ids do not depend on the order."""

    step: int
    number: int = 0
    fault: Fault = Fault.NONE
    counts: Counter[str] = Factory(Counter[str])


LANE: Final[ContextVar[Lane]] = ContextVar("LANE")


def minted(prefix: str, step: int, lane: int, number: int) -> str:
    """Return the ``number``-th id of a kind, for a lane of a step; ids of later steps sort behind."""
    return f"{prefix}{step:08d}-{lane:04d}-7000-8000-{number:012d}"


@final
class LaneIds:
    def new_id(self, prefix: str) -> str:
        lane = LANE.get()
        lane.counts[prefix] += 1
        return minted(prefix, lane.step, lane.number, lane.counts[prefix])

    def token(self, length: int) -> str:
        return self.new_id("").ljust(length, "0")[:length]


def _organization(slug: str, days: int) -> Organization:
    return Organization(id=f"org_{slug}", slug=slug, name=slug.title(), retention_days=days, created_at=START)


def integration(id_: str, owner: str, *repositories: int, provider: str = "codehost") -> Integration:
    """Return an integration of numbered repositories."""
    return Integration(
        id=f"int_{id_}",
        organization_id=f"org_{owner}",
        provider=provider,
        repositories=tuple(
            Repository(id=number, full_name=f"{owner}/r{number}", branch="main") for number in repositories
        ),
        created_at=START,
    )


def secret_of(integration_id: str) -> str:
    return f"whsec_{integration_id}"


ORGANIZATIONS: Final = (_organization("acme", 7), _organization("zenith", 30))
#: Both organizations have connected repository 1, one of them at both providers.
INTEGRATIONS: Final = (
    integration("a", "acme", 1, 2),
    integration("b", "acme", 3),
    integration("g", "acme", 1, provider="github"),
    integration("z", "zenith", 1),
)

#: Organizations that may be added: an existing one, a new one, and one whose slug is taken.
FOUNDED: Final = (ORGANIZATIONS[0], _organization("third", 30), evolve(_organization("rival", 30), slug="acme"))
#: Three of these repeat a connected repository: by its id, by its name, and beside a free one.
NEWCOMERS: Final = (
    integration("n", "acme", 4),
    integration("m", "acme", 5, 1),
    integration("o", "acme", 1, provider="codehost"),
    evolve(integration("p", "acme", 8), repositories=[Repository(id=8, full_name="ACME/R1", branch=None)]),
    integration("q", "zenith", 4, 2),
)


def _hooks(*known: tuple[str, str, int] | tuple[str, str, int, str]) -> dict[str, Address]:
    """Name addresses by their owner, integration and repository."""
    hooks: dict[str, Address] = {}
    for owner, id_, repository_id, *provider in known:
        hook = Address(
            provider=provider[0] if provider else "codehost",
            organization_id=f"org_{owner}",
            integration_id=f"int_{id_}",
            repository_id=repository_id,
        )
        hooks["/".join((*provider, owner, id_, str(repository_id)))] = hook
    return hooks


#: Addresses that receive.
HOOKS: Final = _hooks(
    ("acme", "a", 1),
    ("acme", "a", 2),
    ("acme", "b", 3),
    ("acme", "g", 1, "github"),
    ("zenith", "z", 1),
    # Perhaps connected by an added integration.
    ("acme", "n", 4),
)
#: Addresses that do not receive: another integration's repository, an unknown one, another tenant's integration,
#: another provider's, and an integration and an organization that do not exist.
ASTRAY: Final = _hooks(
    ("acme", "a", 3),
    ("acme", "a", 9),
    ("zenith", "a", 1),
    ("acme", "a", 1, "github"),
    ("acme", "nobody", 1),
    ("nobody", "a", 1),
)


class Flaw(Enum):
    """The fault of a delivery outside of its body."""

    NONE = auto()
    WRONG_SECRET = auto()
    UNSIGNED = auto()
    NO_EVENT = auto()
    NO_DELIVERY = auto()
    BAD_DELIVERY = auto()
    FORM_ENCODED = auto()


@final
@frozen(kw_only=True)
class Body:
    """A native body and its event header."""

    kind: str
    #: Its name in scripts.
    label: str
    native: dict[str, Any] | bytes = field(repr=False, hash=False)
    #: The message to the sender of a broken body.
    error: str | None = None


def _bodies(hook: Address) -> tuple[Body, ...]:
    """Return a body of every kind for a hook, processed ones first."""
    number, name = hook.repository_id, f"{hook.organization_id.removeprefix('org_')}/r{hook.repository_id}"
    repository = {"id": number, "full_name": name, "default_branch": "main"}

    def push(label: str, *messages: str, **changes: Any) -> Body:
        native = push_body(*messages, repository_id=number, repository=name)
        return Body(kind="push", label=label, native={**native, **changes})

    def release(label: str, action: str = "published", tag: str = "v1", **changes: Any) -> Body:
        native = release_body(tag, action=action, repository_id=number, repository=name)
        return Body(kind="release", label=label, native={**native, "release": {**native["release"], **changes}})

    def broken(kind: str, native: dict[str, Any] | bytes, error: str) -> Body:
        return Body(kind=kind, label=f"{kind}: {error}", native=native, error=f"Invalid payload: {error}")

    sound = push("").native
    assert isinstance(sound, dict)
    trunk = {**repository, "default_branch": "feature/trunk"}
    return (
        push("one commit", "feat: lamp"),
        push("two commits", "fix: ⚓ holds", "docs: say so\n\nand why"),
        release("v1"),
        release("v2, a pre-release", "prereleased", "v2", prerelease=True, published_at=None, body=None),
        push("trunk", "feat: lamp", ref="refs/heads/feature/trunk", repository=trunk),
        push("renamed", "feat: lamp", repository={**repository, "full_name": "moved/away"}),
        push("another branch", "feat: lamp", ref="refs/heads/dev"),
        push("a tag", "feat: lamp", ref="refs/tags/main"),
        push("the branch deleted"),
        push("no commits", head_commit={"id": "ab", "message": "old"}),
        *(release(action, action) for action in ("created", "edited", "deleted", "released", "unpublished")),
        release("a draft", draft=True, published_at=None, name=None),
        Body(kind="ping", label="ping", native={"zen": "Keep it simple"}),
        Body(kind="issues", label="issues", native={"action": "opened"}),
        Body(kind="star", label="star", native={}),
        push("another repository's", "feat: lamp", repository={**repository, "id": 77}),
        broken("push", b"[]", "the body must be an object"),
        broken("ping", b"null", "the body must be an object"),
        broken("push", {**sound, "ref": None}, "ref must be a string"),
        broken("push", {**sound, "commits": [7]}, "commits[0] must be an object"),
        broken("release", {"action": "published"}, "release is missing"),
        broken("issues", b"\xff", "the body is not UTF-8 (byte 0)"),
    )


#: By the hook's name and the label.
BODIES: Final = {name: {body.label: body for body in _bodies(hook)} for name, hook in (HOOKS | ASTRAY).items()}


@final
@frozen(kw_only=True)
class Sending:
    """A delivery of a script, described by names; a script may send it again."""

    to: str
    delivery_id: str
    label: str
    flaw: Flaw = Flaw.NONE

    @property
    def hook(self) -> Address:
        return HOOKS.get(self.to) or ASTRAY[self.to]

    @property
    def body(self) -> Body:
        return BODIES[self.to][self.label]


@final
@frozen(kw_only=True)
class Arrival:
    """One arrival of a sending: its time, and its position among concurrent operations."""

    sending: Sending
    at: datetime
    step: int
    lane: int = 0
    fault: Fault = Fault.NONE


def delivery_of(sending: Sending) -> Delivery:
    """Return the request of a sending."""
    flaw = sending.flaw
    created = signed(
        sending.body.native,
        at=sending.hook,
        secret="another" if flaw is Flaw.WRONG_SECRET else secret_of(sending.hook.integration_id),
        event=sending.body.kind,
        delivery_id="no token" if flaw is Flaw.BAD_DELIVERY else sending.delivery_id,
    )
    dropped = {Flaw.UNSIGNED: b"-signature-256", Flaw.NO_EVENT: b"-event", Flaw.NO_DELIVERY: b"-delivery"}.get(flaw)
    headers = [(name, value) for name, value in created.headers if dropped is None or not name.endswith(dropped)]
    if flaw is Flaw.FORM_ENCODED:
        headers = [
            (name, b"application/x-www-form-urlencoded" if name == b"content-type" else value)
            for name, value in headers
        ]
    return Delivery(address=sending.hook, headers=Headers.of(headers), body=created.body)
