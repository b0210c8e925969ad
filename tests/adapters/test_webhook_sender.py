"""Sending webhooks over real sockets: names are looked up in a table, and public numbers lead to servers here."""

import asyncio
import ssl
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests.adapters.internet import OTHER, PUBLIC, Internet, Serve, answer, certified, redirect, says

from contentsvc_adapters.outgoing.sender import HttpWebhookSender
from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.outgoing.retries import Answer, NotSent

URL: Final = "https://acme.example/hook?a=1"
HEADERS: Final = {"webhook-id": "msg_1"}
BODY: Final = b'{"type":"post.created"}'


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server named acme.example, and of a client that trusts it."""
    folder: Path = tmp_path_factory.mktemp("tls")
    return certified(folder, "acme.example")


async def sent(internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext], serve: Serve) -> Answer | NotSent:
    server, client = tls
    async with internet.serving(serve, port=443, tls=server):
        return await internet.sender(tls=client).send(URL, HEADERS, BODY)


def not_sent(found: Answer | NotSent, *words: str) -> None:
    assert isinstance(found, NotSent)
    for word in words:
        assert word in found.error


async def test_a_message_arrives_unchanged_at_the_checked_address(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    found = await sent(internet, tls, says(answer(body=b"thanks \x07 a lot")))

    assert found == Answer(status=200, excerpt="thanks a lot")
    assert internet.connected == [(PUBLIC, 443)]
    assert internet.looked_up == ["acme.example"]
    (request,) = internet.requests
    head, _, body = request.partition("\r\n\r\n")
    assert head.startswith("POST /hook?a=1 HTTP/1.1\r\n")
    for header in (
        "host: acme.example",
        "content-type: application/json",
        "webhook-id: msg_1",
        "user-agent: contentsvc/",
    ):
        assert f"\r\n{header}" in head.lower()
    assert body.encode() == BODY


async def test_a_redirect_is_an_answer_and_is_not_followed(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    found = await sent(internet, tls, says(redirect("http://169.254.169.254/latest/meta-data/")))

    assert found == Answer(status=302)
    assert internet.connected == [(PUBLIC, 443)]


async def test_the_retry_after_of_an_answer_is_read(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    found = await sent(internet, tls, says(answer("Retry-After: 120", status="503 Busy", body=b"later")))

    assert found == Answer(status=503, retry_after="120", excerpt="later")


@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/latest/", "https://localhost/", "https://127.0.0.1/", "http://acme.example/"]
)
async def test_an_address_that_may_not_be_named_is_not_even_looked_up(internet: Internet, url: str) -> None:
    # An earlier setting of the operator allowed it.
    not_sent(await internet.sender().send(url, HEADERS, BODY), "nothing was sent: the address must")
    assert internet.looked_up == internet.connected == []


@pytest.mark.parametrize("numbers", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1", PUBLIC], ["169.254.169.254"]])
async def test_a_name_of_this_network_is_refused_as_an_unknown_one(internet: Internet, numbers: list[str]) -> None:
    internet.name("canary.example", numbers)
    sender = internet.sender()

    not_sent(await sender.send("https://canary.example/", HEADERS, BODY), "there is no public host 'canary.example'")
    not_sent(await sender.send("https://nobody.example/", HEADERS, BODY), "there is no public host 'nobody.example'")
    assert internet.connected == []


async def test_a_host_that_an_operator_has_opened_is_reached_wherever_it_is_and_without_tls(internet: Internet) -> None:
    internet.name("intranet.example", ["10.0.0.7"])
    opened = internet.sender(opened=[SiteHost(host="intranet.example", port=8080)])
    async with internet.serving(says(answer(status="204 No Content", body=b"")), "10.0.0.7", 8080):
        found = await opened.send("http://intranet.example:8080/", HEADERS, BODY)

    assert found == Answer(status=204)
    not_sent(await opened.send("http://intranet.example/", HEADERS, BODY), "must begin with https://")


async def test_a_certificate_of_another_name_is_refused(internet: Internet, tmp_path: Path) -> None:
    server, client = certified(tmp_path, "other.example")
    async with internet.serving(says(answer()), port=443, tls=server):
        found = await internet.sender(tls=client).send(URL, HEADERS, BODY)

    not_sent(found, "certificate is not valid")
    assert internet.requests == []


async def test_missing_authorities_are_a_fault_of_this_server_until_their_file_is_there(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The client's own function is replaced in this run: this one loads the file as the client does.
    missing = str(tmp_path / "missing.pem")
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: ssl.create_default_context(cafile=missing))
    sender = HttpWebhookSender(resolve=internet.resolve)
    async with internet.serving(says(answer()), port=443, tls=tls[0]):
        found = await sender.send(URL, HEADERS, BODY)
        monkeypatch.undo()
        again = await sender.send(URL, HEADERS, BODY)

    not_sent(found, "nothing was sent", "SSL_CERT_FILE")
    assert isinstance(found, NotSent)
    assert not found.counts
    not_sent(again, "certificate is not valid")


async def test_a_silent_server_is_abandoned_in_time(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    over = asyncio.Event()

    async def silent(_request: bytes, _writer: asyncio.StreamWriter) -> None:
        await over.wait()

    server, client = tls
    async with internet.serving(silent, port=443, tls=server):
        found = await internet.sender(tls=client, total_s=0.3).send(URL, HEADERS, BODY)
        over.set()

    not_sent(found, "did not answer within 0.3 s")


async def test_an_answer_without_end_is_read_to_its_beginning(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    async def endless(_request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            await writer.drain()

    found = await sent(internet, tls, endless)

    assert isinstance(found, Answer)
    assert (found.status, len(found.excerpt)) == (500, 200)


@pytest.mark.parametrize("response", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, b""])
async def test_a_response_that_is_not_http_is_an_error(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext], response: bytes
) -> None:
    not_sent(await sent(internet, tls, says(response)), "is no HTTP")


async def test_a_body_that_is_cut_off_takes_nothing_from_the_status(
    internet: Internet, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    found = await sent(internet, tls, says(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"))

    assert found == Answer(status=200, excerpt="half")


async def test_a_closed_port_is_an_error_that_names_it(internet: Internet) -> None:
    internet.name("acme.example", [OTHER])

    not_sent(await internet.sender().send(URL, HEADERS, BODY), "cannot be reached")
