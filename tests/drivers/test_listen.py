"""`listen`: deliveries from a relay of server-sent events, and from a recorded file, reach a local server unchanged."""

import hmac
import json
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import httpx
import pytest
from click.testing import CliRunner
from httpx._config import create_ssl_context
from httpx._transports import default
from tests.adapters.internet import certified
from tests.drivers.commands import command, invoke
from tests.http_server import HttpServer, ReceivedRequest, Reply

from contentsvc_cli.develop.relay import events, lines_of, read_event
from contentsvc_cli.main import main

SECRET: Final = "a secret of the webhook"
#: Bytes that another JSON writer would change: the order of keys, an escape, a large number, a float.
BODY: Final = r'{"b":1,"a":"\u00fc","n":12345678901234567890,"f":1.0}'


def signed(body: bytes) -> str:
    return f"sha256={hmac.new(SECRET.encode(), body, 'sha256').hexdigest()}"


def event(body: str = BODY, **headers: str) -> bytes:
    fields = {"host": "smee.io", "cookie": "c", "content-type": "application/json", "x-github-event": "push", **headers}
    data = json.dumps(fields)[:-1] + f', "body": {body}, "query": {{}}, "timestamp": 1}}'
    return f"id: 1\ndata: {data}\n\n".encode()


class Relay(HttpServer):
    """A relay (GET) whose connections have a script, and a webhook (POST)."""

    def __init__(self) -> None:
        super().__init__()
        self.script: list[Sequence[bytes]] = []
        #: The statuses of the first answers.
        self.busy: list[int] = []
        self.kind = "text/event-stream"

    def reply(self, request: ReceivedRequest, /) -> Reply:
        if request.method == "POST":
            signature = request.headers.get("x-hub-signature-256")
            if signature is None or hmac.compare_digest(signature, signed(request.raw)):
                return 200, {}, b'{"received":true,"message":"ok","data":{"processed":true}}'
            return 401, {}, b'{"error":"bad signature"}'
        if self.busy:
            return self.busy.pop(0), {}, b""
        if not self.script:
            return 404, {}, b""
        return 200, {"Content-Type": self.kind}, b"".join(self.script.pop(0))

    @property
    def delivered(self) -> list[ReceivedRequest]:
        return [each for each in self.requests if each.method == "POST"]


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    monkeypatch.setattr("contentsvc_cli.develop.relay._FIRST_PAUSE_S", 0.0)
    with Relay() as serving:
        yield serving


def listen(relay: Relay, *more: str) -> Any:
    return CliRunner().invoke(main, ["listen", "--from", f"{relay.url}/channel", "--to", f"{relay.url}/hook", *more])


def test_the_bytes_of_the_body_and_the_signature_arrive(relay: Relay) -> None:
    signature_headers = {"x-github-delivery": "d-1", "x-hub-signature-256": signed(BODY.encode())}
    relay.script = [[b"event: ready\ndata: {}\n\n", b": ping\n\n", event(**signature_headers)]]

    done = listen(relay, "--count", "1")

    assert done.exit_code == 0, done.output
    (delivered,) = relay.delivered
    assert delivered.raw == BODY.encode()
    assert delivered.headers["x-github-event"] == "push"
    assert "cookie" not in delivered.headers
    assert delivered.headers["host"] == relay.place
    assert done.stdout == "200  processed  push  d-1  ok\n"


