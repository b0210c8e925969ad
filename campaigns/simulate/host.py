"""The code host: its deliveries, retries, and received answers."""

import random
from enum import Enum
from typing import Any, Final, final

from attrs import Factory, define, frozen

from contentsvc_core.testing import address, push_body, release_body, signed
from contentsvc_core.webhooks.delivery import Delivery

_TYPES: Final = ("feat", "fix", "docs", "perf", "chore")


class Kind(Enum):
    """The expected outcome of a delivery, by its kind."""

    #: Stores a context record, a run for each trigger and a log entry.
    WANTED = "wanted"
    #: Stores a log entry with the reason.
    UNWANTED = "unwanted"
    #: Stores a log entry with the fault.
    REFUSED = "refused"


@final
@frozen(kw_only=True)
class Hook:
    """A hook at the code host: an address and a signing secret."""

    organization_id: str
    integration_id: str
    repository_id: int
    secret: str


@final
@define(kw_only=True, eq=False)
class Sent:
    """A delivery, and the answers that its sender got."""

    hook: Hook
    delivery_id: str
    event: str
    kind: Kind
    delivery: Delivery
    #: The number of tries, and of tries with an unknown outcome.
    tries: int = 0
    unknown: int = 0
    #: The names of the outcomes that were answered.
    answers: list[str] = Factory(list[str])
    #: For releases: the key that at most one post of the organization has.
    tag: str | None = None

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Return the key of the claim."""
        hook = self.hook
        return hook.organization_id, hook.integration_id, hook.repository_id, self.delivery_id


@final
class CodeHost:
    """Creates deliveries by a seeded generator."""

    def __init__(self, rng: random.Random, hooks: list[Hook]) -> None:
        self._rng = rng
        self._hooks = hooks
        self._count = 0
        self._shared: list[str] = []

    def next(self) -> Sent:
        """Create a delivery. Another hook may have sent the same id: an id names an event, not a delivery."""
        rng = self._rng
        self._count += 1
        hook = rng.choice(self._hooks)
        delivery_id = f"d-{self._count}"
        event, body, kind, tag = self._content(hook)
        return self._sent(hook, delivery_id, event, body, kind, tag)

    def everywhere(self) -> list[Sent]:
        """Create an event for every hook of one repository id, with one delivery id for all of them."""
        self._count += 1
        repository_id = self._rng.choice(self._hooks).repository_id
        hooks = [hook for hook in self._hooks if hook.repository_id == repository_id]
        event, body, kind, tag = self._content(hooks[0])
        return [self._sent(hook, f"d-{self._count}", event, body, kind, tag) for hook in hooks]

    def _sent(
        self, hook: Hook, delivery_id: str, event: str, body: dict[str, Any] | bytes, kind: Kind, tag: str | None
    ) -> Sent:
        at = address(
            organization_id=hook.organization_id, integration_id=hook.integration_id, repository_id=hook.repository_id
        )
        secret = hook.secret
        if kind is Kind.REFUSED and not isinstance(body, bytes):
            secret = "somebody else's"
        delivery = signed(body, at=at, secret=secret, event=event, delivery_id=delivery_id)
        return Sent(hook=hook, delivery_id=delivery_id, event=event, kind=kind, delivery=delivery, tag=tag)

    def _content(self, hook: Hook) -> tuple[str, dict[str, Any] | bytes, Kind, str | None]:
        rng, number, at = self._rng, self._count, hook.repository_id
        draw = rng.random()
        if draw < 0.60:
            messages = [f"{rng.choice(_TYPES)}: change {number}.{part}" for part in range(rng.randint(1, 3))]
            return "push", push_body(*messages, repository_id=at), Kind.WANTED, None
        if draw < 0.75:
            # Few tags, so that a release is announced twice, by `published` and `prereleased`.
            tag = f"v1.{rng.randint(0, 30)}.0"
            action = rng.choice(("published", "prereleased"))
            return "release", release_body(tag, action=action, repository_id=at), Kind.WANTED, tag
        if draw < 0.83:
            return "push", push_body(f"feat: aside {number}", branch="side", repository_id=at), Kind.UNWANTED, None
        if draw < 0.88:
            return "ping", {"zen": "Keep it simple."}, Kind.UNWANTED, None
        if draw < 0.92:
            return "issues", {"action": "opened"}, Kind.UNWANTED, None
        if draw < 0.96:
            return "push", b'{"ref": "refs/heads/main"', Kind.REFUSED, None
        return "push", push_body(f"feat: forged {number}", repository_id=at), Kind.REFUSED, None
