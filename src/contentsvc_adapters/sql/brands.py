"""The brand identities.

Each change of an organization's identities locks the organization's row first. The next change sees the result, so
there is one default, and one identity of each name. The unique indexes enforce the same.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, final

from attrs import evolve
from sqlalchemy import ColumnElement, Connection, delete, exists, insert, select, update

from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.lookup import RowLoader
from contentsvc_adapters.sql.removals import disable
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.runs import changing, forget
from contentsvc_adapters.sql.schema import brand_identities, organizations
from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.brand_changes import (
    BRAND_NAME_TAKEN,
    DELETES_DEFAULT_BRAND,
    UNKNOWN_BRAND,
    BrandChange,
    name_key,
)
from contentsvc_core.errors import Unstorable
from contentsvc_core.organizations import Removed
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.removals import removal_of_brand
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun


@final
class SqlBrandIdentities:
    """The brand identities."""

    def __init__(self, database: Database) -> None:
        self._database = database
        every = select(brand_identities)
        self._named = RowLoader(database, every, brand_identities.c.id)
        self._defaults = RowLoader(
            database, every.where(brand_identities.c.is_default), brand_identities.c.organization_id
        )

    async def add(self, brand: BrandIdentity) -> BrandIdentity | Refusal:
        def add(connection: Connection) -> BrandIdentity | Refusal:
            _lock(connection, brand.organization_id)
            return _add(connection, brand)

        return await self._database.write(add)

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | Refusal | None:
        ended = changing(run).values(status=RunStatus.COMPLETED.value, error=None)
        answer: list[BrandIdentity | Refusal] = []

        def complete(connection: Connection) -> None:
            _lock(connection, brand.organization_id)
            if not connection.execute(ended).rowcount:
                # Runs again after an unknown outcome: the first transaction ended the run if the identity exists.
                if _first(connection, _named(brand.organization_id, brand.id)) is None:
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
        found = await self._named.find(organization_id, brand_id)
        return None if found is None else _brand(found)

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        query = (
            select(brand_identities)
            .where(brand_identities.c.organization_id == organization_id)
            .order_by(brand_identities.c.created_at, brand_identities.c.id)
        )
        return await self._database.read(lambda connection: [_brand(row) for row in connection.execute(query)])

    async def default(self, organization_id: str) -> BrandIdentity | None:
        found = await self._defaults.find(organization_id, organization_id)
        return None if found is None else _brand(found)

    async def is_taken(self, organization_id: str, name: str) -> bool:
        return await self._database.read(lambda connection: _is_taken(connection, organization_id, name))

    async def change(self, organization_id: str, brand_id: str, change: BrandChange) -> BrandIdentity | Refusal:
        def run(connection: Connection) -> BrandIdentity | Refusal:
            _lock(connection, organization_id)
            standing = _first(connection, _named(organization_id, brand_id))
            if standing is None:
                return UNKNOWN_BRAND
            changed = change.of(standing)
            if isinstance(changed, Refusal):
                return changed
            if _is_taken(connection, organization_id, changed.name, but_by=brand_id):
                return BRAND_NAME_TAKEN
            if changed.is_default and not standing.is_default:
                # Before the update: at no moment may there be two defaults.
                others = update(brand_identities).where(_default_of(organization_id))
                connection.execute(others.values(is_default=False))
            connection.execute(update(brand_identities).where(_named(organization_id, brand_id)).values(_row(changed)))
            return changed

        return await self._database.write(run)

    async def remove(self, organization_id: str, brand_id: str) -> Removed | Refusal:
        removed: list[Removed] = []

        def remove(connection: Connection) -> Removed | Refusal:
            _lock(connection, organization_id)
            standing = _first(connection, _named(organization_id, brand_id))
            if standing is None:
                # If the transaction runs again after an unknown outcome, the identity may be deleted already.
                return removed[0] if removed else UNKNOWN_BRAND
            if standing.is_default:
                return DELETES_DEFAULT_BRAND
            # Decisions on deliveries depend on triggers, so the version is raised.
            configuration = update(organizations).where(organizations.c.id == organization_id)
            connection.execute(configuration.values(version=organizations.c.version + 1))
            removed[:] = [disable(connection, organization_id, removal_of_brand(brand_id))]
            connection.execute(delete(brand_identities).where(_named(organization_id, brand_id)))
            return removed[0]

        return await self._database.write(remove)


class _Undone(Exception):
    """Rolls back the end of a run whose identity could not be added."""


def _add(connection: Connection, brand: BrandIdentity) -> BrandIdentity | Refusal:
    found = connection.execute(select(brand_identities).where(brand_identities.c.id == brand.id)).first()
    if found is not None:
        if found.organization_id != brand.organization_id:
            message = f"'{brand.id}' is the id of another one"
            raise Unstorable(message)
        return _brand(found)
    if _is_taken(connection, brand.organization_id, brand.name):
        return BRAND_NAME_TAKEN
    added = evolve(brand, is_default=_first(connection, _default_of(brand.organization_id)) is None)
    connection.execute(insert(brand_identities), _row(added))
    return added


def _lock(connection: Connection, organization_id: str) -> None:
    # Written with its own value: a SELECT would not lock out other writers. A missing organization has no identities.
    standing = update(organizations).where(organizations.c.id == organization_id)
    connection.execute(standing.values(version=organizations.c.version))


def _named(organization_id: str, brand_id: str) -> ColumnElement[bool]:
    return (brand_identities.c.organization_id == organization_id) & (brand_identities.c.id == brand_id)


def _default_of(organization_id: str) -> ColumnElement[bool]:
    return (brand_identities.c.organization_id == organization_id) & brand_identities.c.is_default


def _first(connection: Connection, condition: ColumnElement[bool]) -> BrandIdentity | None:
    found = connection.execute(select(brand_identities).where(condition)).first()
    return None if found is None else _brand(found)


def _is_taken(connection: Connection, organization_id: str, name: str, *, but_by: str = "") -> bool:
    taken = exists().where(
        brand_identities.c.organization_id == organization_id,
        brand_identities.c.name_key == name_key(name),
        brand_identities.c.id != but_by,
    )
    return bool(connection.scalar(select(taken)))


def _row(brand: BrandIdentity) -> dict[str, Any]:
    return {
        "id": brand.id,
        "organization_id": brand.organization_id,
        "name": brand.name,
        "name_key": name_key(brand.name),
        "is_default": brand.is_default,
        "website_url": brand.website_url,
        "company_name": brand.company_name,
        "company_description": brand.company_description,
        "tone_profile": brand.tone_profile.value,
        "custom_tone": brand.custom_tone,
        "custom_instructions": brand.custom_instructions,
        "audience": brand.audience,
        "language": brand.language,
        "created_at": to_ms(brand.created_at),
        "updated_at": to_ms(brand.updated_at),
    }


def _brand(row: AnyRow) -> BrandIdentity:
    return BrandIdentity(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        is_default=row.is_default,
        website_url=row.website_url,
        company_name=row.company_name,
        company_description=row.company_description,
        tone_profile=ToneProfile(row.tone_profile),
        custom_tone=row.custom_tone,
        custom_instructions=row.custom_instructions,
        audience=row.audience,
        language=row.language,
        created_at=from_ms(row.created_at),
        updated_at=from_ms(row.updated_at),
    )
