"""Pages of public changelogs: rendered once for each change, outside of the event loop, in a bounded cache."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from jinja2 import Template
from sqlalchemy import insert
from tests import sqlite
from tests.api.world import SEALER, ApiWorld
from tests.builders import a_post
from tests.changelog.reader import publish
from tests.statements import statements

from contentsvc_adapters.offload import HEAVY_WAITING, LISTS_WAITING, PER_ORGANIZATION, SingleThreadExecutor, shares
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.changelogs import SqlChangelogs
from contentsvc_adapters.sql.post_rows import post_row
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.searching.search import SqlSearch
from contentsvc_core.content.posts import PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.testing import START
from contentsvc_http.changelog.page_cache import RenderedPages

_PATHS: Final = (
    *("", "/2026-01", "/releases", "/posts/post_1", "/embed", "/embed/fragment", "/feed.atom", "/feed.json"),
    "?before=1770000000000_post_9",
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[ApiWorld]:
    """A changelog in a file, with posts."""
    database = Database(sqlite.migrated(tmp_path / "store.db"))
    created = ApiWorld(stores=SqlStores(database, SEALER))
    acme = await created.caller()
    await publish(acme)
    values = [
        post_row(
            a_post(
                START + timedelta(hours=number),
                id=f"post_{number}",
                organization_id=acme.organization.id,
                title=f"Lamp {number}",
                status=PostStatus.PUBLISHED,
                release_tag=f"v{number}",
            ),
            run_id="",
            once=None,
        )
        | {"run_id": None}
        for number in range(1, 4)
    ]
    await database.write(lambda connection: connection.execute(insert(posts), values))
    yield created
    await database.dispose()


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads of all renderings of templates."""
    observed: list[str] = []
    render = Template.render

    def counted(self: Template, *args: Any, **values: Any) -> str:
        observed.append(threading.current_thread().name)
        return render(self, *args, **values)

    monkeypatch.setattr(Template, "render", counted)
    return observed


async def get(world: ApiWorld, where: str, **headers: str) -> httpx.Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return await world.send("GET", f"/changelog/acme{where}", headers=fields)


@pytest.mark.parametrize("where", _PATHS)
async def test_a_rendered_page_is_neither_read_nor_rendered_again(
    world: ApiWorld, rendered: list[str], where: str
) -> None:
    with statements() as first_read:
        first = await get(world, where)
    assert first.status_code == 200
    assert [each for each, _ in first_read if "posts.content" in each]
    assert all(name.startswith("public pages") for name in rendered)
    assert len(rendered) == (0 if "feed" in where else 1)
    rendered.clear()

    tag, modified = first.headers["ETag"], first.headers["Last-Modified"]
    for headers, status in (({}, 200), ({"If_None_Match": tag}, 304), ({"If_Modified_Since": modified}, 304)):
        with statements() as read:
            again = await get(world, where, **headers)
        assert (again.status_code, again.content) == (status, first.content if status == 200 else b"")
        assert [each for each, _ in read if "posts.content" in each] == []
        assert rendered == []
        # The changelog, its last change, and the time zone of its organization.
        assert len([each for each, _ in read if "SELECT" in each]) == 3


async def test_a_flood_of_searches_holds_up_no_page_and_no_search_of_another_organization(
    world: ApiWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(await world.caller("Zenith"))
    flooded = await world.stores.changelogs.named("acme")
    assert flooded is not None
    flooded_id = flooded.organization_id
    release = asyncio.Event()
    search = SqlSearch.posts

    async def held(self: SqlSearch, organization_id: str, *arguments: Any, **named: Any) -> Any:
        if organization_id == flooded_id:
            await release.wait()
        return await search(self, organization_id, *arguments, **named)

    monkeypatch.setattr(SqlSearch, "posts", held)
    flood = [asyncio.create_task(get(world, f"?q=lamp+{number}")) for number in range(HEAVY_WAITING + 2)]
    # One page is rendered, others wait, and the last one finds no place.
    (refused,), _ = await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED)
    assert (refused.result().status_code, "Retry-After" in refused.result().headers) == (503, True)

    for where in _PATHS:
        assert (await get(world, where)).status_code == 200
    assert (await world.send("GET", "/changelog/zenith?q=lamp")).status_code == 200

    release.set()
    assert [answer.status_code for answer in await asyncio.gather(*flood)].count(200) == HEAVY_WAITING + 1


