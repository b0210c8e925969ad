from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, final
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from contentsvc_adapters.sql import directory_rows
from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_adapters.sql.configuration import change_configuration
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import row_of
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.schema.directory import integrations, organizations, repositories, webhook_secrets
from contentsvc_adapters.sql.store import SealedSqlStore, is_own, writing
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.errors import Unstorable
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.timestamps import to_ms

if TYPE_CHECKING:
    from contentsvc_core.ports import SecretSealer
    from contentsvc_core.workflows.removals import Removed

_FIRST_VERSION: Final = 1


class _AlreadyConnected(Exception):
    pass


@final
class SqlDirectory(SealedSqlStore):
    def __init__(self, database: Database, sealer: "SecretSealer") -> None:
        super().__init__(database, sealer)
        every = select(organizations, organizations.c.id.label("organization_id"))
        self._organizations = RowLoader(database, every, organizations.c.id, directory_rows.organization_of)
        self._connected: Batcher[str, Sequence[Integration]] = Batcher(self._integrations_of)

    @writing
    def add_organization(self, connection: Connection, organization: Organization) -> bool:
        row = row_of(
            organization,
            version=_FIRST_VERSION,
            house_style=directory_rows.style_column(organization.house_style),
            time_zone=organization.time_zone.key,
        )
        addition = self._database.dialect.insert(organizations).on_conflict_do_nothing()
        owner = select(organizations.c.id).where(organizations.c.slug == organization.slug)
        connection.execute(addition, row)
        owner_id = connection.scalar(owner)
        if owner_id is None:
            raise Unstorable.of_another(organization.id)
        return owner_id == organization.id

    async def organization(self, slug: str) -> Organization | None:
        return await self._database.first(
            select(organizations).where(organizations.c.slug == slug), directory_rows.organization_of
        )

    async def organization_of(self, organization_id: str) -> Organization | None:
        return await self._organizations.find(organization_id, organization_id)

    async def set_house_style(self, organization_id: str, house_style: HouseStyle | None) -> bool:
        own = update(organizations).where(organizations.c.id == organization_id)
        setting = own.values(house_style=directory_rows.style_column(house_style))
        return await self._database.change(setting) > 0

    @writing
    def change(
        self,
        connection: Connection,
        organization_id: str,
        now: datetime,
        *,
        name: str | None = None,
        retention_days: int | None = None,
        time_zone: ZoneInfo | None = None,
    ) -> bool:
        given = {"name": name, "retention_days": retention_days, "time_zone": time_zone and time_zone.key}
        values: dict[str, object] = {column: value for column, value in given.items() if value is not None}
        # Without a field, the statement still finds out whether the organization is known.
        values["version"] = organizations.c.version + int(time_zone is not None)
        own = update(organizations).where(organizations.c.id == organization_id)
        if not connection.execute(own.values(values)).rowcount:
            return False
        if time_zone is not None:
            from contentsvc_adapters.sql.automations import move_automations  # noqa: PLC0415  # a list does not need it

            move_automations(connection, organization_id, now, time_zone)
        return True

    async def organizations(self) -> Sequence[Organization]:
        query = select(organizations).order_by(organizations.c.slug)
        return await self._database.values(query, directory_rows.organization_of)

    async def retention_days(self) -> Mapping[str, int]:
        # An organization that cannot be read must not keep the logs of the others.
        query = select(organizations.c.id, organizations.c.retention_days)
        return {row.id: row.retention_days for row in await self._database.rows(query)}

    async def add_integration(self, integration: Integration, secret: str, *, token: str | None = None) -> bool:
        try:
            sealed_token = None if token is None else self._sealer.seal(token)
            await change_configuration(
                self._database,
                integration.organization_id,
                partial(self._add_integration, integration, self._sealer.seal(secret), sealed_token),
            )
        except _AlreadyConnected:
            return False
        return True

    def _add_integration(
        self, integration: Integration, sealed: str, sealed_token: str | None, connection: Connection
    ) -> bool:
        created_at = to_ms(integration.created_at)
        row = row_of(integration, sealed_token=sealed_token)
        del row["repositories"]
        addition = self._database.dialect.insert(integrations).values(row)
        new = addition.on_conflict_do_nothing(index_elements=["id"]).returning(integrations.c.id)
        if connection.execute(new).first() is None:
            if integration not in _integrations(connection, integrations.c.id == integration.id):
                raise Unstorable.of_another(integration.id)
            return False
        if integration.repositories:
            connecting = self._database.dialect.insert(repositories).values(directory_rows.repository_rows(integration))
            connected = connection.execute(
                connecting.on_conflict_do_nothing().returning(repositories.c.repository_id)
            ).all()
            if len(connected) < len(integration.repositories):
                raise _AlreadyConnected
        connection.execute(
            insert(webhook_secrets), {"integration_id": integration.id, "sealed": sealed, "created_at": created_at}
        )
        return True

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        return await self._connected(organization_id)

    async def _integrations_of(self, organization_ids: Sequence[str]) -> Sequence[Sequence[Integration]]:
        of_organizations = integrations.c.organization_id.in_(set(organization_ids))
        connected = await self._database.read(lambda connection: _integrations(connection, of_organizations))
        return [[each for each in connected if each.organization_id == id_] for id_ in organization_ids]

    async def integration(self, organization_id: str, integration_id: str) -> Integration | None:
        own = is_own(integrations, organization_id, integration_id)
        connected = await self._database.read(lambda connection: _integrations(connection, own))
        return connected[0] if connected else None

    async def remove_integration(self, organization_id: str, integration_id: str) -> "Removed | None":
        remove = partial(_remove, organization_id, integration_id)
        return await change_configuration(self._database, organization_id, remove)

    async def secrets(self, organization_id: str, integration_id: str, now: datetime) -> tuple[str, ...]:
        from contentsvc_adapters.sql.hook_configuration_reading import SECRETS  # noqa: PLC0415  # a list of keys does not need it

        query = SECRETS.join(integrations, integrations.c.id == webhook_secrets.c.integration_id).where(
            integrations.c.organization_id == organization_id
        )
        sealed = await self._database.read(
            lambda connection: connection.scalars(query, {"integration": integration_id, "now": to_ms(now)}).all()
        )
        return tuple(self._sealer.open(each) for each in sealed)

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        own = update(integrations).where(is_own(integrations, organization_id, integration_id))
        switch = own.values(enabled=enabled)
        return await change_configuration(
            self._database, organization_id, lambda connection: connection.execute(switch).rowcount > 0
        )

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the port's word
        from contentsvc_adapters.sql.ids import owner_of  # noqa: PLC0415  # it needs the tables of all resources

        return await owner_of(self._database, id)


