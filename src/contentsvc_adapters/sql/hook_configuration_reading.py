"""Reading the configuration for deliveries: any number of hook addresses in a few statements."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias, final

from attrs import frozen
from sqlalchemy import Column, Connection, Select, bindparam, select
from sqlalchemy.sql.elements import ColumnElement

from contentsvc_adapters.sql.automation_rows import read_row
from contentsvc_adapters.sql.schema.automation import triggers
from contentsvc_adapters.sql.schema.directory import integrations, organizations, repositories, webhook_secrets
from contentsvc_core.timestamps import from_ms
from contentsvc_core.webhooks.delivery import Address
from contentsvc_core.workflows.triggers import Trigger

CachedTriggers: TypeAlias = tuple[int, tuple[Trigger, ...]]


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
_REPOSITORIES: Final[Select[*tuple[Any, ...]]] = select(
    repositories.c.organization_id,
    repositories.c.provider,
    repositories.c.repository_id,
    repositories.c.integration_id,
    repositories.c.branch,
).where(_among(repositories.c.organization_id, "organizations"), _among(repositories.c.repository_id, "repositories"))
SECRETS: Final = (
    select(webhook_secrets.c.sealed, webhook_secrets.c.expires_at)
    .where(
        webhook_secrets.c.integration_id == bindparam("integration", type_=webhook_secrets.c.integration_id.type),
        # Exclusive, as in the port: a secret does not verify at its expiry time.
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
@frozen(kw_only=True)
class StoredHook:
    enabled: bool
    version: int
    through: str | None
    branch: str | None
    #: Sealed secrets and their expiry, newest first, including expired ones.
    sealed: Sequence[tuple[str, datetime | None]]
    triggers: tuple[Trigger, ...]


def read_hook_configurations(
    addresses: Sequence[Address], cached: Mapping[str, CachedTriggers], connection: Connection
) -> Sequence[StoredHook | None]:
    """Read the configuration for hook addresses; ``None``: no such integration. The transaction must have one snapshot.

    Remembered triggers in ``cached`` are not read again if their version is current.
    """
    parameters = {"integrations": sorted({address.integration_id for address in addresses})}
    connected = {row.id: row for row in connection.execute(_INTEGRATIONS, parameters)}
    if not connected:
        return [None] * len(addresses)
    sealed: dict[str, list[tuple[str, datetime | None]]] = defaultdict(list)
    for row in connection.execute(_ALL_SECRETS, {"integrations": sorted(connected)}):
        expires_at = None if row.expires_at is None else from_ms(row.expires_at)
        sealed[row.integration_id].append((row.sealed, expires_at))
    through = _through(addresses, connection)
    enabled = _enabled({row.organization_id: row.version for row in connected.values()}, cached, connection)
    configurations: list[StoredHook | None] = []
    for address in addresses:
        row = connected.get(address.integration_id)
        if row is None or (row.organization_id, row.provider) != (address.organization_id, address.provider):
            configurations.append(None)
            continue
        repository = through.get((address.organization_id, address.provider, address.repository_id))
        configurations.append(
            StoredHook(
                enabled=row.enabled,
                version=row.version,
                through=None if repository is None else repository[0],
                branch=None if repository is None else repository[1],
                sealed=sealed[address.integration_id],
                triggers=enabled[address.organization_id],
            )
        )
    return configurations


def _through(
    addresses: Sequence[Address], connection: Connection
) -> Mapping[tuple[str, str, int], tuple[str, str | None]]:
    parameters = {
        "organizations": sorted({address.organization_id for address in addresses}),
        "repositories": sorted({address.repository_id for address in addresses}),
    }
    return {
        (row.organization_id, row.provider, row.repository_id): (row.integration_id, row.branch)
        for row in connection.execute(_REPOSITORIES, parameters)
    }


def _enabled(
    versions: Mapping[str, int], cached: Mapping[str, CachedTriggers], connection: Connection
) -> Mapping[str, tuple[Trigger, ...]]:
    enabled: dict[str, tuple[Trigger, ...]] = {}
    for organization_id, version in versions.items():
        cached_version, triggers_then = cached.get(organization_id, (None, ()))
        if cached_version == version:
            enabled[organization_id] = triggers_then
    organization_ids = sorted(versions.keys() - enabled.keys())
    read: dict[str, list[Trigger]] = {organization_id: [] for organization_id in organization_ids}
    if organization_ids:
        for row in connection.execute(_TRIGGERS, {"organizations": organization_ids}):
            read[row.organization_id].append(read_row(Trigger, row))
    return enabled | {organization_id: tuple(each) for organization_id, each in read.items()}
