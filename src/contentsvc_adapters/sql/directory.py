"""Organizations and what they have connected."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, final

from sqlalchemy import ColumnElement, Connection, Select, Update, insert, select, union_all, update

from contentsvc_adapters.sql import directory_rows, rows
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.deliveries import SECRETS
from contentsvc_adapters.sql.schema import (
    integrations,
    organizations,
    repositories,
    triggers,
    webhook_secrets,
    workflow_runs,
)
from contentsvc_core.errors import Unstorable
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.triggers import Trigger

_FIRST_VERSION: Final = 1


class _Taken(Exception):
    """Undoes an addition: what it needs is somebody else's already."""


class _Unchanged(Exception):
    """Undoes a change that has changed nothing: the version stays as well."""


@final
class SqlDirectory:
    """The directory."""

    def __init__(self, database: Database, sealer: SecretSealer) -> None:
        """Take the database, and what seals the webhook secrets."""
        self._database = database
        self._sealer = sealer

    async def add_organization(self, organization: Organization) -> bool:
        """Add an organization; the unique slug decides."""
        row = {
            "id": organization.id,
            "slug": organization.slug,
            "name": organization.name,
            "retention_days": organization.retention_days,
            "version": _FIRST_VERSION,
            "created_at": to_ms(organization.created_at),
        }
        # On any key: the same organization twice at once may meet at its id first.
        addition = self._database.dialect.insert(organizations).on_conflict_do_nothing()
        owner = select(organizations.c.id).where(organizations.c.slug == organization.slug)

        def add(connection: Connection) -> bool:
            connection.execute(addition, row)
            found = connection.scalar(owner)
            if found is None:
                raise Unstorable(_anothers(organization.id))
            # The same organization once more, after an unknown outcome, is no stranger.
            return found == organization.id

        return await self._database.write(add)

    async def organization(self, slug: str) -> Organization | None:
        """Read an organization."""
        query = select(organizations).where(organizations.c.slug == slug)
        found = await self._first(query)
        return None if found is None else directory_rows.organization_of(found)

    async def organizations(self) -> Sequence[Organization]:
        """Read all organizations."""
        query = select(organizations).order_by(organizations.c.slug)
        return [directory_rows.organization_of(row) for row in await self._all(query)]

    async def add_integration(self, integration: Integration, secret: str) -> bool:
        """Add an integration; the unique repositories decide."""
        try:
            await self._change(
                integration.organization_id, partial(self._add_integration, integration, self._sealer.seal(secret))
            )
        except _Taken:
            return False
        return True

    def _add_integration(self, integration: Integration, sealed: str, connection: Connection) -> bool:
        created_at = to_ms(integration.created_at)
        addition = self._database.dialect.insert(integrations).values(
            id=integration.id,
            organization_id=integration.organization_id,
            provider=integration.provider,
            enabled=integration.enabled,
            created_at=created_at,
        )
        new = addition.on_conflict_do_nothing(index_elements=["id"]).returning(integrations.c.id)
        if connection.execute(new).first() is None:
            _same(_integrations(connection, integrations.c.id == integration.id), integration)
            return False
        if integration.repositories:
            connecting = self._database.dialect.insert(repositories).values(directory_rows.repository_rows(integration))
            connected = connection.execute(
                connecting.on_conflict_do_nothing().returning(repositories.c.repository_id)
            ).all()
            if len(connected) < len(integration.repositories):
                raise _Taken
        connection.execute(
            insert(webhook_secrets), {"integration_id": integration.id, "sealed": sealed, "created_at": created_at}
        )
        return True

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        """Read an organization's integrations."""
        mine = integrations.c.organization_id == organization_id
        return await self._database.read(lambda connection: _integrations(connection, mine))

    async def secrets(self, organization_id: str, integration_id: str) -> tuple[str, ...]:
        """Read and open an integration's secrets."""
        query = SECRETS.join(integrations, integrations.c.id == webhook_secrets.c.integration_id).where(
            integrations.c.organization_id == organization_id
        )
        sealed = await self._database.read(
            lambda connection: connection.scalars(query, {"integration": integration_id}).all()
        )
        return tuple(self._sealer.open(each) for each in sealed)

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        """Switch an integration."""
        switch = update(integrations).where(
            integrations.c.organization_id == organization_id, integrations.c.id == integration_id
        )
        return await self._change(organization_id, _has_an_effect(switch.values(enabled=enabled)))

    async def add_trigger(self, trigger: Trigger) -> None:
        """Add a trigger."""
        addition = self._database.dialect.insert(triggers).values(directory_rows.trigger_row(trigger))
        new = addition.on_conflict_do_nothing(index_elements=["id"]).returning(triggers.c.id)

        def add(connection: Connection) -> bool:
            if connection.execute(new).first() is not None:
                return True
            standing = connection.execute(select(triggers).where(triggers.c.id == trigger.id))
            _same([directory_rows.trigger_of(row) for row in standing], trigger)
            return False

        await self._change(trigger.organization_id, add)

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        """Read a trigger."""
        query = select(triggers).where(triggers.c.organization_id == organization_id, triggers.c.id == trigger_id)
        found = await self._first(query)
        return None if found is None else directory_rows.trigger_of(found)

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        """Read an organization's triggers."""
        query = (
            select(triggers)
            .where(triggers.c.organization_id == organization_id)
            .order_by(triggers.c.created_at, triggers.c.id)
        )
        return [directory_rows.trigger_of(row) for row in await self._all(query)]

    async def enable_trigger(self, organization_id: str, trigger_id: str, *, enabled: bool) -> bool:
        """Switch a trigger."""
        switch = update(triggers).where(triggers.c.organization_id == organization_id, triggers.c.id == trigger_id)
        return await self._change(organization_id, _has_an_effect(switch.values(enabled=enabled)))

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the port's word
        """Read which organization an integration, trigger or run belongs to."""
        found = await self._first(
            union_all(
                select(integrations.c.organization_id).where(integrations.c.id == id),
                select(triggers.c.organization_id).where(triggers.c.id == id),
                select(workflow_runs.c.organization_id).where(workflow_runs.c.id == id),
            )
            .subquery()
            .select()
        )
        return None if found is None else found.organization_id

    async def _all(self, query: Select[*tuple[Any, ...]]) -> Sequence[rows.AnyRow]:
        return await self._database.read(lambda connection: connection.execute(query).all())

    async def _first(self, query: Select[*tuple[Any, ...]]) -> rows.AnyRow | None:
        return await self._database.read(lambda connection: connection.execute(query).first())

    async def _change(self, organization_id: str, change: Callable[[Connection], bool]) -> bool:
        """Change what deliveries are decided on, and raise the version; tell whether there was anything to change.

        The version comes first: its row is what changes of one organization wait for, one after the other, so that
        none waits for a second thing that another one holds.
        """
        raising = update(organizations).where(organizations.c.id == organization_id)

        def run(connection: Connection) -> None:
            connection.execute(raising.values(version=organizations.c.version + 1))
            if not change(connection):
                raise _Unchanged

        try:
            await self._database.write(run)
        except _Unchanged:
            return False
        return True


