"""Reading sites over real sockets. Names are looked up in a table; public numbers lead to servers of this process."""

import asyncio
import gzip
import ipaddress
import socket
from collections import Counter
from pathlib import Path

import h11
import pytest
from tests.adapters.internet import OTHER, PAGE, PUBLIC, Internet, answer, certified, redirect, says

from contentsvc_adapters.sites.checking import MAX_PIECES
from contentsvc_adapters.sites.names import SystemNames
from contentsvc_adapters.sites.reader import MAX_PAGE, MAX_REDIRECTS, HttpSiteReader
from contentsvc_core.content.site_addresses import IPAddress, SiteHost
from contentsvc_core.ports.brands import NotRead, SiteFault, SitePage


def refused(found: SitePage | NotRead, *words: str, fault: SiteFault = SiteFault.LASTING) -> None:
    assert isinstance(found, NotRead)
    assert found.fault is fault
    for word in words:
        assert word in found.error


async def test_a_page_is_read_with_its_name_at_a_number_that_was_checked(internet: Internet) -> None:
    async with internet.serving(says(answer())):
        found = await internet.reader().read("http://acme.example/about?a=1#b")

    assert found == SitePage(url="http://acme.example/about?a=1", html=PAGE.decode())
    assert internet.connected == [(PUBLIC, 80)]
    assert internet.looked_up == ["acme.example"]
    (request,) = internet.requests
    assert request.startswith("GET /about?a=1 HTTP/1.1\r\n")
    assert "\r\nhost: acme.example\r\n" in request.lower()
    assert "\r\nuser-agent: contentsvc/" in request.lower()
    assert "cookie" not in request.lower()


async def test_a_name_that_changes_its_answer_leads_nowhere_else(internet: Internet) -> None:
    internet.name("rebind.example", [PUBLIC], ["127.0.0.1"])

    async with internet.serving(says(answer(body=b"public"))), internet.serving(says(answer()), "127.0.0.1"):
        found = await internet.reader().read("http://rebind.example/")
        again = await internet.reader().read("http://rebind.example/")

    # Resolved once, and connected to the resolved address.
    assert isinstance(found, SitePage)
    assert found.html == "public"
    refused(again, "there is no public site 'rebind.example'")
    assert internet.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "numbers",
    [
        ["127.0.0.1"],
        [PUBLIC, "10.0.0.1"],
        ["::1", PUBLIC],
        ["169.254.169.254"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
    ],
)
async def test_one_private_address_is_enough_to_refuse(internet: Internet, numbers: list[str]) -> None:
    internet.name("mixed.example", numbers)

    refused(await internet.reader().read("http://mixed.example/"), "there is no public site")
    assert internet.connected == []


async def test_the_address_of_this_machine_is_refused() -> None:
    # The real way to look names up; "localhost" as a part of a longer name is this machine (RFC 6761).
    assert ipaddress.ip_address("127.0.0.1") in await SystemNames()("127.0.0.1", 80)

    refused(await HttpSiteReader().read("http://127.0.0.1/"), "public site")


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://127.0.0.1/", "public site"),
        ("http://169.254.169.254/latest/meta-data/", "public site"),
        ("http://private.example/", "there is no public site"),
        ("//private.example/", "there is no public site"),
        ("http://acme.example:22/", "port"),
        ("http://user@acme.example/", "user name"),
        ("file:///etc/passwd", "must begin with"),
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(internet: Internet, location: str, words: str) -> None:
    internet.name("private.example", ["10.0.0.1"])

    async with internet.serving(says(redirect(location))), internet.serving(says(answer()), "127.0.0.1"):
        found = await internet.reader().read("http://acme.example/")

    refused(found, words)
    assert internet.connected == [(PUBLIC, 80)]


async def test_a_redirect_is_followed_without_cookies(internet: Internet) -> None:
    internet.name("www.acme.example", [OTHER])

    async with (
        internet.serving(says(redirect("http://www.acme.example/start", "Set-Cookie: a=b"))),
        internet.serving(says(redirect("home?x", "Set-Cookie: c=d"), answer()), OTHER),
    ):
        found = await internet.reader().read("http://acme.example/")

    assert found == SitePage(url="http://www.acme.example/home?x", html=PAGE.decode())
    assert internet.connected == [(PUBLIC, 80), (OTHER, 80), (OTHER, 80)]
    assert "cookie" not in "".join(internet.requests).lower()


