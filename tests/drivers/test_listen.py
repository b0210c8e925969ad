"""`listen`: deliveries from a relay of server-sent events, and from a recorded file, reach a local server unchanged."""

import hmac
import http.server
import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from click.testing import CliRunner
from tests.drivers.commands import command, invoke

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


class Both(http.server.BaseHTTPRequestHandler):
    """A relay (GET) whose connections have a script, and a webhook (POST) that keeps all requests."""

    connections: ClassVar[list[Sequence[bytes]]] = []
    received: ClassVar[list[tuple[dict[str, str], bytes]]] = []
    #: The statuses of the first answers.
    busy: ClassVar[list[int]] = []
    kind = "text/event-stream"

    def do_GET(self) -> None:
        if self.busy:
            self.send_response(self.busy.pop(0))
            self.end_headers()
            return
        # The script is read before the answer begins: a client that has the head may write the next script.
        parts = self.connections.pop(0) if self.connections else None
        self.send_response(404 if parts is None else 200)
        self.send_header("Content-Type", self.kind)
        self.end_headers()
        for part in parts or ():
            self.wfile.write(part)
            self.wfile.flush()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
        signature_headers = self.headers.get("X-Hub-Signature-256")
        good = signature_headers is None or hmac.compare_digest(signature_headers, signed(body))
        answer = b'{"received":true,"message":"ok","data":{"processed":true}}' if good else b'{"error":"bad signature"}'
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        del format, args


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("contentsvc_cli.develop.relay._FIRST_PAUSE_S", 0.0)
    Both.connections, Both.received, Both.kind = [], [], "text/event-stream"
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Both) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def listen(url: str, *more: str) -> Any:
    return CliRunner().invoke(main, ["listen", "--from", f"{url}/channel", "--to", f"{url}/hook", *more])


def test_the_bytes_of_the_body_and_the_signature_arrive(relay: str) -> None:
    signature_headers = {"x-github-delivery": "d-1", "x-hub-signature-256": signed(BODY.encode())}
    Both.connections = [[b"event: ready\ndata: {}\n\n", b": ping\n\n", event(**signature_headers)]]

    done = listen(relay, "--count", "1")

    assert done.exit_code == 0, done.output
    ((headers, body),) = Both.received
    assert body == BODY.encode()
    assert headers["x-github-event"] == "push"
    assert "cookie" not in headers
    assert headers["host"] == relay.removeprefix("http://")
    assert done.stdout == "200  processed  push  d-1  ok\n"


def test_a_broken_connection_is_opened_again(relay: str) -> None:
    # The first connection ends within an event, which does not count as a delivery.
    Both.connections = [[event(**{"x-github-delivery": "d-1"}), b"data: {"], [event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "2", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["d-1", "d-2"]
    assert "the relay has closed the connection; connecting again" in done.stderr or "incomplete" in done.stderr


@pytest.mark.parametrize("status", [408, 429, 503])
def test_a_busy_relay_is_asked_again(relay: str, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setattr(Both, "busy", [status])
    Both.connections = [[event(**{"x-github-delivery": "d-1"})]]

    done = listen(relay, "--count", "1", "--json")

    assert done.exit_code == 0, done.stderr
    assert f"{status} " in done.stderr
    assert len(Both.received) == 1


def test_a_header_of_other_bytes_ends_nothing(relay: str) -> None:
    torn = event(**{"x-github-delivery": "d-1", "x-title": "torn"}).replace(b"torn", b"\xff")
    Both.connections = [[torn, event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "2", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["d-1", "d-2"]


def test_a_header_that_is_no_delivery_id_ends_nothing(relay: str) -> None:
    odd = [event(**{"x-github-delivery": value}) for value in ("two words", "d" * 300)]
    Both.connections = [[*odd, event(**{"x-github-delivery": "d-2"})]]

    done = listen(relay, "--count", "3", "--json")

    assert [json.loads(line)["delivery"] for line in done.stdout.splitlines()] == ["unknown", "unknown", "d-2"]


def test_a_body_that_the_relay_has_changed_is_signed_again_with_the_secret(relay: str) -> None:
    wrong = {"x-github-delivery": "d-1", "x-hub-signature-256": signed(b"other bytes")}
    Both.connections = [[event(**wrong)], [event(**wrong)]]

    refused = listen(relay, "--count", "1")
    accepted = listen(relay, "--count", "1", "--secret", SECRET)

    assert refused.stdout.startswith("401  error")
    assert "set CONTENTSVC_WEBHOOK_SECRET" in refused.stderr
    assert accepted.stdout.startswith("200  processed")


def test_a_recorded_file_is_forwarded(relay: str, tmp_path: Path) -> None:
    recording = tmp_path / "x.jsonl"
    recording.write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n')
    arguments = ["listen", "--file", str(recording), "--to", f"{relay}/hook"]

    assert CliRunner().invoke(main, arguments).exit_code == 2
    with_port = CliRunner().invoke(main, [*arguments, "--port", "8001"], env={"CONTENTSVC_WEBHOOK_SECRET": SECRET})
    assert (with_port.exit_code, "leave out --port" in with_port.stderr) == (2, True)
    done = CliRunner().invoke(main, arguments, env={"CONTENTSVC_WEBHOOK_SECRET": SECRET})

    assert (done.exit_code, done.stdout) == (0, "200  processed  push  d-1  ok\n")
    assert Both.received[0][1] == b'{"a":1}'


def test_without_an_address_the_webhook_is_at_the_base_urls_port_of_this_machine(
    relay: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "x.jsonl").write_text('{"event":"push","delivery":"d-1","body":{"a":1}}\n')
    command("organization", "create", "Acme")
    command("integration", "connect", "acme/lighthouse", "--repository-id", "4242")
    monkeypatch.setenv("CONTENTSVC_BASE_URL", relay.replace("127.0.0.1", "localhost"))

    done = invoke("listen", "--file", "x.jsonl", "--secret", SECRET)

    assert (done.exit_code, done.stdout) == (0, "200  processed  push  d-1  ok\n")


def test_a_url_that_is_not_a_channel_is_refused(relay: str) -> None:
    assert "answers with 404: is this the URL of a channel?" in listen(relay).stderr
    Both.connections = [[b"<html>"]]
    Both.kind = "text/html"
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
