"""A delivery as it arrived: raw bytes and the parts of the path."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import cached_property
from hashlib import blake2b
from typing import Final, Self, final

from attrs import field, frozen

from contentsvc_core.events.normalized import Push
from contentsvc_core.values import Value
from contentsvc_core.webhooks.providers import Provider, provider_named
from contentsvc_core.webhooks.signature import Verifier, secret_tuple
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.globs import Globs
from contentsvc_core.workflows.triggers import Trigger, matching

#: Optional white space around a header's value does not belong to the value (RFC 9110, section 5.5).
_WHITESPACE: Final = b" \t"


@final
class Address(Value, frozen=True, kw_only=True):
    """The four parts of a webhook's path (specification 4.1), as ``locate`` reads them."""

    #: The slug of a known provider.
    provider: str
    organization_id: str
    integration_id: str
    #: 1 to 2**63 - 1.
    repository_id: int

    @property
    def dialect(self) -> Provider:
        """Return the provider of that slug; raise ``ValueError`` if no provider has it."""
        provider = provider_named(self.provider)
        if provider is None:
            message = f"unknown provider {self.provider!r}"
            raise ValueError(message)
        return provider


@final
class Headers(Value, frozen=True, kw_only=False):
    """Names and values of header fields as raw bytes, in the order of arrival and with repeats."""

    fields: tuple[tuple[bytes, bytes], ...]
    #: The names of all fields, in lower case (RFC 9110, section 5.1).
    names: Collection[bytes]
    #: The values of the fields that occur exactly once, by name.
    sole: Mapping[bytes, bytes]

    @classmethod
    def of(cls, fields: Iterable[tuple[bytes, bytes]]) -> Self:
        """Return header fields; names may be in any case."""
        fields = tuple(fields)
        sole = dict(fields)
        if len(sole) == len(fields) and b"".join(sole).islower():
            return cls(fields, sole, sole)
        names = Counter(name.lower() for name, _ in fields)
        return cls(fields, names, {name.lower(): value for name, value in fields if names[name.lower()] == 1})

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self.fields)

    def __repr__(self) -> str:
        """Return the names only: the value of a shared token is the secret itself."""
        names = b", ".join(name for name, _ in self)
        return f"Headers({names.decode('latin-1')})"

    def value(self, name: bytes) -> bytes | None:
        """Return the value of a field that occurs exactly once; ``name`` is in lower case."""
        value = self.sole.get(name)
        return value and value.strip(_WHITESPACE)

    def values(self, name: bytes) -> tuple[bytes, ...]:
        """Return every value of a field; ``name`` is in lower case."""
        if name not in self.names:
            return ()
        return tuple(value.strip(_WHITESPACE) for each, value in self if each.lower() == name)


@final
class Delivery(Value, frozen=True, kw_only=True, gc=True):
    """One HTTP request to a webhook, from any driver."""

    address: Address
    #: A header that the decision depends on must occur exactly once.
    headers: Headers
    #: The body, exactly as signed.
    body: bytes
    #: The address of the connection; ``None``: unknown.
    peer: str | None = None

    def __repr__(self) -> str:
        """Return the address only: headers and bodies are tenants' data, and long."""
        return f"Delivery(address={self.address!r})"


class Belonging(Enum):
    """The relation of the path's repository to the path's integration."""

    #: The integration has the repository.
    THIS_INTEGRATION = auto()
    #: Another integration of the organization has it: the delivery is refused with 403.
    ANOTHER_INTEGRATION = auto()
    #: No integration of the organization has it: the delivery is refused with 404.
    UNKNOWN = auto()


@final
@frozen(kw_only=True)
class HookConfiguration:
    """The configuration of a hook address, which decides the outcome of deliveries."""

    address: Address
    enabled: bool
    #: The webhook secrets that verify now, in clear; more than one while a rotation overlaps.
    secrets: tuple[str, ...] = field(converter=secret_tuple, repr=False)
    #: Secrets that a rotation has replaced and that verify no more, as far as they are kept: they explain refusals.
    former_secrets: tuple[str, ...] = field(converter=secret_tuple, default=(), repr=False)
    #: The number of further secrets that verify now, but cannot be decrypted with the configured keys.
    unreadable: int = 0
    repository: Belonging
    #: The organization's triggers that may match; :func:`~contentsvc_core.workflows.triggers.matching` decides.
    triggers: tuple[Trigger, ...] = field(converter=tuple[Trigger, ...], factory=tuple)
    #: The change counter of the organization's configuration; a settlement of an older version is stale.
    version: int
    #: The stored branch of the repository, for a provider whose deliveries name no default branch.
    branch: str | None = None
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
    def provider(self) -> Provider:
        return self.address.dialect

    def claim_key(self, delivery_id: str) -> bytes:
        """Return the key of a claim, 16 bytes (BLAKE2b, RFC 7693).

        It includes the hook address: the code host's id identifies the event, not the delivery.
        """
        key = self._hashed_address.copy()
        key.update(f"{len(delivery_id)}:{delivery_id}".encode())
        return key.digest()

    @cached_property
    def _hashed_address(self) -> blake2b:
        # With lengths, so that no two keys share an encoding.
        address = self.address
        parts = (address.organization_id, address.integration_id, str(address.repository_id))
        return blake2b("".join(f"{len(part)}:{part}" for part in parts).encode(), digest_size=16)

    @cached_property
    def verifies(self) -> Verifier:
        return self.provider.scheme.verifier(self.secrets)

    @cached_property
    def is_open(self) -> bool:
        """Return whether verified deliveries are received."""
        return self.enabled and self.repository is Belonging.THIS_INTEGRATION

    @cached_property
    def is_plain(self) -> bool:
        """Return whether no trigger has filters or batches: each of them starts a run for each event of its types."""
        return all(trigger.filter is None and trigger.options.batch is Batch.NONE for trigger in self.triggers)

    @cached_property
    def opened(self) -> tuple[Globs, ...]:
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
    hook: HookConfiguration
