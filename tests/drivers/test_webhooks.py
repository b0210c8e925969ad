"""The receiver as an ASGI application: reading of bodies, and work in threads."""

import asyncio
import inspect
import json
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeVar, cast

import pytest
from attrs import evolve
from tests.drivers.connections import connected
from tests.golden import REPOSITORY_ID
from tests.usecases.conftest import World, world

from contentsvc_adapters.offload import SingleThreadExecutor
from contentsvc_core import Address, Delivery, Headers, HookConfiguration, Receiver
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases import receive as receiving
from contentsvc_core.usecases.receive import LARGE_BODY, run_inline
from contentsvc_core.webhooks.decision import MAX_BODY
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_http import webhooks
from contentsvc_http.body_budget import BodyBudget
from contentsvc_http.deliveries import Deliveries
from contentsvc_http.logs import Requests
from contentsvc_http.webhooks import Webhooks

_Result = TypeVar("_Result")
Message = dict[str, Any]

__all__ = ["world"]


class Answer:
    """The sent answer, and how often the application requested more of the body."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.asked = 0

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> Any:
        return json.loads(self.sent[1]["body"])


def a_part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


HUNG_UP: Message = {"type": "http.disconnect"}
#: The client sends nothing more.
NOTHING: Message = {}


def path_of(delivery: Delivery) -> str:
    at = delivery.address
    return f"/api/webhooks/{at.provider}/{at.organization_id}/{at.integration_id}/{at.repository_id}"


async def call(
    app: Webhooks, delivery: Delivery, *parts: Message, announced: int | None = None, method: str = "POST"
) -> Answer:
    """Call with a body in parts; after the last one, the client sends nothing more."""
    answer = Answer()
    coming = list(parts or [a_part(delivery.body)])
    headers = [(name.lower(), value) for name, value in delivery.headers]
    if announced is not None:
        headers.append((b"content-length", str(announced).encode()))

    async def receive() -> Message:
        answer.asked += 1
        if not coming or coming[0] is NOTHING:
            await asyncio.Event().wait()
        return coming.pop(0)

    async def send(message: Message) -> None:
        answer.sent.append(message)

    scope: Message = {"type": "http", "method": method, "path": path_of(delivery), "headers": headers, "state": {}}
    await app(cast("Any", scope), cast("Any", receive), cast("Any", send))
    return answer


async def logged(world: World) -> list[tuple[int | None, str | None]]:
    """Return status and error of each log entry, newest first."""
    return [
        (entry.status_code, entry.error_message) for entry in await world.stores.journal.entries(world.organization.id)
    ]


async def no_app(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError


class Watched:
    """An ``Offload`` that records the thread of each call."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.inner = SingleThreadExecutor()

    async def __call__(self, work: Callable[[], _Result], /) -> _Result:
        def noted() -> _Result:
            self.threads.append(threading.get_ident())
            return work()

        return await self.inner(noted)


class SettledStore:
    """Records settlements."""

    def __init__(self, store: DeliveryStore) -> None:
        self.store = store
        self.configuration = self.store.configuration
        self.settled: list[Settlement] = []

    async def settle(self, settlement: Settlement) -> Settled:
        self.settled.append(settlement)
        return await self.store.settle(settlement)


@pytest.fixture
async def offload() -> AsyncGenerator[Watched]:
    watched = Watched()
    yield watched
    watched.inner.close()


@pytest.fixture
def store(world: World) -> SettledStore:
    return SettledStore(world.stores.deliveries)


@pytest.fixture
def app(world: World, store: SettledStore, offload: Watched) -> Webhooks:
    receiver = Receiver(store, world.stores.journal, world.clock, world.ids, offload=offload)
    return Webhooks(receiver, no_app, offload=offload)


def push(world: World, *, size: int = 0, messages: Sequence[str] = ("feat: x",)) -> Delivery:
    """Return a signed push, padded to a size in an ignored field."""
    native = push_body(*messages, repository_id=REPOSITORY_ID)
    bare = len(signed({**native, "padding": ""}, at=world.at, secret=world.secret).body)
    return signed({**native, "padding": "x" * max(0, size - bare)}, at=world.at, secret=world.secret)