def _has_an_effect(change: Update) -> Callable[[Connection], bool]:
    return lambda connection: connection.execute(change).rowcount > 0


def _same(standing: Sequence[object], value: Integration | Trigger) -> None:
    """Let a value pass that was added before, after an unknown outcome; refuse another one of the same id."""
    if value not in standing:
        raise Unstorable(_anothers(value.id))


def _anothers(id_: str) -> str:
    return f"'{id_}' is the id of another one"


def _integrations(connection: Connection, condition: ColumnElement[bool]) -> list[Integration]:
    found = connection.execute(
        select(integrations).where(condition).order_by(integrations.c.created_at, integrations.c.id)
    ).all()
    connected = connection.execute(
        select(repositories)
        .join(integrations, integrations.c.id == repositories.c.integration_id)
        .where(condition)
        .order_by(repositories.c.integration_id, repositories.c.position)
    )
    grouped = {id_: list(group) for id_, group in groupby(connected, attrgetter("integration_id"))}
    return [directory_rows.integration_of(row, grouped.get(row.id, ())) for row in found]


async def any_sealed(database: Database) -> str | None:
    """Give one of the sealed secrets of a database, when it holds any: to try a key on."""
    query = select(webhook_secrets.c.sealed).order_by(webhook_secrets.c.id.desc()).limit(1)
    return await database.read(lambda connection: connection.scalar(query))