async def test_a_flood_of_pages_holds_up_no_page_of_another_organization(
    world: ApiWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await publish(await world.caller("Zenith"))
    flooded = await world.stores.changelogs.named("acme")
    assert flooded is not None
    release = asyncio.Event()
    read = SqlChangelogs.posts

    async def held(self: SqlChangelogs, changelog: PublicChangelog, **named: Any) -> Any:
        if changelog.organization_id == flooded.organization_id:
            await release.wait()
        return await read(self, changelog, **named)

    monkeypatch.setattr(SqlChangelogs, "posts", held)
    most = PER_ORGANIZATION + LISTS_WAITING
    # Strangers choose the cursors, so that no page is cached.
    flood = [asyncio.create_task(get(world, f"?before=17{number:011}_post_9")) for number in range(most + 1)]
    (refused,), _ = await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED)
    assert (refused.result().status_code, "Retry-After" in refused.result().headers) == (503, True)

    for where in ("", "/feed.atom", "/embed"):
        assert (await world.send("GET", f"/changelog/zenith{where}")).status_code == 200

    release.set()
    assert [answer.status_code for answer in await asyncio.gather(*flood)].count(200) == most


@pytest.mark.parametrize("where", _PATHS)
async def test_a_client_that_has_a_page_costs_no_rendering_even_where_none_is_kept(
    world: ApiWorld, rendered: list[str], where: str
) -> None:
    first = await get(world, where)
    rendered.clear()
    # Another node, or this node after a restart.
    other = ApiWorld(stores=world.stores)

    with statements() as read:
        again = await get(other, where, If_None_Match=first.headers["ETag"])

    assert (again.status_code, again.headers["ETag"]) == (304, first.headers["ETag"])
    assert [each for each, _ in read if "posts.content" in each] == []
    assert rendered == []
    assert (await get(other, where)).content == first.content


async def test_requests_at_once_render_a_page_once(world: ApiWorld, rendered: list[str]) -> None:
    answers = await asyncio.gather(*(get(world, "") for _ in range(8)))

    assert {answer.status_code for answer in answers} == {200}
    assert len(rendered) == 1


async def test_an_unknown_page_is_404_for_conditional_requests_too(world: ApiWorld) -> None:
    modified = (await get(world, "")).headers["Last-Modified"]
    for where in ("/posts/post_unknown", "/2026-12"):
        for headers in ({}, {"If_None_Match": "*"}, {"If_Modified_Since": modified}):
            assert (await get(world, where, **headers)).status_code == 404


def reading(page: bytes, observed: list[bytes]) -> Callable[[], Awaitable[Callable[[], bytes]]]:
    async def read() -> Callable[[], bytes]:
        observed.append(page)
        return lambda: page

    return read


async def test_kept_pages_are_bounded_in_bytes_and_the_least_used_goes_first() -> None:
    observed: list[bytes] = []
    offload = SingleThreadExecutor()
    pages = RenderedPages(offload, shares().pages, capacity=25)

    for key in (b"a", b"b", b"a", b"c", b"a", b"b"):
        assert await pages.page("org_a", key.decode(), reading(key * 10, observed)) == key * 10
    # The third page replaced b, the least recently used one.
    assert [page[:1] for page in observed] == [b"a", b"b", b"c", b"b"]
    # A page larger than the whole cache is not stored, and evicts nothing.
    for _ in range(2):
        assert await pages.page("org_a", "large", reading(b"l" * 26, observed)) == b"l" * 26
    assert await pages.page("org_a", "a", reading(b"new", observed)) == b"a" * 10
    assert len(observed) == 6
    offload.close()


async def test_a_fault_fails_all_waiting_requests_and_is_not_cached() -> None:
    offload = SingleThreadExecutor()
    pages = RenderedPages(offload, shares().pages)
    begun = 0

    async def fails() -> Callable[[], bytes]:
        nonlocal begun
        begun += 1
        await asyncio.sleep(0)
        message = "no such page"
        raise LookupError(message)

    answers = await asyncio.gather(*(pages.page("org_a", "a", fails) for _ in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [LookupError] * 3
    assert begun == 1
    assert await pages.page("org_a", "a", reading(b"a", [])) == b"a"
    offload.close()


async def test_a_cancelled_request_does_not_affect_other_requests() -> None:
    offload = SingleThreadExecutor()
    pages = RenderedPages(offload, shares().pages)
    observed: list[bytes] = []
    first = asyncio.create_task(pages.page("org_a", "a", reading(b"a", observed)))
    await asyncio.sleep(0)
    second = asyncio.create_task(pages.page("org_a", "a", reading(b"a", observed)))
    await asyncio.sleep(0)
    first.cancel()

    assert await second == b"a"
    assert first.cancelled()
    assert observed == [b"a"]
    offload.close()
