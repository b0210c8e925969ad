"""The brand identities. Each change locks the organization's row, so that changes are serialized."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import final

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from contentsvc_adapters.sql.automations import disable
from contentsvc_adapters.sql.configuration import lock_organization, raise_version
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import read_row, row_of
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.runs import changing, forget
from contentsvc_adapters.sql.schema.automation import brand_identities
from contentsvc_adapters.sql.store import SqlStore, is_own, of_organization, writing
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import (
    UNKNOWN_BRAND,
    BrandChange,
    add_brand,
    change_brand,
    name_key,
    remove_brand,
)
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.removals import Removed, removal_of_brand
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun


@final
class SqlBrandIdentities(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        every, read = select(brand_identities), partial(read_row, BrandIdentity)
        defaults = every.where(brand_identities.c.is_default)
        self._named = RowLoader(database, every, brand_identities.c.id, read)
        self._defaults = RowLoader(database, defaults, brand_identities.c.organization_id, read)

    @writing
    def add(self, connection: Connection, brand: BrandIdentity) -> BrandIdentity | Refusal:
        lock_organization(connection, brand.organization_id, may_miss=True)
        return _add(connection, brand)

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | Refusal | None:
        ended = changing(run).values(status=RunStatus.COMPLETED.value, error=None)
        answer: list[BrandIdentity | Refusal] = []

        def complete(connection: Connection) -> None:
            lock_organization(connection, brand.organization_id, may_miss=True)
            if not connection.execute(ended).rowcount:
                # Runs again after an unknown outcome: the first transaction ended the run if the identity exists.
                if _first(connection, is_own(brand_identities, brand.organization_id, brand.id)) is None:
                    answer.clear()
                return
            answer[:] = [_add(connection, brand)]
            if isinstance(answer[0], Refusal):
                raise _Undone
            forget(connection, [run.id])

        with suppress(_Undone):
            await self._database.write(complete)
        return answer[0] if answer else None

    async def identity(self, organization_id: str, brand_id: str) -> BrandIdentity | None:
        return await self._named.find(organization_id, brand_id)

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        return await self._database.read(lambda connection: _all(connection, organization_id))

    async def default(self, organization_id: str) -> BrandIdentity | None:
        return await self._defaults.find(organization_id, organization_id)

    @writing
    def change(
        self, connection: Connection, organization_id: str, brand_id: str, change: BrandChange
    ) -> BrandIdentity | Refusal:
        lock_organization(connection, organization_id, may_miss=True)
        changed = change_brand(_all(connection, organization_id), brand_id, change)
        if isinstance(changed, Refusal):
            return changed
        # In order: at no moment may there be two defaults.
        for brand in changed:
            connection.execute(
                update(brand_identities)
                .where(is_own(brand_identities, organization_id, brand.id))
                .values(row_of(brand, name_key=name_key(brand.name)))
            )
        return changed[-1]

    async def remove(self, organization_id: str, brand_id: str) -> Removed | Refusal:
        def remove(connection: Connection) -> Removed | Refusal | None:
            lock_organization(connection, organization_id, may_miss=True)
            refused = remove_brand(_all(connection, organization_id), brand_id)
            if refused is not None:
                return None if refused is UNKNOWN_BRAND else refused
            # Decisions on deliveries depend on triggers, so the version is raised.
            raise_version(connection, organization_id)
            removed = disable(connection, organization_id, removal_of_brand(brand_id))
            connection.execute(delete(brand_identities).where(is_own(brand_identities, organization_id, brand_id)))
            return removed

        return await self._database.write_once(remove) or UNKNOWN_BRAND


class _Undone(Exception): ...


def _add(connection: Connection, brand: BrandIdentity) -> BrandIdentity | Refusal:
    owner = connection.scalar(select(brand_identities.c.organization_id).where(brand_identities.c.id == brand.id))
    if owner not in {None, brand.organization_id}:
        raise Unstorable.of_another(brand.id)
    added = add_brand(_all(connection, brand.organization_id), brand)
    if owner is None and isinstance(added, BrandIdentity):
        connection.execute(insert(brand_identities), row_of(added, name_key=name_key(added.name)))
    return added


def _all(connection: Connection, organization_id: str) -> list[BrandIdentity]:
    rows = connection.execute(of_organization(brand_identities, organization_id))
    return [read_row(BrandIdentity, row) for row in rows]


def _first(connection: Connection, condition: ColumnElement[bool]) -> BrandIdentity | None:
    row = connection.execute(select(brand_identities).where(condition)).first()
    return None if row is None else read_row(BrandIdentity, row)