async def test_a_small_delivery_is_answered_on_the_loop(app: Webhooks, world: World, offload: Watched) -> None:
    delivery = push(world, size=LARGE_BODY)
    assert len(delivery.body) == LARGE_BODY

    answer = await call(app, delivery, announced=LARGE_BODY)

    assert (answer.status, answer.body["message"]) == (200, "Processed push event (pushed)")
    assert answer.headers["content-length"] == str(len(answer.sent[1]["body"]))
    assert offload.threads == []


async def test_a_large_one_is_verified_decoded_and_written_in_another_thread(
    app: Webhooks, world: World, offload: Watched, store: SettledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, int] = {}
    for module, name in (
        (receiving, "admit"),
        (receiving, "decide"),
        (receiving, "event_to_json"),
        (webhooks, "answer_json"),
    ):
        original = getattr(module, name)

        def noted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            threads[name] = threading.get_ident()
            return original(*arguments)

        monkeypatch.setattr(module, name, noted)
    delivery = push(world, size=LARGE_BODY + 1)

    answer = await call(app, delivery, announced=LARGE_BODY + 1)

    assert (answer.status, answer.body["message"]) == (200, "Processed push event (pushed)")
    assert set(threads) == {"admit", "decide", "event_to_json", "answer_json"}
    assert threading.get_ident() not in threads.values()
    (settlement,) = store.settled
    assert settlement.context is not None
    assert settlement.event_json == event_to_json(settlement.context.event)


async def test_large_ones_are_done_one_at_a_time_while_the_loop_goes_on() -> None:
    offload = SingleThreadExecutor()
    inside, most, turns = 0, 0, 0
    go = threading.Event()

    def work() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        go.wait(5)
        inside -= 1
        return threading.get_ident()

    working = [asyncio.create_task(offload(work)) for _ in range(4)]
    # The threads still wait: the loop must proceed without them.
    for _ in range(10):
        await asyncio.sleep(0)
        turns += 1
    assert not any(each.done() for each in working)
    go.set()
    threads = set(await asyncio.gather(*working))
    offload.close()

    assert (most, turns) == (1, 10)
    assert threads.isdisjoint({threading.get_ident()})


async def test_the_largest_body_is_received_in_many_parts(app: Webhooks, world: World) -> None:
    delivery = push(world, size=MAX_BODY)
    assert len(delivery.body) == MAX_BODY
    cuts = [*range(0, MAX_BODY, 4 * 1024 * 1024), MAX_BODY]
    parts = [a_part(delivery.body[a:b], more=b < MAX_BODY) for a, b in pairwise(cuts)]

    assert (await call(app, delivery, *parts, announced=MAX_BODY)).status == 200
    # One byte more, with and without a Content-Length.
    too_much = [*parts[:-1], a_part(parts[-1]["body"], more=True), a_part(b" ")]
    for announced, asked in ((MAX_BODY + 1, 0), (None, len(too_much))):
        answer = await call(app, delivery, *too_much, announced=announced)
        assert (answer.status, answer.asked) == (413, asked)
        assert answer.headers["connection"] == "close"
        assert answer.body == {"error": "Webhook body exceeds 25 MiB"}
    assert (await logged(world))[:2] == [(413, "Webhook body exceeds 25 MiB")] * 2


async def test_two_idle_senders_keep_no_large_delivery_out(app: Webhooks, world: World) -> None:
    delivery = push(world, size=2 * LARGE_BODY)
    idle = [asyncio.create_task(call(app, delivery, a_part(b"{", more=True), announced=MAX_BODY)) for _ in range(2)]
    await asyncio.sleep(0)

    answer = await call(app, delivery, announced=len(delivery.body))

    assert (answer.status, answer.body["message"]) == (200, "Processed push event (pushed)")
    for each in idle:
        each.cancel()
    await asyncio.gather(*idle, return_exceptions=True)


async def test_without_memory_a_body_is_refused_before_it_is_read_and_the_sender_retries(world: World) -> None:
    budget = BodyBudget(2 * MAX_BODY)
    app = Webhooks(world.receiver, no_app, offload=run_inline, budget=budget)
    delivery = push(world)
    with budget.reserve(owner="another") as one, budget.reserve(owner="a third") as two:
        one.grow(MAX_BODY)
        two.grow(MAX_BODY)

        refused = await call(app, delivery, announced=LARGE_BODY + 1)
        small = await call(app, delivery, announced=len(delivery.body))

    assert small.status == 200
    assert (refused.status, refused.asked) == (503, 0)
    assert refused.headers["retry-after"] == "1"
    assert refused.body == {"error": "Too many deliveries are being received"}
    assert (503, "Too many deliveries are being received") in await logged(world)


