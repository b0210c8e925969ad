"""Migrations of SQLite: from an empty file, by concurrent processes, interrupted, and never downwards."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from older_schema import REFUSED, check_upgrades_at_once, database_at, in_a_process, killed_upgrade
from sqlalchemy import Connection, text
from sqlite_files import file_of

from contentsvc_adapters.sql import HEAD, Database, make_ready, migrations, revision, upgrade
from contentsvc_core.errors import SchemaMismatch


@pytest.fixture
async def empty(tmp_path: Path) -> AsyncGenerator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'new.db'}")
    yield database
    await database.dispose()


def _schema(connection: Connection) -> dict[str, list[str]]:
    """Return each definition in its parts: the order of columns and constraints does not matter."""
    found = connection.execute(text("SELECT name, sql FROM sqlite_master"))
    return {name: sorted(_parts(sql)) for name, sql in found if sql is not None}


def _parts(definition: str) -> list[str]:
    parts, depth = [""], 0
    for character in definition:
        before, depth = depth, depth + {"(": 1, ")": -1}.get(character, 0)
        if (min(before, depth), max(before, depth)) == (0, 1) or (depth == 1 and character == ","):
            parts.append("")
        else:
            parts[-1] += character
    return [" ".join(part.replace('"', "").split()) for part in parts]


async def test_a_database_that_does_not_exist_is_made(empty: Database) -> None:
    assert await upgrade(empty)
    assert await revision(empty) == HEAD
    assert await revision(empty) == HEAD
    assert not await upgrade(empty)


def test_every_revision_up_to_the_newest_has_a_script() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")

    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert {each.revision for each in scripts.walk_revisions()} == {
        f"{number:04}" for number in range(20, int(HEAD) + 1)
    }


async def test_an_upgraded_database_is_like_a_new_one(empty: Database, tmp_path: Path) -> None:
    assert await upgrade(empty)
    async with database_at("0020", "sqlite", tmp_path) as older:
        assert await upgrade(older)
        assert await older.read(_schema) == await empty.read(_schema)


async def test_a_schema_is_created_and_checked_without_alembic(empty: Database) -> None:
    """The import takes longer than a start may take."""
    script = f"""
import asyncio, sys
from contentsvc_adapters.sql import Database, upgrade
async def main():
    database = Database("sqlite:///{file_of(empty)}")
    assert await upgrade(database)
    assert not await upgrade(database)
    await database.dispose()
asyncio.run(main())
assert "alembic" not in sys.modules
"""
    assert await in_a_process(script) == 0


@pytest.mark.slow("starts several processes")
async def test_of_several_processes_one_upgrades_and_the_others_wait(empty: Database) -> None:
    await check_upgrades_at_once(empty, f"sqlite:///{file_of(empty)}")


async def test_in_one_process_it_is_no_different(empty: Database) -> None:
    others = [Database(f"sqlite:///{file_of(empty)}", busy_timeout_ms=60_000) for _ in range(4)]

    assert sorted(await asyncio.gather(*map(upgrade, others))) == [False, False, False, True]

    for other in others:
        await other.dispose()


@pytest.mark.slow("starts several processes")
@pytest.mark.parametrize("at", ["CREATE TABLE organizations", "CREATE TABLE posts", "INSERT INTO alembic_version"])
async def test_an_upgrade_that_is_killed_leaves_the_old_schema(empty: Database, at: str) -> None:
    assert await killed_upgrade(f"sqlite:///{file_of(empty)}", at) == -9

    assert await revision(empty) is None
    assert await empty.read(_schema) == {}
    assert await upgrade(empty)


@pytest.mark.parametrize(("found", "message"), REFUSED)
async def test_another_schema_is_refused(database: Database, found: str, message: str) -> None:
    with closing(sqlite3.connect(file_of(database))) as file:
        file.execute("UPDATE alembic_version SET version_num = ?", (found,))
        file.commit()

    with pytest.raises(SchemaMismatch, match=rf"revision {found}, .*{message}"):
        await upgrade(database)
    assert await revision(database) == found


@pytest.mark.parametrize("found", [None, "ae1027a6acf5", HEAD], ids=["unversioned", "versioned", "same_revision"])
async def test_a_file_of_another_application_is_refused_and_left_unchanged(empty: Database, found: str | None) -> None:
    with closing(sqlite3.connect(file_of(empty))) as file, file:
        file.execute("CREATE TABLE lamps (lit)")
        if found is not None:
            file.execute("CREATE TABLE alembic_version (version_num)")
            file.execute("INSERT INTO alembic_version VALUES (?)", (found,))
    before = file_of(empty).read_bytes()

    for work in (upgrade, make_ready, revision):
        with pytest.raises(SchemaMismatch, match=r"another application.*set CONTENTSVC_DATABASE_URL to another file"):
            await work(empty)

    await empty.dispose()
    assert file_of(empty).read_bytes() == before


async def test_an_empty_file_is_used(empty: Database) -> None:
    file_of(empty).touch()

    assert await upgrade(empty)