def _remove(organization_id: str, integration_id: str, connection: Connection) -> "Removed | None":
    from contentsvc_adapters.sql.automations import disable  # noqa: PLC0415  # a list does not need it
    from contentsvc_core.workflows.removals import removal_of_integration  # noqa: PLC0415  # as above

    connected = _integrations(connection, is_own(integrations, organization_id, integration_id))
    if not connected:
        return None
    (integration,) = connected
    for table in (webhook_secrets, repositories):
        connection.execute(delete(table).where(table.c.integration_id == integration_id))
    connection.execute(delete(integrations).where(integrations.c.id == integration_id))
    remaining = select(repositories.c.repository_id).where(repositories.c.organization_id == organization_id)
    rule = removal_of_integration(integration, connection.scalars(remaining).all())
    return disable(connection, organization_id, rule)


def _integrations(connection: Connection, condition: ColumnElement[bool]) -> list[Integration]:
    rows = connection.execute(
        select(integrations).where(condition).order_by(integrations.c.created_at, integrations.c.id)
    ).all()
    connected = connection.execute(
        select(repositories)
        .join(integrations, integrations.c.id == repositories.c.integration_id)
        .where(condition)
        .order_by(repositories.c.integration_id, repositories.c.position)
    )
    grouped = {id_: list(group) for id_, group in groupby(connected, attrgetter("integration_id"))}
    return [directory_rows.integration_of(row, grouped.get(row.id, ())) for row in rows]


async def any_sealed(database: Database) -> str | None:
    """Return a sealed secret of a database for testing a key; ``None``: there is no secret."""
    newest = select(webhook_secrets.c.sealed).order_by(webhook_secrets.c.id.desc()).limit(1)
    sealed = await database.read(lambda connection: connection.scalar(newest))
    if sealed is None:
        from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints  # noqa: PLC0415  # few databases have no webhook

        endpoints = select(webhook_endpoints.c.sealed_secret).order_by(webhook_endpoints.c.created_at.desc()).limit(1)
        sealed = await database.read(lambda connection: connection.scalar(endpoints))
    return sealed