async def test_a_body_that_does_not_arrive_with_its_head_is_waited_for_at_known_addresses_only(
    app: Webhooks, world: World
) -> None:
    delivery = push(world)
    delivery = evolve(delivery, address=evolve(delivery.address, integration_id="int_0"))

    answer = await call(app, delivery, NOTHING)

    assert (answer.status, answer.asked) == (404, 0)


async def test_a_body_that_is_cut_off_or_takes_too_long_is_refused_and_its_reservation_is_released(
    world: World,
) -> None:
    budget = BodyBudget(4 * LARGE_BODY, for_small=2000, within_s=0.01)
    app = Webhooks(world.receiver, no_app, offload=run_inline, budget=budget)
    delivery = push(world)

    cut_off = await call(app, delivery, a_part(b"{", more=True), HUNG_UP, announced=1000)
    never_begun = await call(app, delivery, HUNG_UP, announced=1000)
    slow = await call(app, delivery, a_part(b"{", more=True), announced=1000)
    async with asyncio.timeout(5):
        silent = await call(app, delivery, NOTHING, announced=2 * LARGE_BODY)

    assert (cut_off.status, cut_off.body) == (400, {"error": "The body was cut off"})
    assert never_begun.status == 400
    assert (slow.status, slow.body) == (408, {"error": "The body did not arrive in time"})
    assert slow.headers["connection"] == "close"
    assert (silent.status, silent.body) == (slow.status, slow.body)
    for owner, size in (("one", 1000), ("two", 1000), ("one", 2 * LARGE_BODY), ("two", 2 * LARGE_BODY)):
        budget.reserve(owner=owner).grow(size)
    # A sender that has disconnected gets no answer and no log entry.
    assert await logged(world) == [(408, "The body did not arrive in time")] * 2


@pytest.mark.parametrize("announced", [b"-1", b"1_0", "\u0661".encode(), b"9" * 21])
async def test_an_invalid_content_length_is_ignored(app: Webhooks, world: World, announced: bytes) -> None:
    delivery = push(world)
    delivery = evolve(delivery, headers=Headers.of((*delivery.headers, (b"content-length", announced))))

    answer = await call(app, delivery)

    assert answer.status == (413 if len(announced) > 20 else 200)


async def test_other_methods_are_refused_and_options_are_answered(app: Webhooks, world: World) -> None:
    for method in ("GET", "PUT", "DELETE", "HEAD"):
        refused = await call(app, push(world), method=method)
        assert (refused.status, refused.headers["allow"], refused.asked) == (405, "POST, OPTIONS", 0)
        assert refused.headers["x-request-id"]
        assert refused.body == {"error": "Method Not Allowed"}
    answer = await call(app, push(world), method="OPTIONS")
    assert answer.status == 204
    assert answer.headers.keys() == {"allow", "x-request-id"}
    assert answer.headers["allow"] == "POST, OPTIONS"


@pytest.mark.parametrize(
    ("header", "announced", "status"),
    [
        ((b"content-encoding", b"gzip"), 10, 415),
        ((b"expect", b"100-continue"), 10, 404),
        ((b"a", b"b"), LARGE_BODY + 1, 404),
    ],
)
async def test_a_refusal_by_headers_precedes_the_body(
    app: Webhooks, world: World, header: tuple[bytes, bytes], announced: int, status: int
) -> None:
    delivery = push(world)
    at = delivery.address if status != 404 else evolve(delivery.address, integration_id="int_0")
    delivery = evolve(delivery, address=at, headers=Headers.of((*delivery.headers, header)))

    refused = await call(app, delivery, announced=announced)

    assert (refused.status, refused.asked) == (status, 0)


