"""One real `contentsvc serve`, over real sockets, with the operator's commands beside it."""

import asyncio
import contextlib
import http.client
import json
import socket
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Any, Final, final

import httpx
import pytest
from attrs import field, frozen
from tests.server_process import (
    DUPLICATE,
    LOOPBACK,
    PATIENCE_S,
    PLAIN,
    REPOSITORY_ID,
    Prepared,
    ServerProcess,
    prepare,
    serving,
    signature,
    until,
)

from contentsvc_core.testing import push_body

pytestmark = pytest.mark.slow("starts servers by the dozen")

PROCESSED: Final = "Processed push event (pushed)"
_DRAIN_S: Final = 10.0


@final
@frozen(kw_only=True)
class World:
    """A running server, its installation, and a client."""

    prepared: Prepared
    server: ServerProcess
    client: httpx.Client

    def send(self, body: bytes, delivery: str, event: str = "push", **headers: str) -> httpx.Response:
        """Send a delivery, signed unless a header says otherwise."""
        hook = self.prepared.hook
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(hook.path, content=body, headers=hook.headers(body, delivery, event) | named)

    def list_posts(self, query: str = "", key: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key or self.prepared.key}"}
        return self.client.get(f"/v1/posts{query}", headers=headers)

    def assert_still_serves(self) -> None:
        """Check that the next good delivery is processed."""
        answer = self.send(_push(), _new_id())
        assert (answer.status_code, answer.json()["message"]) == (200, PROCESSED)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Set up once; nothing serves it, so that it can be copied."""
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def world(template: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    prepared = template.copied_to(tmp_path_factory.mktemp("world"))
    with serving(prepared.installation) as server, _client(server) as client:
        yield World(prepared=prepared, server=server, client=client)


@pytest.fixture
def wire(world: World) -> Generator["Wire"]:
    with Wire(world.server) as opened:
        yield opened


def _client(server: ServerProcess) -> httpx.Client:
    return httpx.Client(base_url=server.url, trust_env=False, verify=PLAIN, timeout=PATIENCE_S)


def _clients(server: ServerProcess, connections: int) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=connections)
    return httpx.AsyncClient(base_url=server.url, trust_env=False, verify=PLAIN, timeout=PATIENCE_S, limits=limits)


def _new_id() -> str:
    return str(uuid.uuid4())


def _push(message: str = "feat: add a lamp") -> bytes:
    return json.dumps(push_body(message, repository_id=REPOSITORY_ID)).encode()


def _error(response: httpx.Response) -> tuple[int, str]:
    """Read an error's answer, whose body must be `{"error"}` alone, in JSON."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error"}
    return response.status_code, body["error"]


def _logged(world: World, request_id: str) -> list[dict[str, Any]]:
    """Return the log lines of a request; an incomplete last line is ignored."""
    text = world.server.log()
    lines = (json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines() if request_id in line)
    return [line for line in lines if line.get("request_id") == request_id]


@final
@frozen(kw_only=True)
class Answer:
    """An answer in bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


@final
class Wire:
    """A connection for arbitrary bytes."""

    def __init__(self, server: ServerProcess) -> None:
        self._socket = socket.create_connection((LOOPBACK, server.port), PATIENCE_S)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._socket.close()

    def say(self, *parts: bytes) -> None:
        for part in parts:
            self._socket.sendall(part)

    def hang_up(self) -> None:
        """Close the sending half."""
        self._socket.shutdown(socket.SHUT_WR)

    def hear(self, *, without_body: bool = False) -> Answer | None:
        """Read the next answer, an interim one too; `None`: the connection has ended."""
        first = self._answers.readline()
        if not first:
            return None
        assert first.startswith(b"HTTP/1.1 "), first
        headers: dict[str, str] = {}
        while (line := self._answers.readline()) not in {b"\r\n", b""}:
            name, _, value = line.decode("latin-1").partition(":")
            assert name.lower() not in headers, f"{name} is there twice"
            headers[name.lower()] = value.strip()
        body = b"" if without_body else self._answers.read(int(headers.get("content-length", "0")))
        return Answer(status=int(first.split()[1]), headers=headers, body=body)

    def ask(self, *parts: bytes) -> Answer:
        """Send bytes and read the answer."""
        self.say(*parts)
        answer = self.hear()
        assert answer is not None
        return answer


def _head(method: str, path: str, *headers: tuple[str, bytes | str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1".encode(), b"Host: localhost"]
    for name, value in headers:
        lines.append(name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()))
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _delivery_head(world: World, body: bytes, delivery: str, *more: tuple[str, bytes | str], length: int = -1) -> bytes:
    """Return the head of a signed delivery; `length` -1: the body's own."""
    headers = world.prepared.hook.headers(body, delivery).items()
    size = len(body) if length == -1 else length
    return _head("POST", world.prepared.hook.path, *headers, ("Content-Length", str(size)), *more)


