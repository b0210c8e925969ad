"""What deliveries are decided on: read in one transaction, remembered until a settlement says that it has changed."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, final

from attrs import Factory, define, evolve, field, frozen

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.endpoint_reading import Found, read_endpoints
from contentsvc_adapters.sql.joint import Joint
from contentsvc_core.ports import SecretSealer
from contentsvc_core.webhooks.delivery import Address, Belonging, Endpoint
from contentsvc_core.workflows.triggers import Trigger, source_type

#: How many addresses are remembered; those that were asked for longest ago are forgotten first.
REMEMBERED: Final = 10_000


@final
class Endpoints:
    """Gives endpoints: afresh, or as they were when they were read last.

    Nobody tells of a change, which may come from any process: what is remembered may be old. Whatever is decided on it
    is settled against the organization's version, and who hears there that it is stale has it forgotten
    (docs/decisions/0016-remembered-endpoints.md).
    """

    def __init__(self, database: Database, sealer: SecretSealer, *, remembered: int = REMEMBERED) -> None:
        """Take the database, and what opens the webhook secrets.

        Args:
            database: Where they are read.
            sealer: Opens the secrets; what it has opened is remembered in clear.
            remembered: How many addresses are remembered at most.
        """
        self._database = database
        self._sealer = sealer
        self._remembered = remembered
        #: The one that was asked for last stands last.
        self._known: Final[OrderedDict[Address, _Known]] = OrderedDict()
        self._organizations: Final[dict[str, _Organization]] = {}
        self._reading: Final[Joint[Address, Found | None]] = Joint(self._read)

    def recall(self, address: Address, now: datetime) -> Endpoint | None:
        """Give what is remembered of an address, with the secrets that verify at ``now``; ``None``: nothing is."""
        known = self._known.get(address)
        # A clock that was stepped back may have secrets verify again that were left out when it was read.
        if known is None or now < known.read_at:
            return None
        self._known.move_to_end(address)
        if known.until is not None and known.until <= now:
            known = self._known[address] = known.at(now)
        return known.endpoint

    async def read(self, address: Address, now: datetime) -> Endpoint | None:
        """Read what is known at an address, in one transaction, and remember it, unless it is not there.

        Addresses that are asked for at the same time are read in one: after a start, or when all of ten thousand hooks
        are told something, that is what deliveries wait for.
        """
        found = await self._reading(address)
        if found is None:
            return None
        if found.through is None:
            belonging = Belonging.UNKNOWN
        else:
            belonging = Belonging.OURS if found.through == address.integration_id else Belonging.ANOTHERS
        secrets = [
            _Secret(self._sealer.open(sealed), expires_at)
            for sealed, expires_at in found.sealed
            # As the port says: exactly when it expires, it verifies no longer.
            if expires_at is None or expires_at > now
        ]
        # A repository that nobody has connected is anybody's invention: it would push out what is in use.
        kept = None if belonging is Belonging.UNKNOWN else self._organization(address, found.version)
        endpoint = Endpoint(
            address=address,
            enabled=found.enabled,
            secrets=[secret.text for secret in secrets],
            repository=belonging,
            triggers=_naming(address, found, kept),
            version=found.version,
        )
        if kept is not None:
            kept.addresses.add(address)
            self._known[address] = _Known(endpoint=endpoint, secrets=secrets, read_at=now)
            self._known.move_to_end(address)
            if len(self._known) > self._remembered:
                self._drop(next(iter(self._known)))
        return endpoint

    async def _read(self, addresses: Sequence[Address]) -> Sequence[Found | None]:
        known = {
            address.organization_id: (organization.version, organization.triggers)
            for address in addresses
            if (organization := self._organizations.get(address.organization_id)) is not None
            and organization.triggers is not None
        }
        return await self._database.read(partial(read_endpoints, addresses, known))

    def forget(self, organization_id: str, version: int) -> None:
        """Forget all addresses of an organization that were read at a version, which is no longer the one in force."""
        organization = self._organizations.get(organization_id)
        if organization is not None and organization.version == version:
            del self._organizations[organization_id]
            for address in organization.addresses:
                del self._known[address]

    def _organization(self, address: Address, version: int) -> "_Organization | None":
        """Give where an address is remembered; ``None``: nowhere, since a later version has been read meanwhile."""
        organization = self._organizations.get(address.organization_id)
        if organization is not None and organization.version < version:
            self.forget(address.organization_id, organization.version)
            organization = None
        if organization is None:
            organization = self._organizations[address.organization_id] = _Organization(version)
        return organization if organization.version == version else None

    def _drop(self, address: Address) -> None:
        del self._known[address]
        addresses = self._organizations[address.organization_id].addresses
        addresses.discard(address)
        if not addresses:
            del self._organizations[address.organization_id]


@final
@frozen
class _Secret:
    """A webhook secret in clear."""

    text: str = field(repr=False)
    expires_at: datetime | None


@final
@frozen(kw_only=True)
class _Known:
    """What is remembered of an address."""

    endpoint: Endpoint
    #: The endpoint's, in their order.
    secrets: tuple[_Secret, ...] = field(converter=tuple)
    #: Secrets that had expired by then are left out.
    read_at: datetime
    #: When the first one of the secrets expires.
    until: datetime | None = field(init=False, default=Factory(lambda self: self.earliest_end(), takes_self=True))

    def earliest_end(self) -> datetime | None:
        """Find when the first one of the secrets expires."""
        return min((secret.expires_at for secret in self.secrets if secret.expires_at is not None), default=None)

    def at(self, now: datetime) -> "_Known":
        """Leave out what has expired."""
        left = [secret for secret in self.secrets if secret.expires_at is None or secret.expires_at > now]
        return _Known(
            endpoint=evolve(self.endpoint, secrets=[secret.text for secret in left]), secrets=left, read_at=now
        )


@final
@define
class _Organization:
    """What is remembered of an organization, all of one version."""

    version: int
    addresses: set[Address] = field(init=False, factory=set)
    #: All that are enabled; ``None``: they have not been read yet.
    triggers: tuple[Trigger, ...] | None = field(init=False, default=None)


def _naming(address: Address, found: Found, kept: _Organization | None) -> list[Trigger]:
    """Give the triggers that name the repository; all addresses of an organization share them."""
    enabled = found.triggers
    if kept is not None:
        # The same ones, if they were read before: each address would have its own copies else.
        kept.triggers = enabled = enabled if kept.triggers is None else kept.triggers
    kind = source_type(address.provider)
    return [
        trigger
        for trigger in enabled
        if trigger.source_type == kind and address.repository_id in trigger.repository_ids
    ]
