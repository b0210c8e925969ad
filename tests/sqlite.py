"""SQLite files for tests."""

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from contentsvc_adapters.sql import Database, upgrade
from tests.postgres_server import once, run_folder


def migrated(path: Path) -> str:
    """Make a database with the schema; give its URL. It is copied from one that the run makes once."""
    shutil.copy(_template(), path)
    return f"sqlite+aiosqlite:///{path}"


def _template() -> Path:
    template = run_folder() / "template.db"
    with once(run_folder(), "template.db-made") as first:
        if first:
            # In a thread of its own: who asks may be inside a running loop.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _migrate(f"sqlite:///{template}")).result()
    return template


async def _migrate(url: str) -> None:
    made = Database(url)
    await upgrade(made)
    await made.dispose()