async def test_the_protocol_and_the_application_give_the_same_answers(world: World) -> None:
    pushed = push(world)
    sent = (
        pushed,
        pushed,
        evolve(pushed, body=b"{"),
        push(world, size=LARGE_BODY + 1),
        signed(b"{}", at=world.at, secret=world.secret, event="ping", delivery_id="d-2"),
        signed(b"{}", at=world.at, secret=world.secret, event="fork", delivery_id="d-3"),
        signed(b"[]", at=world.at, secret=world.secret, delivery_id="d-4"),
        evolve(pushed, address=evolve(world.at, integration_id="int_0")),
    )
    found: list[list[bytes]] = []
    for way in (b"way-1", b"way-2"):
        receiver = Deliveries(Receiver(world.stores.deliveries, world.stores.journal, world.clock, world.ids))
        budget = BodyBudget(for_small=2 * LARGE_BODY)
        webhooks = Webhooks(receiver, no_app, offload=run_inline, budget=budget)
        protocol, connection = connected(webhooks, webhooks=webhooks if way == b"way-1" else None)
        for number, delivery in enumerate(sent):
            headers = b"".join(b"%b: %b\r\n" % header for header in delivery.headers if b"delivery" not in header[0])
            head = (
                b"POST %b HTTP/1.1\r\nHost: test\r\nX-Request-Id: r-1\r\nX-Host-Delivery: %b-%d\r\n"
                b"Content-Length: %d\r\n%b\r\n"
            )
            ident = (way, 0 if number < 3 else number)
            protocol.data_received(
                head % (path_of(delivery).encode(), *ident, len(delivery.body), headers) + delivery.body
            )
            async with asyncio.timeout(5):
                while not protocol.cycle.response_complete:
                    await asyncio.sleep(0)
        answers = b"".join(connection.written).replace(way, b"way").split(b"HTTP/1.1 ")[1:]
        found.append(answers)
        assert not budget.small.lacks(world.at.integration_id, LARGE_BODY)
        protocol.connection_lost(None)

    assert [int(answer[:3]) for answer in found[0]] == [200, 200, 401, 200, 200, 200, 400, 404]
    assert found[0] == found[1]


async def test_a_refusal_that_is_being_logged_at_a_stop_is_answered_once(world: World) -> None:
    counted: list[tuple[int, int]] = []
    requests = Requests(lambda _method, _route, status, number: counted.append((status, number)))
    deliveries = Deliveries(world.receiver)
    budget = BodyBudget(for_small=2)
    webhooks = Webhooks(deliveries, no_app, offload=run_inline, budget=budget, requests=requests)
    protocol, connection = connected(no_app, webhooks=webhooks)
    delivery = push(world)
    head = b"POST %b HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n"

    protocol.data_received(head % (path_of(delivery).encode(), len(delivery.body)) + delivery.body)
    protocol.shutdown()
    protocol.stop()
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert [each[:12] for each in connection.written] == [b"HTTP/1.1 503"]
    assert counted == [(503, 1)]
    assert await logged(world) == [(503, "Too many deliveries are being received")]
    protocol.connection_lost(None)


async def test_from_the_socket_to_the_queue_a_delivery_takes_nine_frames_at_most_and_no_task(world: World) -> None:
    depths: list[int] = []
    endpoint = await world.stores.deliveries.configuration(world.at, world.clock.now())

    class Queue:
        def cached(self, address: Address, now: datetime) -> HookConfiguration | None:
            assert (address, now) == (world.at, world.clock.now())
            return endpoint

        def put(self, settlement: Settlement, on_settled: Callable[[Settled | Exception], object]) -> None:
            depths.append(len(inspect.stack(context=0)))
            assert settlement.started
            on_settled(Settled.AS_DECIDED)

    receiver = Receiver(world.stores.deliveries, world.stores.journal, world.clock, world.ids)
    webhooks = Webhooks(Deliveries(receiver, queue=Queue()), no_app, offload=run_inline)
    protocol, connection = connected(no_app, webhooks=webhooks)
    delivery = push(world)
    head = b"POST %b HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n%b\r\n"
    headers = b"".join(b"%b: %b\r\n" % header for header in delivery.headers)
    before = len(asyncio.all_tasks())

    protocol.data_received(head % (path_of(delivery).encode(), len(delivery.body), headers) + delivery.body)

    assert b"".join(connection.written).startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(asyncio.all_tasks()) == before
    # The queue accepts two more.
    assert depths[0] - len(inspect.stack(context=0)) <= 9 - 2
    protocol.connection_lost(None)
