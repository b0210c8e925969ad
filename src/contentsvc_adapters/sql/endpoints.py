"""What deliveries are decided on: read in one transaction, remembered until a settlement says that it has changed."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from attrs import Factory, define, evolve, field, frozen
from sqlalchemy import Column, Connection, Select, bindparam, select
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import directory_rows, rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import integrations, organizations, repositories, triggers, webhook_secrets
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.webhooks.delivery import Address, Belonging, Endpoint
from contentsvc_core.workflows.triggers import Trigger, source_type

#: How many addresses are remembered; those that were asked for longest ago are forgotten first.
REMEMBERED: Final = 10_000


def _is(column: Column[Any], name: str) -> ColumnElement[bool]:
    return column == bindparam(name, type_=column.type)


_INTEGRATION: Final[Select[*tuple[Any, ...]]] = (
    select(
        integrations.c.enabled,
        organizations.c.version,
        # Which integration the repository is connected through, if any.
        select(repositories.c.integration_id)
        .where(
            repositories.c.organization_id == integrations.c.organization_id,
            repositories.c.provider == integrations.c.provider,
            _is(repositories.c.repository_id, "repository"),
        )
        .scalar_subquery()
        .label("through"),
    )
    .join(organizations, organizations.c.id == integrations.c.organization_id)
    .where(
        _is(integrations.c.id, "integration"),
        _is(integrations.c.organization_id, "organization"),
        _is(integrations.c.provider, "provider"),
    )
)
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
_TRIGGERS: Final[Select[*tuple[Any, ...]]] = (
    select(triggers)
    .where(
        _is(triggers.c.organization_id, "organization"),
        _is(triggers.c.source_type, "source_type"),
        triggers.c.enabled,
    )
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
        """Read what is known at an address, in one transaction, and remember it, unless it is not there."""
        found = await self._database.read(partial(_read, address, to_ms(now)))
        if found is None:
            return None
        integration, sealed, triggered = found
        if integration.through is None:
            belonging = Belonging.UNKNOWN
        else:
            belonging = Belonging.OURS if integration.through == address.integration_id else Belonging.ANOTHERS
        secrets = [
            _Secret(self._sealer.open(row.sealed), None if row.expires_at is None else from_ms(row.expires_at))
            for row in sealed
        ]
        # A repository that nobody has connected is anybody's invention: it would push out what is in use.
        kept = None if belonging is Belonging.UNKNOWN else self._organization(address, integration.version)
        endpoint = Endpoint(
            address=address,
            enabled=integration.enabled,
            secrets=[secret.text for secret in secrets],
            repository=belonging,
            triggers=_naming(address, triggered, kept),
            version=integration.version,
        )
        if kept is not None:
            kept.addresses.add(address)
            self._known[address] = _Known(endpoint=endpoint, secrets=secrets, read_at=now)
            self._known.move_to_end(address)
            if len(self._known) > self._remembered:
                self._drop(next(iter(self._known)))
        return endpoint

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
    #: By source type: all that are enabled.
    triggers: dict[str, tuple[Trigger, ...]] = field(init=False, factory=dict)


def _naming(address: Address, read: Sequence[rows.AnyRow], kept: _Organization | None) -> list[Trigger]:
    """Give the triggers that name the repository; all addresses of an organization share them."""
    kind = source_type(address.provider)
    enabled = None if kept is None else kept.triggers.get(kind)
    if enabled is None:
        enabled = tuple(map(directory_rows.trigger_of, read))
        if kept is not None:
            kept.triggers[kind] = enabled
    return [trigger for trigger in enabled if address.repository_id in trigger.repository_ids]


def _read(
    address: Address, now_ms: int, connection: Connection
) -> tuple[rows.AnyRow, Sequence[rows.AnyRow], Sequence[rows.AnyRow]] | None:
    integration = connection.execute(
        _INTEGRATION,
        {
            "integration": address.integration_id,
            "organization": address.organization_id,
            "provider": address.provider,
            "repository": address.repository_id,
        },
    ).first()
    if integration is None:
        return None
    sealed = connection.execute(SECRETS, {"integration": address.integration_id, "now": now_ms})
    triggered = connection.execute(
        _TRIGGERS, {"organization": address.organization_id, "source_type": source_type(address.provider)}
    )
    return integration, sealed.all(), triggered.all()