async def test_a_loop_of_redirects_ends(internet: Internet) -> None:
    async with internet.serving(says(redirect("/"))):
        found = await internet.reader().read("http://acme.example/")

    refused(found, f"more than {MAX_REDIRECTS} times")
    assert len(internet.requests) == MAX_REDIRECTS + 1


async def test_the_second_address_is_tried_when_the_first_fails(internet: Internet) -> None:
    internet.name("two.example", [OTHER, PUBLIC])

    async with internet.serving(says(answer())):
        assert isinstance(await internet.reader().read("http://two.example/"), SitePage)

    assert internet.connected == [(OTHER, 80), (PUBLIC, 80)]
    refused(await internet.reader().read("http://two.example:443/"), "cannot be reached", fault=SiteFault.PASSING)


async def test_an_unknown_name_is_refused_and_a_silent_name_server_is_a_passing_fault(internet: Internet) -> None:
    async def silent(_name: str, _port: int) -> list[IPAddress]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    refused(await internet.reader().read("http://nobody.example/"), "there is no public site 'nobody.example'")
    refused(await HttpSiteReader(resolve=silent).read("http://acme.example/"), "looked up", fault=SiteFault.PASSING)
    # Without a query: no name server knows such a label.
    refused(await internet.reader().read(f"http://{'ä' * 60}.example/"), "there is no public site")


@pytest.mark.parametrize(
    ("response", "words", "fault"),
    [
        (answer(status="404 Not Found"), "status 404", SiteFault.LASTING),
        (answer(status="403 Forbidden"), "status 403", SiteFault.LASTING),
        (answer(status="204 No Content", body=b""), "status 204", SiteFault.LASTING),
        (answer(status="302 Found"), "status 302", SiteFault.LASTING),
        (answer(status="429 Too Many Requests"), "status 429", SiteFault.PASSING),
        (answer(status="503 Service Unavailable"), "status 503", SiteFault.PASSING),
        (answer(kind="application/pdf"), "no HTML", SiteFault.LASTING),
        (answer(kind="text/plain; charset=text/html"), "no HTML", SiteFault.LASTING),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "no HTML", SiteFault.LASTING),
        # A megabyte of zeros in a thousand bytes: nothing is unpacked.
        (answer("Content-Encoding: gzip", body=gzip.compress(bytes(2**20))), "compressed", SiteFault.LASTING),
        (answer(f"X-Long: {'a' * 200_000}"), "no HTTP, too large a head", SiteFault.PASSING),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP", SiteFault.PASSING),
        (redirect("http://[::1"), "no HTTP", SiteFault.PASSING),
        (answer()[:-5], "cut off", SiteFault.PASSING),
        (b"", "cut off", SiteFault.PASSING),
    ],
)
async def test_an_answer_that_is_not_a_page_has_its_reason(
    internet: Internet, response: bytes, words: str, fault: SiteFault
) -> None:
    async with internet.serving(says(response)):
        refused(await internet.reader().read("http://acme.example/"), words, fault=fault)


