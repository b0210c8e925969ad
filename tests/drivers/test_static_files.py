"""Files of pages: their addresses, caching and compression."""

import re

import pytest
from tests.api.world import ApiWorld

from contentsvc_http.changelog.assets import asset_url as public_address
from contentsvc_http.dashboard.assets import asset_url as dashboard_address
from contentsvc_http.static_files import FONT, font

ADDRESSES = [dashboard_address(FONT), public_address(FONT)]


@pytest.fixture(scope="module")
def world() -> ApiWorld:
    return ApiWorld()


@pytest.mark.parametrize("style", [dashboard_address("style.css"), public_address("style.css")])
async def test_a_stylesheet_names_the_font_by_its_content(world: ApiWorld, style: str) -> None:
    answer = await world.send("GET", style)

    (named,) = re.findall(r'url\("([^"]+)"\)', answer.text)
    assert named in ADDRESSES
    found = await world.send("GET", named)
    assert (found.status_code, found.headers["Content-Type"]) == (200, "font/ttf")
    assert found.content == font()


@pytest.mark.parametrize("address", ADDRESSES)
async def test_an_address_that_names_its_content_is_kept_for_a_year(world: ApiWorld, address: str) -> None:
    named = await world.send("GET", address)
    # Of another version: a page may be older than the answering node.
    others = [await world.send("GET", f"{address}x"), await world.send("GET", address.partition("?")[0])]

    # Without a base URL, public pages and their files are only for private caches.
    assert named.headers["Cache-Control"].partition(", ")[2] == "max-age=31536000, immutable"
    assert {each.headers["Cache-Control"].partition(", ")[2] for each in others} == {"max-age=3600"}
    assert {each.content for each in others} == {named.content}


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [("gzip, deflate, br", True), ("GZIP", True), ("gzip;q=0.5", True), ("gzip;q=0, br", False), ("identity", False)],
)
async def test_a_file_is_compressed_for_clients_that_accept_it(
    world: ApiWorld, accepted: str, is_compressed: bool
) -> None:
    answer = await world.send("GET", ADDRESSES[0], headers={"Accept-Encoding": accepted})

    assert answer.headers["Vary"] == "Accept-Encoding"
    assert ("Content-Encoding" in answer.headers) is is_compressed
    assert (int(answer.headers["Content-Length"]) < len(font()) / 2) is is_compressed
    # The client has decompressed it.
    assert answer.content == font()
