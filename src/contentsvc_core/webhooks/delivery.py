"""A delivery as it arrived: bytes and facts about the path, nothing parsed yet."""

from enum import Enum, auto
from functools import lru_cache
from hmac import HMAC
from typing import final

from attrs import Factory, field, frozen

from contentsvc_core.values import Value
from contentsvc_core.webhooks.signature import keyed
from contentsvc_core.workflows.triggers import Trigger, matching, source_type


@final
@frozen(kw_only=True)
class Address:
    """The four parts of a webhook's path (specification 4.1), as ``locate`` reads them."""

    #: The provider's slug, one that is known.
    provider: str
    organization_id: str
    integration_id: str
    #: 1 to 2**63 - 1.
    repository_id: int


@final
class Delivery(Value, frozen=True, kw_only=True, gc=True, dict=True):
    """One HTTP request to a webhook, from whatever driver."""

    address: Address
    #: Names and values as raw bytes, in the order of arrival, repeats included: one that decides must be there once.
    headers: tuple[tuple[bytes, bytes], ...]
    #: The body, exactly as signed.
    body: bytes

    def __post_init__(self) -> None:
        """Index the headers by their names in lower case."""
        vars(self)["named"] = {name.lower(): value for name, value in self.headers}

    def __repr__(self) -> str:
        """Return the address alone: headers and bodies are tenants' data, and long."""
        return f"Delivery(address={self.address!r})"

    def values(self, name: str) -> tuple[bytes, ...]:
        """Return every value of the header ``name`` (case-insensitive, RFC 9110 section 5.1)."""
        sent, named = _as_sent(name), vars(self)["named"]
        if sent not in named:
            return ()
        if len(named) == len(self.headers):
            return (named[sent],)
        return tuple(value for each, value in self.headers if each.lower() == sent)

    def sole(self, name: str) -> bytes | None:
        """Return the value of the header ``name`` when it is there exactly once, else ``None``."""
        named = vars(self)["named"]
        if len(named) == len(self.headers):
            return named.get(_as_sent(name))
        found = self.values(name)
        return found[0] if len(found) == 1 else None


@lru_cache(maxsize=64)
def _as_sent(name: str) -> bytes:
    return name.lower().encode("ascii")


class Belonging(Enum):
    """The relation of the path's repository to the path's integration."""

    #: It is connected through this integration.
    OURS = auto()
    #: The organization has connected it through another integration.
    ANOTHERS = auto()
    #: The organization does not know it.
    UNKNOWN = auto()


@final
@frozen(kw_only=True)
class Endpoint:
    """The configuration at an address, which decides the outcome of deliveries."""

    address: Address
    #: False: the integration is switched off.
    enabled: bool
    #: The webhook secrets that verify now, in clear; more than one while a rotation overlaps.
    secrets: tuple[str, ...] = field(converter=tuple, repr=False)
    repository: Belonging
    #: The organization's triggers that may match here; :func:`~contentsvc_core.workflows.triggers.matching` decides.
    triggers: tuple[Trigger, ...] = field(converter=tuple, factory=tuple)
    #: Counts the changes of the organization's configuration; a settlement made on an older one is stale.
    version: int
    #: The secrets as HMACs that wait for a body.
    macs: tuple[HMAC, ...] = field(
        init=False, eq=False, repr=False, default=Factory(lambda self: tuple(keyed(self.secrets)), takes_self=True)
    )
    #: By event type, what :meth:`started_by` has given: an endpoint is remembered, and may have thousands of triggers.
    _started: dict[str, tuple[Trigger, ...]] = field(init=False, eq=False, repr=False, factory=dict)

    def started_by(self, event_type: str) -> tuple[Trigger, ...]:
        """Return the triggers that an event of the endpoint's repository starts, in their order."""
        found = self._started.get(event_type)
        if found is None:
            address = self.address
            found = self._started[event_type] = matching(
                self.triggers,
                organization_id=address.organization_id,
                source_type=source_type(address.provider),
                repository_id=address.repository_id,
                event_type=event_type,
            )
        return found


@final
class VerifiedDelivery(Value, frozen=True, kw_only=True):
    """A delivery whose signature was right, for a repository that is ours.

    Only :func:`~contentsvc_core.webhooks.decision.admit` makes one, and
    :func:`~contentsvc_core.webhooks.decision.decide` takes nothing else: "parsed before verified" cannot be written.
    """

    delivery: Delivery