async def test_an_endless_page_is_read_as_far_as_is_of_use(internet: Internet) -> None:
    sent = Counter[str]()

    async def endless(_request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(b"a" * 65_536)
            sent["bytes"] += 65_536
            await writer.drain()

    async with internet.serving(endless):
        found = await internet.reader().read("http://acme.example/")

    assert isinstance(found, SitePage)
    assert len(found.html) == MAX_PAGE
    # Only what fits into the sockets' buffers.
    assert sent["bytes"] < 64 * MAX_PAGE


async def test_a_page_in_pieces_of_a_byte_is_read_to_a_number_of_pieces(internet: Internet) -> None:
    async def crumbling(_request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\na\r\n" * 1_000)
            await writer.drain()

    async with internet.serving(crumbling):
        found = await internet.reader().read("http://acme.example/")

    assert isinstance(found, SitePage)
    assert len(found.html) == MAX_PIECES


async def test_very_many_heads_are_read_in_small_parts(internet: Internet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part is read in one turn of the event loop, and all other tasks wait for it."""
    parts: list[int] = []
    receive = h11.Connection.receive_data

    def received(self: h11.Connection, data: bytes) -> None:
        parts.append(len(data))
        receive(self, data)

    monkeypatch.setattr(h11.Connection, "receive_data", received)

    async with internet.serving(says(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000)):
        refused(await internet.reader().read("http://acme.example/"), "was cut off", fault=SiteFault.PASSING)

    # The first part came before the buffer was set.
    assert max(parts[1:]) <= 32 * 1024


@pytest.mark.parametrize(
    "begin", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"]
)
async def test_a_site_that_drips_is_left_after_the_whole_time(internet: Internet, begin: bytes) -> None:
    async def drip(_request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        while True:
            # Each piece arrives within all other limits.
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with internet.serving(drip):
        found = await internet.reader(total_s=0.2).read("http://acme.example/")

    refused(found, "took longer than 0.2 s", fault=SiteFault.PASSING)


async def test_an_answer_of_the_name_server_that_never_comes_is_waited_for_no_longer() -> None:
    async def never(_name: str, _port: int) -> list[IPAddress]:
        await asyncio.Event().wait()
        return []

    found = await HttpSiteReader(resolve=never, total_s=0.05).read("http://acme.example/")

    refused(found, "took longer", fault=SiteFault.PASSING)


async def test_no_proxy_of_the_environment_is_asked(internet: Internet, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")

    async with internet.serving(says(answer())):
        assert isinstance(await internet.reader().read("http://acme.example/"), SitePage)

    assert internet.connected == [(PUBLIC, 80)]


async def test_an_operator_opens_a_host_and_nothing_beside_it(internet: Internet) -> None:
    internet.name("intranet", ["127.0.0.1"])
    internet.name("other", ["127.0.0.1"])
    reader = internet.reader(opened=[SiteHost(host="intranet", port=8080)])

    async with internet.serving(says(redirect("http://other:8080/"), answer()), "127.0.0.1", 8080):
        refused(await reader.read("http://intranet:8080/"), "public site")
        assert isinstance(await reader.read("http://intranet:8080/"), SitePage)

    assert [line for line in internet.requests[1].split("\r\n") if line.lower().startswith("host")] == [
        "Host: intranet:8080"
    ]


async def test_a_name_in_any_script_is_asked_for_as_name_servers_know_it(internet: Internet) -> None:
    internet.name("xn--strae-oqa.example", [PUBLIC])

    async with internet.serving(says(answer())):
        found = await internet.reader().read("http://STRAßE.example/ä?ö")

    assert isinstance(found, SitePage)
    assert internet.requests[0].startswith("GET /%C3%A4?%C3%B6 HTTP/1.1\r\n")
    assert "xn--strae-oqa.example" in internet.requests[0]


async def test_a_certificate_is_checked_for_the_name_though_the_number_is_asked(
    internet: Internet, tmp_path: Path
) -> None:
    server, client = certified(tmp_path, "acme.example")
    hosts: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: hosts.append(name)
    internet.name("zenith.example", [PUBLIC])
    reader = internet.reader(tls=client)

    async with internet.serving(says(answer()), port=443, tls=server):
        assert isinstance(await reader.read("https://acme.example/"), SitePage)
        refused(await reader.read("https://zenith.example/"), "certificate")
        refused(await internet.reader().read("https://acme.example/"), "certificate")

    assert hosts == ["acme.example", "zenith.example", "acme.example"]


async def test_a_secure_site_does_not_lead_to_an_insecure_one(internet: Internet, tmp_path: Path) -> None:
    server, client = certified(tmp_path, "acme.example")

    async with (
        internet.serving(says(redirect("http://acme.example/")), port=443, tls=server),
        internet.serving(says(redirect("https://acme.example/"))),
    ):
        refused(await internet.reader(tls=client).read("https://acme.example/"), "from https to http")
        # Most sites begin with the reverse redirect.
        refused(await internet.reader(tls=client).read("http://acme.example/"), "from https to http")

    assert internet.connected == [(PUBLIC, 443), (PUBLIC, 80), (PUBLIC, 443)]