# Large and incomplete bodies.

_GOOD: Final = _push()


def test_a_sender_of_26_mib_that_reads_late_still_gets_the_413(world: World) -> None:
    body = b"x" * (26 * 1024 * 1024)
    for _ in range(3):
        connection = http.client.HTTPConnection(LOOPBACK, world.server.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            delivery = _new_id()
            connection.request("POST", world.prepared.hook.path, body, world.prepared.hook.headers(b"", delivery))
            answer = connection.getresponse()
            assert (answer.status, answer.headers["Connection"]) == (413, "close")
            assert json.load(answer) == {"error": "Webhook body exceeds 25 MiB"}
        assert world.prepared.left_by(delivery) == {"contexts": 0, "logs": ["Webhook body too large"], "runs": []}
    world.assert_still_serves()


def test_a_sender_that_hangs_up_is_not_logged_as_an_error(world: World, wire: Wire) -> None:
    named = f"hung-up-{_new_id()}"
    wire.say(_delivery_head(world, _GOOD, _new_id(), ("X-Request-Id", named), length=len(_GOOD) + 1), _GOOD)
    wire.hang_up()
    wire.hear()
    until(lambda: any(line["event"] == "request" for line in _logged(world, named)), "the request is logged")
    lines = _logged(world, named)
    assert [line["level"] for line in lines] == ["info"]
    assert lines[0]["status"] != 500


# Headers and paths that only a raw socket sends.


@pytest.mark.parametrize(
    ("old", "new", "status", "error"),
    [
        ("/4242", "/%D9%A1%D9%A2", 400, "Invalid webhook parameters"),
        ("/4242", "/4242%00", 400, "Invalid webhook parameters"),
        ("/codehost/", "/%2e%2e/", 400, "Invalid webhook parameters"),
        ("/codehost/", "/github/", 404, "Integration not found"),
        ("/int_", "/%2e%2e", 404, "Integration not found"),
        ("/int_", "/%ff", 404, "Integration not found"),
        ("/4242", "/../4242", 404, "Not Found"),
        ("/api/", "/api/../api/", 404, "Not Found"),
    ],
)
def test_a_path_that_is_not_the_webhooks_own_leads_nowhere(
    world: World, wire: Wire, old: str, new: str, status: int, error: str
) -> None:
    path = world.prepared.hook.path
    assert old in path
    headers = world.prepared.hook.headers(_GOOD, delivery := _new_id())
    changed = path.replace(old, new, 1)
    answer = wire.ask(_head("POST", changed, *headers.items(), ("Content-Length", str(len(_GOOD)))), _GOOD)
    assert answer.status == status
    assert answer.error.startswith(error)
    assert world.prepared.left_by(delivery)["contexts"] == 0


def test_a_slash_at_the_end_names_the_same_address(world: World) -> None:
    headers = world.prepared.hook.headers(_GOOD, _new_id())
    messages = [
        world.client.post(path, content=_GOOD, headers=headers).json()["message"]
        for path in (world.prepared.hook.path, f"{world.prepared.hook.path}/")
    ]
    assert messages == [PROCESSED, DUPLICATE]


def test_the_frameworks_own_errors_have_our_body(world: World) -> None:
    hook = world.prepared.hook.path
    assert _error(world.client.get("/nothing/here")) == (404, "Not Found")
    assert _error(world.client.get("/%ff%zz")) == (404, "Not Found")
    for method, path in (("GET", hook), ("PUT", hook), ("DELETE", "/v1/posts"), ("POST", "/health/live")):
        answer = world.client.request(method, path)
        assert _error(answer) == (405, "Method Not Allowed")
        assert answer.headers["allow"]


@pytest.mark.parametrize(
    "path", ["/health/live", "/health/ready", "/v1/status", "/v1/posts", "/v1/schedules", "/schema/openapi.json"]
)
def test_head_is_answered_as_get_is(world: World, wire: Wire, path: str) -> None:
    key = {"Authorization": f"Bearer {world.prepared.key}"}
    # The lists must not grow between the two requests.
    world.prepared.installation.until_runs_ended()
    complete = world.client.get(path, headers=key)
    assert complete.status_code == 200

    wire.say(_head("HEAD", path, *key.items()))
    head = wire.hear(without_body=True)

    assert head is not None
    own = {"date", "x-request-id"}
    assert head.status == 200
    assert {**head.headers, **dict.fromkeys(own, "")} == {**complete.headers, **dict.fromkeys(own, "")}
    assert head.headers["content-length"] == str(len(complete.content))
    # The next bytes are the next answer.
    assert wire.ask(_head("GET", "/health/live")).status == 200


def test_head_is_allowed_where_get_is(world: World) -> None:
    for method, status in (("DELETE", 405), ("OPTIONS", 204)):
        answer = world.client.request(method, "/v1/posts")
        assert answer.status_code == status
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert "HEAD" not in world.client.request("DELETE", "/v1/posts/generate").headers["allow"]


# Request ids and the log.


def test_a_request_id_is_given_back_and_logged(world: World) -> None:
    named = f"test.{_new_id()}"
    answer = world.send(_GOOD, _new_id(), X_Request_Id=named)
    assert answer.headers.get_list("x-request-id") == [named]
    until(lambda: bool(_logged(world, named)), "the request is logged")
    line = _logged(world, named)[0]
    logged = {name: line[name] for name in ("event", "method", "path", "status", "request_id", "level")}
    assert logged == {
        "event": "request",
        "method": "POST",
        "path": world.prepared.hook.path,
        "status": 200,
        "request_id": named,
        "level": "info",
    }


def test_a_request_without_an_id_is_given_one_of_its_own(world: World) -> None:
    ids = [world.client.get(path).headers["x-request-id"] for path in ("/health/live", "/nothing/here", "/v1/posts")]
    assert len({uuid.UUID(text) for text in ids}) == 3


@pytest.mark.parametrize(
    "hostile", [b"a b", b'a"}', b"x" * 65, b"", b"\xc3\xbc", b"a\x1b[31m", b"a;b=c"], ids=lambda value: repr(value)[:12]
)
def test_a_request_id_that_is_not_fit_for_a_log_is_replaced(world: World, wire: Wire, hostile: bytes) -> None:
    answer = wire.ask(_head("GET", "/health/live", ("X-Request-Id", hostile)))
    if answer.status == 400:
        # A control character makes the request invalid.
        assert b"\x1b" in hostile
        return
    assert uuid.UUID(answer.headers["x-request-id"])


def test_every_log_line_is_json_with_its_request_and_without_any_secret(world: World) -> None:
    prepared, body = world.prepared, _push("feat: keep it secret")
    wrong = "csk_0123456789ab_wrongwrongwrongwrongwrongwrong"
    world.send(body, _new_id())
    world.send(body, _new_id(), X_Hub_Signature_256=f"sha256={'ab' * 32}")
    world.send(b"[]", _new_id())
    world.list_posts()
    world.list_posts(key=wrong)
    world.client.get("/v1/posts", params={"api_key": prepared.key})
    named = f"end-{_new_id()}"
    world.client.get(f"/nothing?secret={prepared.hook.secret}", headers={"X-Request-Id": named})
    until(lambda: bool(_logged(world, named)), "the last request is logged")
    log = world.server.log()
    secrets = {
        "the webhook secret": prepared.hook.secret,
        "the API key": prepared.key,
        "the API key's own part": prepared.key.rpartition("_")[2],
        "a wrong key": wrong.rpartition("_")[2],
        "a signature": signature(body, prepared.hook.secret).removeprefix("sha256="),
        "a wrong signature": "ab" * 32,
        "the key file": prepared.installation.folder.joinpath("contentsvc.db.key").read_text("ascii").strip(),
        "a commit": "keep it secret",
    }
    assert [name for name, text in secrets.items() if text in log] == []
    lines = [json.loads(line) for line in log.splitlines()]
    assert all({"event", "level", "logger", "timestamp"} <= set(line) for line in lines)
    requests = [line for line in lines if line["event"] == "request"]
    assert all({"method", "path", "status", "ms", "request_id"} <= set(line) for line in requests)
    assert len({line["request_id"] for line in requests}) == len(requests)


# Requests of browsers and of programs.


def test_the_process_reports_its_liveness_readiness_and_version(world: World) -> None:
    assert world.client.get("/health/live").json() == {"status": "live"}
    assert world.client.get("/health/ready").json() == {"status": "ready"}
    status = world.client.get("/v1/status")
    assert status.status_code == 200
    printed = world.prepared.installation.run("--version").stdout
    assert status.json() == {"status": "ok", "version": printed.split()[-1]}


# The operator beside the running server.


@final
@frozen(kw_only=True)
class Streamed:
    """An answer of a stream, and the time of its request."""

    began: float
    ended: float
    status: int
    text: str


@final
@frozen
class Stream:
    """A stream of deliveries that continues during the operator's actions."""

    answers: list[Streamed] = field(factory=list[Streamed])

    async def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    async def goes_on(self, since: float) -> None:
        """Wait until some deliveries were sent and answered after a moment."""
        await self.until(lambda: sum(answer.began > since for answer in self.answers) >= 6)


@contextlib.asynccontextmanager
async def _streaming(world: World) -> AsyncGenerator[Stream]:
    stream = Stream()

    async def work(client: httpx.AsyncClient) -> None:
        while True:
            body, began = _push(), time.monotonic()
            headers = world.prepared.hook.headers(body, _new_id())
            answer = await client.post(world.prepared.hook.path, content=body, headers=headers)
            content = answer.json()
            stream.answers.append(
                Streamed(
                    began=began,
                    ended=time.monotonic(),
                    status=answer.status_code,
                    text=content.get("error", content.get("message")),
                )
            )

    async with _clients(world.server, 3) as client:
        workers = [asyncio.create_task(work(client)) for _ in range(3)]
        try:
            yield stream
        finally:
            for worker in workers:
                worker.cancel()
            ended = await asyncio.gather(*workers, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended


async def test_a_change_by_the_operator_applies_to_the_next_delivery(world: World) -> None:
    prepared = world.prepared

    async def operate(*arguments: str) -> tuple[float, float]:
        began = time.monotonic()
        await asyncio.to_thread(prepared.installation.command, *arguments)
        return began, time.monotonic()

    async def deliver() -> tuple[int, str, str]:
        answer = await asyncio.to_thread(world.send, _push(), delivery := _new_id())
        body = answer.json()
        return answer.status_code, body.get("error", body.get("message")), delivery

    async with _streaming(world) as stream:
        await stream.goes_on(time.monotonic())

        off = await operate("integration", "disable", prepared.hook.integration_id)
        assert (await deliver())[:2] == (403, "Integration is disabled")
        await stream.goes_on(off[1])
        on = await operate("integration", "enable", prepared.hook.integration_id)
        assert (await deliver())[:2] == (200, PROCESSED)
        await stream.goes_on(on[1])

        await operate("trigger", "disable", prepared.on_push)
        status, _, delivery = await deliver()
        assert status == 200
        assert prepared.left_by(delivery)["runs"] == [prepared.on_all]
        await operate("trigger", "enable", prepared.on_push)
        _, _, delivery = await deliver()
        assert prepared.left_by(delivery)["runs"] == sorted([prepared.on_all, prepared.on_push])

        issued = await asyncio.to_thread(prepared.installation.command, "key", "issue", "--organization", "acme")
        assert (await asyncio.to_thread(world.list_posts, key=issued["key"])).status_code == 200
        await operate("key", "revoke", issued["prefix"])
        assert _error(await asyncio.to_thread(world.list_posts, key=issued["key"])) == (401, "Invalid API key")

    def answers(asked: Callable[[Streamed], bool]) -> set[tuple[int, str]]:
        return {(answer.status, answer.text) for answer in stream.answers if asked(answer)}

    accepted, refused = {(200, PROCESSED)}, {(403, "Integration is disabled")}
    assert answers(lambda answer: answer.ended < off[0] or answer.began > on[1]) == accepted
    assert answers(lambda answer: answer.began > off[1] and answer.ended < on[0]) == refused
    assert answers(lambda _: True) == accepted | refused


# Servers of their own.


@pytest.mark.parametrize(
    ("signals", "unfinished"),
    [
        pytest.param(1, False, id="once"),
        pytest.param(2, False, id="twice"),
        pytest.param(1, True, id="while a sender never finishes"),
    ],
)
async def test_a_terminated_server_ends_in_order_and_has_stored_every_acknowledged_delivery(
    template: Prepared, tmp_path: Path, signals: int, unfinished: bool
) -> None:
    prepared = template.copied_to(tmp_path)
    stored: list[str] = []

    async def work(client: httpx.AsyncClient) -> None:
        with contextlib.suppress(httpx.TransportError):
            while True:
                headers = prepared.hook.headers(_GOOD, delivery := _new_id())
                answer = await client.post(prepared.hook.path, content=_GOOD, headers=headers)
                assert answer.status_code == 200, answer.text
                stored.append(delivery)

    with serving(prepared.installation, fresh=True) as server, contextlib.ExitStack() as stack:
        world = World(prepared=prepared, server=server, client=stack.enter_context(_client(server)))
        if unfinished:
            never = stack.enter_context(Wire(server))
            never.say(_delivery_head(world, _GOOD, _new_id()), _GOOD[:100])
        async with _clients(server, 8) as client, asyncio.TaskGroup() as workers:
            for _ in range(8):
                workers.create_task(work(client))
            await Stream().until(lambda: len(stored) >= 40)
            for _ in range(signals):
                server.terminate()
            code = await asyncio.to_thread(server.exit_code, within_s=_DRAIN_S)
        assert code == 0, server.log()[-2000:]
    contexts = {row["custom_id"] for row in prepared.installation.rows("SELECT custom_id FROM context_records")}
    assert {f"codehost:{REPOSITORY_ID}:{delivery}" for delivery in stored} <= contexts
    assert prepared.installation.count("SELECT count(*) FROM claims") == len(contexts)
    assert prepared.installation.count("SELECT count(*) FROM workflow_runs") == 2 * len(contexts)
