"""What deliveries are decided on: read in one transaction, remembered until a settlement says that it has changed."""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from attrs import Factory, define, evolve, field, frozen
from sqlalchemy import Column, Connection, Select, bindparam, select
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import directory_rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.joint import Joint
from contentsvc_adapters.sql.schema import integrations, organizations, repositories, triggers, webhook_secrets
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import from_ms
from contentsvc_core.webhooks.delivery import Address, Belonging, Endpoint
from contentsvc_core.workflows.triggers import Trigger, source_type

#: How many addresses are remembered; those that were asked for longest ago are forgotten first.
REMEMBERED: Final = 10_000


def _is(column: Column[Any], name: str) -> ColumnElement[bool]:
    return column == bindparam(name, type_=column.type)


def _among(column: Column[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(name, type_=column.type, expanding=True))


_INTEGRATIONS: Final[Select[*tuple[Any, ...]]] = (
    select(
        integrations.c.id,
        integrations.c.organization_id,
        integrations.c.provider,
        integrations.c.enabled,
        organizations.c.version,
    )
    .join(organizations, organizations.c.id == integrations.c.organization_id)
    .where(_among(integrations.c.id, "integrations"))
)
#: Which integration each repository is connected through.
_REPOSITORIES: Final[Select[*tuple[Any, ...]]] = select(
    repositories.c.organization_id,
    repositories.c.provider,
    repositories.c.repository_id,
    repositories.c.integration_id,
).where(_among(repositories.c.organization_id, "organizations"), _among(repositories.c.repository_id, "repositories"))
SECRETS: Final = (
    select(webhook_secrets.c.sealed, webhook_secrets.c.expires_at)
    .where(
        _is(webhook_secrets.c.integration_id, "integration"),
        # As the port says: exactly when it expires, it verifies no longer.
        webhook_secrets.c.expires_at.is_(None)
        | (webhook_secrets.c.expires_at > bindparam("now", type_=webhook_secrets.c.expires_at.type)),
    )
    .order_by(webhook_secrets.c.id.desc())
)
_ALL_SECRETS: Final[Select[*tuple[Any, ...]]] = (
    select(webhook_secrets.c.integration_id, webhook_secrets.c.sealed, webhook_secrets.c.expires_at)
    .where(_among(webhook_secrets.c.integration_id, "integrations"))
    .order_by(webhook_secrets.c.id.desc())
)
_TRIGGERS: Final[Select[*tuple[Any, ...]]] = (
    select(triggers)
    .where(_among(triggers.c.organization_id, "organizations"), triggers.c.enabled)
    .order_by(triggers.c.created_at, triggers.c.id)
)


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
        self._reading: Final[Joint[Address, _Found | None]] = Joint(self._read)

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

    async def _read(self, addresses: Sequence[Address]) -> Sequence["_Found | None"]:
        # As they are remembered now: what is read at the same version has the same triggers.
        known = {
            address.organization_id: organization
            for address in addresses
            if (organization := self._organizations.get(address.organization_id)) is not None
        }
        return await self._database.read(partial(_found, addresses, known))

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


@final
@frozen(kw_only=True)
class _Found:
    """What was read of an address."""

    enabled: bool
    version: int
    #: The integration that the repository is connected through, if any.
    through: str | None
    #: Sealed secrets and when they expire, the newest first; those that have expired are among them.
    sealed: Sequence[tuple[str, datetime | None]]
    #: The organization's enabled triggers, oldest first.
    triggers: tuple[Trigger, ...]


def _naming(address: Address, found: _Found, kept: _Organization | None) -> list[Trigger]:
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


def _found(
    addresses: Sequence[Address], known: Mapping[str, _Organization], connection: Connection
) -> Sequence[_Found | None]:
    """Read addresses, in a few statements for all of them."""
    asked = {"integrations": sorted({address.integration_id for address in addresses})}
    connected = {row.id: row for row in connection.execute(_INTEGRATIONS, asked)}
    if not connected:
        return [None] * len(addresses)
    sealed: dict[str, list[tuple[str, datetime | None]]] = defaultdict(list)
    for row in connection.execute(_ALL_SECRETS, {"integrations": sorted(connected)}):
        expires_at = None if row.expires_at is None else from_ms(row.expires_at)
        sealed[row.integration_id].append((row.sealed, expires_at))
    through = _through(addresses, connection)
    enabled = _enabled({row.organization_id: row.version for row in connected.values()}, known, connection)
    found: list[_Found | None] = []
    for address in addresses:
        row = connected.get(address.integration_id)
        if row is None or (row.organization_id, row.provider) != (address.organization_id, address.provider):
            found.append(None)
            continue
        found.append(
            _Found(
                enabled=row.enabled,
                version=row.version,
                through=through.get((address.organization_id, address.provider, address.repository_id)),
                sealed=sealed[address.integration_id],
                triggers=enabled[address.organization_id],
            )
        )
    return found


def _through(addresses: Sequence[Address], connection: Connection) -> Mapping[tuple[str, str, int], str]:
    """Give the integrations through which repositories are connected."""
    asked = {
        "organizations": sorted({address.organization_id for address in addresses}),
        "repositories": sorted({address.repository_id for address in addresses}),
    }
    return {
        (row.organization_id, row.provider, row.repository_id): row.integration_id
        for row in connection.execute(_REPOSITORIES, asked)
    }


def _enabled(
    versions: Mapping[str, int], known: Mapping[str, _Organization], connection: Connection
) -> Mapping[str, tuple[Trigger, ...]]:
    """Give organizations' enabled triggers; those of a version that is remembered are not read once more."""
    enabled: dict[str, tuple[Trigger, ...]] = {}
    for organization_id, version in versions.items():
        organization = known.get(organization_id)
        if organization is not None and organization.version == version and organization.triggers is not None:
            enabled[organization_id] = organization.triggers
    wanted = sorted(versions.keys() - enabled.keys())
    read: dict[str, list[Trigger]] = {organization_id: [] for organization_id in wanted}
    if wanted:
        for row in connection.execute(_TRIGGERS, {"organizations": wanted}):
            read[row.organization_id].append(directory_rows.trigger_of(row))
    return enabled | {organization_id: tuple(each) for organization_id, each in read.items()}
