"""The command ``send`` against a real server on a socket, which decides with the core."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Barrier, Event, Lock
from typing import Any, final

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.http_server import HttpServer, ReceivedRequest, Reply

from contentsvc_cli.develop.recordings import BadRecording, RecordedDelivery, line_of
from contentsvc_cli.develop.send import provider_of, send
from contentsvc_cli.develop.sending import DeliveryAnswer, Unreachable, send_recorded
from contentsvc_cli.start.sample import REPOSITORY_ID, other_kinds, sample_history
from contentsvc_core.webhooks.decision import admit, decide
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, Headers, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Duplicate, Processed, answer

SECRET = "a secret of the tests"


@final
class Webhook(HttpServer):
    """A server that answers as the core decides; ``before`` may answer something else first, with status 0 nothing."""

    protocol = "HTTP/1.1"

    def __init__(self, provider: str = "codehost") -> None:
        super().__init__()
        self.deliveries: list[Delivery] = []
        self.before: Callable[[int, Delivery], Reply | None] = lambda _number, _delivery: None
        self._claimed: set[str] = set()
        self._lock = Lock()
        self._address = Address(
            provider=provider, organization_id="org_1", integration_id="int_1", repository_id=REPOSITORY_ID
        )
        self._hook = HookConfiguration(
            address=self._address, enabled=True, secrets=(SECRET,), repository=Belonging.THIS_INTEGRATION, version=1
        )
        self.url += f"/api/webhooks/{provider}/org_1/int_1/{REPOSITORY_ID}"

    def reply(self, request: ReceivedRequest, /) -> Reply | None:
        headers = Headers.of(
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.items()
        )
        reply = self.receive(Delivery(address=self._address, headers=headers, body=request.raw))
        return reply if reply[0] else None

    def receive(self, delivery: Delivery) -> Reply:
        with self._lock:
            self.deliveries.append(delivery)
            number = len(self.deliveries)
        if (other := self.before(number, delivery)) is not None:
            return other
        admission = admit(delivery, self._hook)
        outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
        with self._lock:
            if outcome.delivery_id in self._claimed:
                outcome = Duplicate(kind="push", delivery_id=outcome.delivery_id or "")
            elif isinstance(outcome, Processed):
                self._claimed.add(outcome.delivery_id)
        return outcome.status, {"Content-Type": "application/json"}, json.dumps(answer(outcome)).encode()

    @property
    def delivery_ids(self) -> list[str]:
        return [request.headers.sole[b"x-host-delivery"].decode() for request in self.deliveries]


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry at once: the pauses have a test of their own."""
    monkeypatch.setattr("contentsvc_cli.develop.sending._FIRST_WAIT_S", 0.0)
    monkeypatch.delenv("CONTENTSVC_WEBHOOK_SECRET", raising=False)


def _write(path: Path, deliveries: Iterable[RecordedDelivery]) -> Path:
    path.write_bytes(b"".join(map(line_of, deliveries)))
    return path


def _always(status: int, headers: Mapping[str, str], body: bytes) -> Callable[[int, Delivery], Reply]:
    return lambda _number, _delivery: (status, headers, body)


def _ping(name: str, body: bytes = b"{}") -> RecordedDelivery:
    return RecordedDelivery(event="ping", delivery=name, body=body)


def _pings(count: int) -> list[RecordedDelivery]:
    return [_ping(f"d-{number}") for number in range(count)]


def _send(path: Path, url: str, *options: str, secret: str = SECRET) -> Result:
    return CliRunner().invoke(send, [str(path), "--url", url, "--secret", secret, *options])


