"""The log over a database: the same matches as in memory."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest
from tests import sqlite
from tests.api.world import SEALER, ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen

from contentsvc_adapters.sql import Database, sql_stores

LOGS = "/dashboard/integrations/logs"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[ApiWorld]:
    created = Database(sqlite.migrated(tmp_path / "store.db"))
    yield ApiWorld(stores=sql_stores(created, SEALER))
    await created.dispose()


def titles(page: Seen) -> list[str]:
    return [" ".join(row[0].split()) for row in page.rows if len(row) > 1 and row[0] != "Delivery"]


async def test_the_log_is_filtered_followed_and_replayed(acme: Caller, browsing: Browsing) -> None:
    await acme("POST", "/v1/event-triggers", {"name": "Each release", "targets": {"repositoryIds": [1]}})
    await acme.push("d-1", "feat: a lamp")
    acme.world.clock.advance(timedelta(seconds=1))
    await acme.release("d-2", "v1.0.0")
    acme.world.clock.advance(timedelta(seconds=1))

    page = await browsing.open(LOGS)
    assert titles(page) == [
        "v1.0.0 release",
        "main: feat: a lamp push",
    ]
    for query, number in (("event=push", 1), ("text=D-2", 1), ("status=failed", 0), ("text=%00", 0), ("text=%25", 0)):
        assert len(titles(await browsing.open(f"{LOGS}?{query}"))) == number, query
    (address,) = [attrs["hx-get"] for _, attrs in page.elements if attrs.get("hx-trigger") == "every 2s"]
    assert (await browsing.open(address, headers={"HX-Request": "true"})).status == 204

    release = await browsing.open(page.links["v1.0.0"])
    page = await browsing.send(next(form for form in release.forms if form.action.endswith("/replay")))

    assert "The delivery is processed again." in page.text
    assert page.path != release.path
    new = await browsing.open(address, headers={"HX-Request": "true"})
    assert len(titles(new)) == 1
    await acme.world.perform()
    page = await browsing.open(page.path)
    assert [" ".join(cell.split()) for cell in page.rows[1]][1:3] == ["completed", "Each release"]
    assert "success" in (await browsing.open("/dashboard/integrations")).rows[1][3]
