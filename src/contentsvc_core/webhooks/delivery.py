"""A delivery as it arrived: raw bytes and the parts of the path."""

from enum import Enum, auto
from functools import cached_property, lru_cache
from typing import final

from attrs import Factory, field, frozen

from contentsvc_core.events.normalized import Push
from contentsvc_core.values import Value
from contentsvc_core.webhooks.providers import Provider, provider_named
from contentsvc_core.webhooks.signature import Verifier
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.globs import Globs
from contentsvc_core.workflows.triggers import Trigger, matching


@final
@frozen(kw_only=True)
class Address:
    """The four parts of a webhook's path (specification 4.1), as ``locate`` reads them."""

    #: The slug of a known provider.
    provider: str
    organization_id: str
    integration_id: str
    #: 1 to 2**63 - 1.
    repository_id: int
    #: The provider of that slug: found once for an address, and not for each delivery.
    speaks: Provider | None = field(
        init=False, eq=False, repr=False, default=Factory(lambda self: provider_named(self.provider), takes_self=True)
    )


@final
class Delivery(Value, frozen=True, kw_only=True, gc=True, dict=True):
    """One HTTP request to a webhook, from any driver."""

    address: Address
    #: Names and values as raw bytes, in the order of arrival and with repeats. A header that decides must occur once.
    headers: tuple[tuple[bytes, bytes], ...]
    #: The body, exactly as signed.
    body: bytes
    #: The address of the connection; ``None``: unknown.
    peer: str | None = None

    def __post_init__(self) -> None:
        vars(self)["named"] = {name.lower(): value for name, value in self.headers}

    def __repr__(self) -> str:
        """Return the address only: headers and bodies are tenants' data, and long."""
        return f"Delivery(address={self.address!r})"

    def values(self, name: str) -> tuple[bytes, ...]:
        """Return every value of the header ``name`` (case-insensitive, RFC 9110 section 5.1)."""
        sent, by_name = _as_sent(name), vars(self)["named"]
        if sent not in by_name:
            return ()
        if len(by_name) == len(self.headers):
            return (by_name[sent],)
        return tuple(value for each, value in self.headers if each.lower() == sent)

    def sole(self, name: str) -> bytes | None:
        """Return the value of the header ``name`` if it occurs exactly once, else ``None``."""
        by_name = vars(self)["named"]
        if len(by_name) == len(self.headers):
            return by_name.get(_as_sent(name))
        values = self.values(name)
        return values[0] if len(values) == 1 else None


@lru_cache(maxsize=64)
def _as_sent(name: str) -> bytes:
    return name.lower().encode("ascii")


class Belonging(Enum):
    """The relation of the path's repository to the path's integration."""

    OURS = auto()
    ANOTHERS = auto()
    UNKNOWN = auto()


def _verifier(address: Address, secrets: tuple[str, ...]) -> Verifier:
    provider = address.speaks
    assert provider is not None
    return provider.scheme.verifier(secrets)


@final
@frozen(kw_only=True)
class HookConfiguration:
    """The configuration of a hook address, which decides the outcome of deliveries."""

    address: Address
    enabled: bool
    #: The webhook secrets that verify now, in clear; more than one while a rotation overlaps.
    secrets: tuple[str, ...] = field(converter=tuple, repr=False)
    #: Secrets that a rotation has replaced and that verify no more, as far as they are kept: they explain refusals.
    former_secrets: tuple[str, ...] = field(converter=tuple, default=(), repr=False)
    repository: Belonging
    #: The organization's triggers that may match; :func:`~contentsvc_core.workflows.triggers.matching` decides.
    triggers: tuple[Trigger, ...] = field(converter=tuple, factory=tuple)
    #: The change counter of the organization's configuration; a settlement of an older version is stale.
    version: int
    #: The stored branch of the repository, for a provider whose deliveries name no default branch.
    branch: str | None = None
    verifies: Verifier = field(
        init=False,
        eq=False,
        repr=False,
        default=Factory(lambda self: _verifier(self.address, self.secrets), takes_self=True),
    )
    #: Results of :meth:`started_by` by event type: a configuration is cached, and may have thousands of triggers.
    _started: dict[str, tuple[Trigger, ...]] = field(init=False, eq=False, repr=False, factory=dict)

    def started_by(self, event_type: str) -> tuple[Trigger, ...]:
        """Return the triggers that an event of the configuration's repository starts, in their order."""
        triggers = self._started.get(event_type)
        if triggers is None:
            address = self.address
            triggers = self._started[event_type] = matching(
                self.triggers,
                organization_id=address.organization_id,
                source_type=source_type(address.provider),
                repository_id=address.repository_id,
                event_type=event_type,
            )
        return triggers

    @cached_property
    def is_plain(self) -> bool:
        """Return whether no trigger has filters or batches: each of them starts a run for each event of its types."""
        return all(trigger.filter is None and trigger.options.batch is Batch.NONE for trigger in self.triggers)

    @cached_property
    def opened(self) -> "tuple[Globs, ...]":
        """Return the branches beside the default branch whose pushes are processed: triggers name them."""
        branch_filters = (
            trigger.filter.branches for trigger in self.started_by(Push.type) if trigger.filter is not None
        )
        return tuple(branches for branches in branch_filters if branches is not None)


@final
class VerifiedDelivery(Value, frozen=True, kw_only=True):
    """A delivery with a valid signature, for a connected repository.

    Only :func:`~contentsvc_core.webhooks.decision.admit` creates verified deliveries, and
    :func:`~contentsvc_core.webhooks.decision.decide` accepts nothing else: no code can parse an unverified body.
    """

    delivery: Delivery
    branch: str | None = None
    opened: tuple[Globs, ...] = ()