def _rows(result: Result) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_the_sample_is_accepted_in_order_over_one_connection(webhook: Webhook, tmp_path: Path) -> None:
    deliveries = [*sample_history(), *other_kinds()]
    result = _send(_write(tmp_path / "sample.jsonl", deliveries), webhook.url, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = _rows(result)
    assert [(row["event"], row["delivery"]) for row in rows] == [(sent.event, sent.delivery) for sent in deliveries]
    kinds = [*["processed"] * 18, "pong", *["filtered"] * 6, "processed", "ignored", "ignored"]
    assert [row["answer"] for row in rows] == kinds
    assert {row["status"] for row in rows} == {200}
    assert rows[0]["message"] == "Processed push event (pushed)"
    assert set(rows[0]) == {"event", "delivery", "status", "answer", "message", "ms", "retries"}
    assert all(row["ms"] > 0 for row in rows)
    assert [request.body for request in webhook.deliveries] == [sent.body for sent in deliveries]
    assert webhook.connections == 1


def test_the_table_counts_the_answers_and_verbose_adds_a_row_for_each(webhook: Webhook, tmp_path: Path) -> None:
    path = _write(tmp_path / "some.jsonl", [*sample_history(), *other_kinds(), _ping("d-1", b"[]")])
    counted = _send(path, webhook.url)
    assert counted.exit_code == 1
    lines = [line.split() for line in counted.stdout.splitlines()]
    assert lines[0] == ["deliveries", "status", "answer", "error"]
    assert ["19", "200", "processed"] in lines
    assert ["6", "200", "filtered"] in lines
    assert ["1", "400", "error", "Invalid", "payload:", "the", "body", "must", "be", "an", "object"] in lines
    assert "d-1" not in counted.stdout
    assert "d-1" in _send(path, webhook.url, "--verbose").stdout


def test_a_wrong_secret_is_answered_and_is_a_failure(webhook: Webhook, tmp_path: Path) -> None:
    result = _send(_write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--json", secret="wrong")
    assert result.exit_code == 1
    row = _rows(result)[0]
    assert (row["status"], row["answer"], row["error"]) == (401, "error", "Invalid webhook signature")
    assert "message" not in row


def test_the_secret_comes_from_the_environment_and_is_needed(webhook: Webhook, tmp_path: Path) -> None:
    arguments = [str(_write(tmp_path / "one.jsonl", _pings(1))), "--url", webhook.url]
    assert CliRunner().invoke(send, arguments, env={"CONTENTSVC_WEBHOOK_SECRET": SECRET}).exit_code == 0
    assert CliRunner().invoke(send, arguments).exit_code == 2


def test_bodies_that_are_no_json_arrive_byte_for_byte(webhook: Webhook, tmp_path: Path) -> None:
    broken = _ping("d-1", b'{"a": \xff\r\n')
    result = _send(_write(tmp_path / "one.jsonl", [broken]), webhook.url, "--json")
    assert webhook.deliveries[0].body == broken.body
    assert _rows(result)[0]["status"] == 400


def test_the_provider_is_the_one_in_the_path_unless_it_is_given(tmp_path: Path) -> None:
    with Webhook(provider="github") as server:
        path = _write(tmp_path / "one.jsonl", sample_history())
        assert _send(path, server.url).exit_code == 0
        assert server.deliveries[0].headers.sole[b"x-github-event"] == b"push"
        assert provider_of("https://a.example/api/webhooks/unknown/o/i/1").slug == "codehost"
        refused = _send(path, server.url, "--provider", "codehost", "--json")
        assert _rows(refused)[0]["error"] == "Missing X-GitHub-Event header"


def test_only_the_deliveries_of_a_repository_are_sent(webhook: Webhook, tmp_path: Path) -> None:
    mixed = [*list(sample_history("o/n", 7))[:2], _ping("no-json", b"{"), _ping("none"), *list(sample_history())[:3]]
    result = _send(
        _write(tmp_path / "mixed.jsonl", mixed), webhook.url, "--repository-id", str(REPOSITORY_ID), "--json"
    )
    assert [row["delivery"] for row in _rows(result)] == [sent.delivery for sent in mixed[-3:]]
    assert len(webhook.deliveries) == 3


def test_a_delivery_answered_with_retry_after_is_retried_in_order(webhook: Webhook, tmp_path: Path) -> None:
    webhook.before = lambda number, _: (503, {"Retry-After": "0"}, b'{"error": "busy"}') if number in (2, 3) else None
    result = _send(_write(tmp_path / "some.jsonl", _pings(3)), webhook.url, "--json")
    assert result.exit_code == 0
    assert [row["retries"] for row in _rows(result)] == [0, 2, 0]
    assert webhook.delivery_ids == ["d-0", "d-1", "d-1", "d-1", "d-2"]
    assert len({request.body for request in webhook.deliveries}) == 1


def test_a_cut_connection_is_retried_and_shown_in_the_table(webhook: Webhook, tmp_path: Path) -> None:
    webhook.before = lambda number, _: (0, {}, b"") if number == 1 else None
    result = _send(_write(tmp_path / "some.jsonl", _pings(2)), webhook.url)
    assert result.exit_code == 0
    assert "Retried 1 of 2 deliveries; total number of retries: 1." in result.stdout


def test_after_the_last_retry_the_last_answer_is_reported(webhook: Webhook, tmp_path: Path) -> None:
    webhook.before = _always(503, {"Retry-After": "0"}, b'{"error": "busy"}')
    result = _send(_write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--retries", "2", "--json")
    assert result.exit_code == 1
    row = _rows(result)[0]
    assert (row["status"], row["error"], row["retries"]) == (503, "busy", 2)
    assert len(webhook.deliveries) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 413, 500])
def test_refusals_are_not_tried_again(webhook: Webhook, tmp_path: Path, status: int) -> None:
    webhook.before = _always(status, {}, b"<h1>no</h1>\x1b[2J")
    result = _send(_write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--json")
    row = _rows(result)[0]
    assert (row["status"], row["answer"], row["error"], row["retries"]) == (status, "error", "<h1>no</h1> [2J", 0)


async def test_a_host_that_drops_packets_ends_the_sending() -> None:
    def silent(request: httpx.Request) -> httpx.Response:
        message = ""
        raise httpx.ConnectTimeout(message, request=request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(silent)) as client:
        with pytest.raises(Unreachable, match=r"cannot connect to acme\.example: no answer in time"):
            await send_recorded(_pings(2), url="http://acme.example/", secret=SECRET, client=client, retries=0)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_without_a_connection_the_sending_ends_with_rows_without_a_status(tmp_path: Path, concurrency: int) -> None:
    with Webhook() as server:
        url = server.url
    options = ("--retries", "1", "--concurrency", str(concurrency), "--json")
    result = _send(_write(tmp_path / "some.jsonl", _pings(20)), url, *options)
    assert result.exit_code == 1
    # The deliveries of all workers end.
    assert [(row["status"], row["answer"], row["retries"]) for row in _rows(result)] == [
        (None, "error", 1)
    ] * concurrency
    cause = f"cannot connect to {httpx.URL(url).netloc.decode()}: "
    assert _rows(result)[0]["error"].startswith(cause)
    assert result.stderr.startswith(f"Error: {cause}")
    assert result.stderr.endswith("send the file again\n")


def test_an_answer_after_the_timeout_does_not_count(webhook: Webhook, tmp_path: Path) -> None:
    released = Event()

    def hang(_: int, __: Delivery) -> None:
        released.wait(60)

    webhook.before = hang
    result = _send(
        _write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--timeout", "0.05", "--retries", "0", "--json"
    )
    released.set()
    row = _rows(result)[0]
    # On a busy machine, the connection alone may take as long.
    assert row["status"] is None
    assert row["error"] in {"ConnectTimeout", "ReadTimeout"}


@pytest.mark.parametrize(
    "body", [b"", b"OK", b"[]", b"null", b'{"received": true}', b'{"received": 1, "message": "x"}', b"[" * 100_000]
)
def test_a_2xx_from_something_else_is_not_taken_for_the_service(webhook: Webhook, tmp_path: Path, body: bytes) -> None:
    webhook.before = _always(200, {}, body)
    result = _send(_write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--json")
    assert (_rows(result)[0]["answer"], result.exit_code) == ("unknown", 0)


def test_redirections_are_not_followed(webhook: Webhook, tmp_path: Path) -> None:
    webhook.before = _always(307, {"Location": webhook.url}, b"")
    result = _send(_write(tmp_path / "one.jsonl", _pings(1)), webhook.url, "--json")
    assert (_rows(result)[0]["status"], result.exit_code, len(webhook.deliveries)) == (307, 1, 1)


def test_as_many_are_on_their_way_as_asked_and_the_rows_keep_the_files_order(webhook: Webhook, tmp_path: Path) -> None:
    # No answer is sent before four requests have arrived: with less concurrency, the barrier's timeout fails the test.
    together = Barrier(4)

    def gather(_: int, __: Delivery) -> None:
        together.wait(30)

    webhook.before = gather
    result = _send(
        _write(tmp_path / "some.jsonl", _pings(40)), webhook.url, "--concurrency", "4", "--retries", "0", "--json"
    )
    assert result.exit_code == 0
    assert [row["delivery"] for row in _rows(result)] == [f"d-{number}" for number in range(40)]
    assert webhook.connections == 4


async def test_deliveries_are_read_only_as_fast_as_they_are_sent(webhook: Webhook) -> None:
    taken = 0

    def source() -> Iterator[RecordedDelivery]:
        nonlocal taken
        for ping in _pings(50):
            taken += 1
            assert taken - len(webhook.deliveries) <= 3
            yield ping

    answers = await send_recorded(source(), url=webhook.url, secret=SECRET, concurrency=3)
    assert [answer.position for answer in answers] == list(range(50))


def test_an_invalid_line_stops_the_sending_and_earlier_rows_are_reported(webhook: Webhook, tmp_path: Path) -> None:
    path = _write(tmp_path / "some.jsonl", _pings(2))
    path.write_bytes(path.read_bytes() + b"{}\n" + line_of(_ping("after")))
    for concurrency in ("1", "8"):
        result = _send(path, webhook.url, "--json", "--concurrency", concurrency)
        assert result.exit_code == 1
        assert [row["delivery"] for row in _rows(result)] == ["d-0", "d-1"]
        assert f"{path}, line 3: `event` is missing; nothing after it was sent" in result.stderr
    assert "after" not in webhook.delivery_ids


async def test_the_callers_own_faults_pass_through(webhook: Webhook) -> None:
    def source() -> Iterator[RecordedDelivery]:
        yield _ping("d-0")
        message = "the source is gone"
        raise BadRecording(message)

    noted: list[DeliveryAnswer] = []
    with pytest.raises(BadRecording, match="the source is gone"):
        await send_recorded(source(), url=webhook.url, secret=SECRET, concurrency=4, on_answer=noted.append)
    assert [answer.delivery for answer in noted] == ["d-0"]


async def test_a_client_of_the_callers_is_used_and_left_open(webhook: Webhook) -> None:
    async with httpx.AsyncClient() as client:
        for name in ("d-0", "d-1"):
            answers = await send_recorded([_ping(name)], url=webhook.url, secret=SECRET, client=client)
            assert [answer.accepted for answer in answers] == [True]
    assert webhook.connections == 1


@pytest.mark.parametrize(
    ("retry_after", "least", "most"),
    [("7", 7, 7), ("0", 0, 1), ("", 0, 1), ("soon", 0, 1), ("99999999999999", 60, 60), ("-1", 0, 1), ("\u0667", 0, 1)],
)
async def test_the_wait_follows_retry_after_within_bounds(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch, retry_after: str, least: float, most: float
) -> None:
    monkeypatch.setattr("contentsvc_cli.develop.sending._FIRST_WAIT_S", 0.5)
    header = retry_after.encode().decode("latin-1")
    webhook.before = lambda number, _: (503, {"Retry-After": header}, b"") if number == 1 else None
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    await send_recorded([_ping("d-0")], url=webhook.url, secret=SECRET, sleep=note)
    assert len(waits) == 1
    assert least <= waits[0] <= most


async def test_each_wait_is_longer_than_the_one_before_up_to_a_minute(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contentsvc_cli.develop.sending._FIRST_WAIT_S", 0.5)
    webhook.before = _always(503, {}, b"")
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    await send_recorded([_ping("d-0")], url=webhook.url, secret=SECRET, sleep=note, retries=12)
    assert len(waits) == 12
    assert waits == sorted(waits)
    assert waits[0] <= 0.5
    assert waits[-1] == 60


@pytest.mark.parametrize("url", ["ftp://a.example/", "a.example", "http://", "http://a.example:x/", ""])
def test_an_invalid_url_is_a_usage_error(tmp_path: Path, url: str) -> None:
    assert _send(_write(tmp_path / "one.jsonl", _pings(1)), url).exit_code == 2


def test_a_missing_file_and_an_empty_one(webhook: Webhook, tmp_path: Path) -> None:
    missing = _send(tmp_path / "missing.jsonl", webhook.url)
    assert missing.exit_code == 1
    assert "No such file" in missing.stderr
    empty = _send(_write(tmp_path / "empty.jsonl", []), webhook.url)
    assert (empty.exit_code, empty.stdout, empty.stderr) == (0, "", "No delivery was sent.\n")
    assert _rows(_send(tmp_path / "empty.jsonl", webhook.url, "--json")) == []


#: A background job of a shell ignores SIGINT, and its children inherit that: the command under test must not.
_MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from contentsvc_cli.develop.send import send; send()"
)


def _start(webhook: Webhook, *options: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, "--url", webhook.url, *options],
        env={**os.environ, "CONTENTSVC_WEBHOOK_SECRET": SECRET},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow("starts the command")
def test_standard_input_is_sent_as_it_comes(webhook: Webhook) -> None:
    first = Event()
    webhook.before = lambda _number, _delivery: first.set()
    with _start(webhook, "-", "--json", stdin=subprocess.PIPE) as sending:
        assert sending.stdin is not None
        sending.stdin.write(line_of(_ping("d-0")))
        sending.stdin.flush()
        # Sent before the next line arrives.
        assert first.wait(60)
        out, err = sending.communicate(line_of(_ping("d-1")))
    assert (sending.returncode, err) == (0, b"")
    assert [row["delivery"] for row in json.loads(out)] == ["d-0", "d-1"]


@pytest.mark.slow("starts the command")
def test_ctrl_c_prints_the_rows_so_far(webhook: Webhook, tmp_path: Path) -> None:
    second, released = Event(), Event()

    def hang(number: int, _: Delivery) -> None:
        if number == 2:
            second.set()
            released.wait(60)

    webhook.before = hang
    with _start(webhook, str(_write(tmp_path / "some.jsonl", _pings(3))), "--json") as sending:
        assert second.wait(60)
        sending.send_signal(signal.SIGINT)
        out, err = sending.communicate()
    released.set()
    assert sending.returncode == 130
    assert [row["delivery"] for row in json.loads(out)] == ["d-0"]
    assert err.decode().startswith("Error: interrupted")
