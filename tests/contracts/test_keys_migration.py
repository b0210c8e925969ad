"""Revision 0011: issuing keys still works, slugs are reserved, and writes of older nodes are counted."""

import pytest
from attrs import evolve
from contract_values import RotatingSealer
from older_schema import ORGANIZATION, since
from sqlalchemy import Connection, text

from contentsvc_adapters.sql import Database, sql_stores, upgrade
from contentsvc_core.access.keys import Scope
from contentsvc_core.content.public.changelogs import SLUG_TAKEN, PublicChangelog

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")
_KEYS = {"both": '["read","write"]', "other": '["write","read"]', "reader": '["read"]', "writer": '["write"]'}
# Statements of the previous version, without the new columns.
_KEY = (
    "INSERT INTO api_keys (prefix, organization_id, name, digest, scopes, created_at)"
    " VALUES (:prefix, 'org_1', '', 'd', :scopes, 0)"
)
_CHANGELOG = (
    "INSERT INTO public_changelogs (organization_id, slug, title, description, content_types, is_public, created_at,"
    " updated_at) VALUES (:owner, :slug, 't', '', '[\"changelog\"]', :is_public, 0, 0)"
)
_POST = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " published_at) VALUES ('p', 'org_1', 't', 'c', 'm', 'changelog', 'published', 0, 0, 0)"
)


def _fill(connection: Connection) -> None:
    for id_, slug in (("org_1", "acme"), ("org_2", "zenith"), ("org_3", "third")):
        connection.execute(text(ORGANIZATION), {"id": id_, "slug": slug})
    for prefix, scopes in _KEYS.items():
        connection.execute(text(_KEY), {"prefix": f"csk_{prefix}", "scopes": scopes})
    # The first changelog has the slug of the second one.
    connection.execute(text(_CHANGELOG), {"owner": "org_1", "slug": "zenith", "is_public": True})
    connection.execute(text(_CHANGELOG), {"owner": "org_2", "slug": "sky", "is_public": False})


@since("0008")
async def test_keys_that_could_issue_keys_still_can_and_slugs_in_use_are_held(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)
    stores = sql_stores(older, RotatingSealer())

    keys = {key.prefix: key for key in await stores.keys.keys("org_1")}
    assert {prefix for prefix, key in keys.items() if Scope.ADMIN in key.scopes} == {"csk_both", "csk_other"}
    assert {key.issued_by for key in keys.values()} == {None}

    third = await stores.directory.organization("third")
    first = await stores.changelogs.of("org_1")
    second = await stores.changelogs.of("org_2")
    assert third is not None
    assert first is not None
    assert second is not None
    for slug in ("zenith", "sky"):
        taking = PublicChangelog.first(third, first.created_at)
        assert await stores.changelogs.save(evolve(taking, slug=slug)) == SLUG_TAKEN
    # An existing conflict stays: one changelog keeps the slug, and the other one cannot get it.
    assert await stores.changelogs.save(evolve(first, title="Lamps")) is None
    assert await stores.changelogs.save(evolve(second, slug="zenith")) == SLUG_TAKEN
    assert await stores.changelogs.save(evolve(second, slug="night")) is None
    assert await stores.changelogs.named("sky") == evolve(second, slug="night")


@since("0008")
async def test_nodes_of_the_version_before_read_and_write_beside_it(older: Database) -> None:
    await older.write(_fill)
    await upgrade(older)
    stores = sql_stores(older, RotatingSealer())

    async def revision() -> int:
        found = await stores.changelogs.of("org_1")
        assert found is not None
        return found.revision

    before = await revision()
    for number, statement in enumerate(
        (
            _POST,
            "UPDATE posts SET title = 'n', updated_at = 1",
            "UPDATE posts SET status = 'draft'",
            "DELETE FROM posts",
        )
    ):
        await older.write(lambda connection, statement=statement: connection.execute(text(statement)))
        assert await revision() == before + number + 1
    await older.write(lambda connection: connection.execute(text(_KEY), {"prefix": "csk_new", "scopes": '["read"]'}))
    added = await stores.keys.key("csk_new")
    assert added is not None
    assert added.scopes == (Scope.READ,)
    # Older nodes cannot read an unknown scope.
    admin = await stores.keys.key("csk_both")
    assert admin is not None
    row = await older.read(
        lambda connection: connection.scalar(text("SELECT scopes FROM api_keys WHERE prefix = 'csk_both'"))
    )
    assert "admin" not in row
