"""Where deliveries are decided on and settled."""

from datetime import datetime
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Column, Connection, Select, bindparam, select
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql import directory_rows, rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.schema import integrations, organizations, repositories, triggers, webhook_secrets
from contentsvc_adapters.sql.settle import SettlementWriter
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.delivery import Address, Belonging, Endpoint
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.triggers import source_type


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
    select(webhook_secrets.c.sealed)
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
class SqlDeliveryStore:
    """The delivery store."""

    def __init__(self, database: Database, sealer: SecretSealer) -> None:
        """Take the database, and what opens the webhook secrets."""
        self._database = database
        self._sealer = sealer
        self._writer = SettlementWriter(database)

    async def endpoint(self, address: Address, now: datetime) -> Endpoint | None:
        """Read what is known at an address, in one transaction."""
        found = await self._database.read(partial(_read, address, to_ms(now)))
        if found is None:
            return None
        integration, sealed, triggered = found
        if integration.through is None:
            belonging = Belonging.UNKNOWN
        else:
            belonging = Belonging.OURS if integration.through == address.integration_id else Belonging.ANOTHERS
        return Endpoint(
            address=address,
            enabled=integration.enabled,
            secrets=[self._sealer.open(secret) for secret in sealed],
            repository=belonging,
            triggers=[directory_rows.trigger_of(trigger) for trigger in triggered],
            version=integration.version,
        )

    async def settle(self, settlement: Settlement) -> Settled:
        """Make a settlement true, all of it or nothing."""
        return await self._writer.settle(settlement)


def _read(
    address: Address, now_ms: int, connection: Connection
) -> tuple[rows.AnyRow, list[str], list[rows.AnyRow]] | None:
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
    sealed = connection.scalars(SECRETS, {"integration": address.integration_id, "now": now_ms})
    triggered = connection.execute(
        _TRIGGERS, {"organization": address.organization_id, "source_type": source_type(address.provider)}
    )
    return integration, list(sealed), list(triggered)