def test_a_broken_connection_is_opened_again(relay: Relay) -> None:
    # The first connection ends within an event, which does not count as a delivery.
    relay.script = [[event(**{"x-github-delivery": "d-1"}), b"data: {"], [event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "2", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["d-1", "d-2"]
    assert "the relay has closed the connection; connecting again" in done.stderr or "incomplete" in done.stderr


@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_busy_relay_is_asked_again(relay: Relay, status: int) -> None:
    relay.busy = [status]
    relay.script = [[event(**{"x-github-delivery": "d-1"})]]

    done = listen(relay, "--count", "1", "--json")

    assert done.exit_code == 0, done.stderr
    assert f"{status} " in done.stderr
    assert len(relay.delivered) == 1


def test_a_header_of_other_bytes_ends_nothing(relay: Relay) -> None:
    torn = event(**{"x-github-delivery": "d-1", "x-title": "torn"}).replace(b"torn", b"\xff")
    relay.script = [[torn, event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "2", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["d-1", "d-2"]


def test_a_header_that_is_no_delivery_id_ends_nothing(relay: Relay) -> None:
    odd = [event(**{"x-github-delivery": value}) for value in ("two words", "d" * 300)]
    relay.script = [[*odd, event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "3", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["unknown", "unknown", "d-2"]


def test_a_body_that_the_relay_has_changed_is_signed_again_with_the_secret(relay: Relay) -> None:
    wrong = {"x-github-delivery": "d-1", "x-hub-signature-256": signed(b"other bytes")}
    relay.script = [[event(**wrong)], [event(**wrong)]]

    refused = listen(relay, "--count", "1")
    accepted = listen(relay, "--count", "1", "--secret", SECRET)

    assert refused.stdout.startswith("401  error")
    assert "set CONTENTSVC_WEBHOOK_SECRET" in refused.stderr
    assert accepted.stdout.startswith("200  processed")


def test_a_recorded_file_is_forwarded(relay: Relay, tmp_path: Path) -> None:
    recording = tmp_path / "x.jsonl"
    recording.write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n')
    arguments = ["listen", "--file", str(recording), "--to", f"{relay.url}/hook"]

    assert CliRunner().invoke(main, arguments).exit_code == 2
    with_port = CliRunner().invoke(main, [*arguments, "--port", "8001"], env={"CONTENTSVC_WEBHOOK_SECRET": SECRET})
    assert (with_port.exit_code, "leave out --port" in with_port.stderr) == (2, True)
    done = CliRunner().invoke(main, arguments, env={"CONTENTSVC_WEBHOOK_SECRET": SECRET})

    assert (done.exit_code, done.stdout) == (0, "200  processed  push  d-1  ok\n")
    assert relay.delivered[0].raw == b'{"a":1}'


def test_a_recorded_file_is_not_forwarded_further_without_a_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contentsvc_cli.develop.sending._FIRST_WAIT_S", 0.0)
    recording = tmp_path / "x.jsonl"
    recording.write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n' * 3)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        to = f"http://127.0.0.1:{closed.getsockname()[1]}/hook"

    done = CliRunner().invoke(main, ["listen", "--file", str(recording), "--to", to, "--secret", SECRET])

    assert (done.exit_code, len(done.stdout.splitlines())) == (1, 1)
    assert done.stderr.startswith("Error: cannot connect to 127.0.0.1:")


@pytest.mark.parametrize(
    "arguments",
    [
        ("listen", "--from", "{url}/channel", "--to", "{url}/hook"),
        ("send", "{file}", "--url", "{url}/api/webhooks/github/o/i/1", "--secret", SECRET, "--retries", "0"),
        ("--server", "{url}", "post", "list"),
    ],
)
def test_a_command_names_the_file_of_authorities_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]
) -> None:
    def end(text: str, *, err: bool) -> None:
        raise click.ClickException(text if err else "")

    monkeypatch.setattr("contentsvc_cli.develop.listen.say", end)
    monkeypatch.setattr("contentsvc_cli.remote._ATTEMPTS", 1)
    # This run shares one context between all clients: the client's own function reads the variable.
    for module in (httpx, default):
        monkeypatch.setattr(module, "create_ssl_context", create_ssl_context)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    monkeypatch.setenv("CONTENTSVC_API_KEY", "key")
    file = tmp_path / "x.jsonl"
    file.write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n')
    with Relay() as server:
        tls, _ = certified(tmp_path, "localhost")
        server._server.socket = tls.wrap_socket(server._server.socket, server_side=True)  # pyright: ignore[reportPrivateUsage]
        url = f"https://localhost:{server.port}"
        done = CliRunner().invoke(main, [each.format(url=url, file=file) for each in arguments])

    assert "check that SSL_CERT_FILE" in done.stderr


def test_without_an_address_the_webhook_is_at_the_base_urls_port_of_this_machine(
    relay: Relay, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "x.jsonl").write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n')
    command("organization", "create", "Acme")
    command("integration", "connect", "acme/lighthouse", "--repository-id", "4242")
    monkeypatch.setenv("CONTENTSVC_BASE_URL", relay.url.replace("127.0.0.1", "localhost"))

    done = invoke("listen", "--file", "x.jsonl", "--secret", SECRET)

    assert (done.exit_code, done.stdout) == (0, "200  processed  push  d-1  ok\n")


def test_a_url_that_is_not_a_channel_is_refused(relay: Relay) -> None:
    assert "answers with 404: is this the URL of a channel?" in listen(relay).stderr
    relay.script = [[b"<html>"]]
    relay.kind = "text/html"
    assert "is not a relay: it sends 'text/html'" in listen(relay).stderr


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
async def test_an_event_has_one_meaning_however_it_is_cut(size: int, end: bytes) -> None:
    stream = b"\n".join((b": hello", b"data: a", b"data:b", b"", b"event: ping", b"data: c", b"", b"data: d", b"", b""))
    stream = stream.replace(b"\n", end)

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(stream), size):
            yield stream[start : start + size]

    assert [each async for each in events(lines_of(parts()))] == [b"a\nb", b"d"]


@pytest.mark.parametrize("data", [b"{}", b"[]", b"{", b'{"timestamp":1}', b"\xff"])
def test_an_event_without_a_body_is_no_delivery(data: bytes) -> None:
    assert read_event(data) is None


def test_a_form_is_a_form_again() -> None:
    found = read_event(b'{"content-type":"application/x-www-form-urlencoded","body":{"payload":"{\\"a\\":1}"}}')

    assert found is not None
    assert found.body == b"payload=%7B%22a%22%3A1%7D"
