"""The budget of bodies: taken as bytes arrive, shared between owners, released by the newest body."""

import asyncio
import time
import weakref
from typing import Any, cast

import pytest
from tests.drivers.connections import MadeUpTime

from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import MAX_BODY
from contentsvc_http.body_budget import CAPACITY_ELSEWHERE, BodyBudget, BodyLimits, Reservation
from contentsvc_http.errors import Refused

UNIT = 2 * LARGE_BODY
MIB = 1024 * 1024


class Sender:
    """Sends a body in parts, each on request."""

    def __init__(self) -> None:
        self.parts: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def send(self, size: int, *, more: bool = True) -> None:
        # An absent body is empty, and without `more_body` the part is the last one.
        content = {"body": bytes(size)} if size else {}
        self.parts.put_nowait({"type": "http.request", **content, **({"more_body": True} if more else {})})

    async def receive(self) -> Any:
        return await self.parts.get()


async def reading(reservation: Reservation, sender: Sender) -> int:
    """Return the status: 200 if the body was read completely."""
    with reservation:
        try:
            await reservation.read(cast("Any", sender.receive))
        except Refused as exc:
            return exc.status
        return 200


def begin(budget: BodyBudget, owner: str, size: int, *, announced: int = 0) -> tuple["asyncio.Task[int]", Sender]:
    sender = Sender()
    sender.send(size)
    return asyncio.create_task(reading(budget.reserve(announced, owner), sender)), sender


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_body_reserves_memory_as_its_bytes_arrive() -> None:
    budget = BodyBudget(2 * MAX_BODY)
    many = [begin(budget, f"int_{number}", 1, announced=MAX_BODY) for number in range(100)]
    await settled()

    with budget.reserve(MAX_BODY, "another") as reservation:
        reservation.grow(MAX_BODY)

    for task, sender in many:
        sender.send(1, more=False)
        assert await task == 200


async def test_one_owner_holds_at_most_half() -> None:
    for usual, half in ((BodyBudget(), 25), (BodyBudget(CAPACITY_ELSEWHERE), 8)):
        assert not usual.large.lacks("one", half * MIB)
        assert usual.large.lacks("one", half * MIB + 1)
        assert not usual.small.lacks("one", 7 * MIB)
        assert usual.small.lacks("one", 7 * MIB + 1)
    budget = BodyBudget(4 * UNIT, for_small=100)
    with budget.reserve(owner="one") as large, budget.reserve(owner="one") as small:
        large.grow(2 * UNIT)
        small.grow(50)
        for announced, size in ((UNIT, 0), (0, UNIT), (0, 1)):
            with pytest.raises(Refused) as refused, budget.reserve(announced, "one") as more:
                more.grow(size)
            assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "1")
        with budget.reserve(UNIT, "two") as others, budget.reserve(owner="two") as others_small:
            others.grow(2 * UNIT)
            others_small.grow(50)
    # All room is free again. A body releases only its own room.
    with budget.reserve(owner="one") as first:
        first.grow(UNIT)
        with budget.reserve(owner="one") as second:
            second.grow(UNIT)
        with budget.reserve(owner="one") as third:
            third.grow(UNIT)
            with pytest.raises(Refused):
                third.grow(UNIT + 1)
    with budget.reserve(owner="one") as reservation:
        reservation.grow(2 * UNIT)


async def test_a_body_is_refused_by_its_announcement_only_if_its_beginning_does_not_fit() -> None:
    least = LARGE_BODY + 1
    budget = BodyBudget(4 * least - 1)
    with budget.reserve(owner="one") as one, budget.reserve(owner="two") as two, budget.reserve(owner="three") as three:
        one.grow(2 * least - 1)
        two.grow(least)
        budget.reserve(MAX_BODY, "three")
        three.grow(least)
        # A small body has another budget.
        budget.reserve(LARGE_BODY, "four")
        with pytest.raises(Refused):
            budget.reserve(least, "four")
        three.leave()
        two.grow(least + 1)
        with pytest.raises(Refused):
            budget.reserve(least, "four")


async def test_without_memory_the_newest_unfinished_body_is_refused_and_the_oldest_is_completed() -> None:
    budget = BodyBudget(6 * UNIT)
    # Three bodies with two units each fill the room.
    (oldest, first), (middle, second), (newest, _) = (begin(budget, name, 2 * UNIT) for name in "abc")
    await settled()

    first.send(UNIT)
    assert await newest == 503
    # Both can use its room.
    second.send(UNIT)
    first.send(0, more=False)
    second.send(0, more=False)
    assert (await oldest, await middle) == (200, 200)


@pytest.mark.parametrize("more", [True, False])
async def test_the_newest_body_that_asks_for_more_is_refused_itself(more: bool) -> None:
    budget = BodyBudget(4 * UNIT)
    (oldest, first), (newest, second) = (begin(budget, name, 2 * UNIT) for name in "ab")
    await settled()

    second.send(1, more=more)
    assert await newest == 503
    first.send(0, more=False)
    assert await oldest == 200


async def test_a_complete_body_is_never_ended_and_precedes_arriving_ones() -> None:
    budget = BodyBudget(4 * UNIT)
    sender = Sender()
    sender.send(2 * UNIT, more=False)
    with budget.reserve(owner="a") as whole:
        await whole.part(cast("Any", sender.receive))
        arriving, _ = begin(budget, "b", 2 * UNIT)
        await settled()
        with budget.reserve(owner="c") as another:
            another.grow(2 * UNIT)
            with pytest.raises(Refused), budget.reserve(owner="d") as late:
                late.grow(UNIT)
        assert await arriving == 503
        whole.grow(2 * UNIT)


async def test_a_body_that_was_cut_off_releases_its_reservation() -> None:
    budget = BodyBudget(4 * UNIT)
    cut, sender = begin(budget, "a", UNIT)
    sender.parts.put_nowait({"type": "http.disconnect"})
    assert await cut == 400

    with budget.reserve(owner="b") as one, budget.reserve(owner="c") as other, budget.reserve(owner="d") as late:
        one.grow(2 * UNIT)
        other.grow(2 * UNIT)
        with pytest.raises(Refused):
            late.grow(UNIT)


@pytest.mark.parametrize("size", [0, 1, UNIT])
async def test_nothing_is_kept_of_an_owner_without_bodies(size: int) -> None:
    class Owner:
        pass

    budget, owner = BodyBudget(), Owner()
    alive = weakref.ref(owner)
    with budget.reserve(owner=owner) as reservation:
        reservation.grow(size)
    del owner, reservation

    assert alive() is None


async def test_over_its_share_an_owner_loses_its_own_newest_body() -> None:
    budget = BodyBudget(4 * UNIT)
    (own_old, first), (own_new, _), (others, third) = (
        begin(budget, name, size) for name, size in (("a", UNIT), ("a", UNIT), ("b", UNIT))
    )
    await settled()

    first.send(UNIT)
    assert await own_new == 503
    for sender in (first, third):
        sender.send(0, more=False)
    assert (await own_old, await others) == (200, 200)


async def test_a_body_that_grows_large_leaves_the_budget_of_small_ones() -> None:
    budget = BodyBudget(4 * UNIT, for_small=2 * LARGE_BODY)
    task, sender = begin(budget, "a", LARGE_BODY)
    await settled()
    assert budget.small.lacks("a", 1)

    sender.send(1)
    await settled()
    assert not budget.small.lacks("a", LARGE_BODY)
    assert budget.large.lacks("a", 2 * UNIT - LARGE_BODY)
    sender.send(0, more=False)
    assert await task == 200


async def test_each_64_kib_have_so_long_and_the_whole_body_too() -> None:
    with MadeUpTime() as clock:
        silent, _ = begin(BodyBudget(step_s=0.05, within_s=60), "a", 1)
        slow, dripping = begin(BodyBudget(step_s=0.02, within_s=60), "a", LARGE_BODY)
        # The sender is fast enough, and does not end.
        endless, streaming = begin(BodyBudget(step_s=0.02, within_s=0.08), "a", LARGE_BODY)
        ends: list[tuple[bool, ...]] = []
        for _ in range(7):
            await clock.passes(0.015)
            dripping.send(1)
            streaming.send(LARGE_BODY)
            await settled()
            ends.append((slow.done(), silent.done(), endless.done()))

        assert ends == [(False,) * 3] + [(True, False, False)] * 2 + [(True, True, False)] * 2 + [(True,) * 3] * 2
        assert (await slow, await silent, await endless) == (408, 408, 408)
    usual = BodyBudget()
    assert (usual.step_s, usual.within_s) == (4.0, 27.0)


@pytest.mark.parametrize("arrives", ["before", "at once", "later"])
async def test_a_body_that_was_ended_between_two_parts_is_refused(arrives: str) -> None:
    budget = BodyBudget()
    reservation, sender = budget.reserve(), Sender()
    sender.send(1)
    await reservation.part(cast("Any", sender.receive))
    if arrives == "before":
        sender.send(1, more=False)
        reservation.end()
    task = asyncio.create_task(reading(reservation, sender))
    await settled()
    if arrives == "at once":
        sender.send(1, more=False)
    reservation.end()

    assert await task == 503


@pytest.mark.parametrize("turns", range(4))
async def test_a_body_may_reach_its_time_limit_and_lose_its_reservation_at_the_same_moment(turns: int) -> None:
    budget = BodyBudget(step_s=0.01)
    reservation, sender = budget.reserve(), Sender()
    sender.send(1)
    task = asyncio.create_task(reading(reservation, sender))
    await settled()
    # The loop is blocked meanwhile: the timer is due in its next turn.
    time.sleep(0.02)  # noqa: ASYNC251  # the test blocks the loop
    for _ in range(turns):
        await asyncio.sleep(0)
    reservation.end()

    assert await task in {408, 503}


async def test_time_in_which_the_service_does_not_wait_is_not_the_senders() -> None:
    budget = BodyBudget(step_s=0.05, within_s=0.05)
    sender = Sender()
    sender.send(1)
    sender.send(1, more=False)
    with MadeUpTime() as clock, budget.reserve() as reservation:
        await reservation.part(cast("Any", sender.receive))
        # Longer than the time limit of the sender.
        await clock.passes(0.1)
        assert "more_body" not in await reservation.part(cast("Any", sender.receive))


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_a_route_that_reads_a_body_reserves_memory_and_releases_it(method: str) -> None:
    budget = BodyBudget(4 * UNIT, for_small=100)
    free: list[bool] = []

    async def route(_scope: Any, receive: Any, _send: Any) -> None:
        assert (await receive())["body"] == bytes(50)
        free.append(not budget.small.lacks(b"mine", 50))
        # The body is complete: the sender may disconnect.
        assert (await receive())["type"] == "http.disconnect"

    messages = [{"type": "http.request", "body": bytes(50)}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0)

    scope = {"type": "http", "method": method, "headers": [(b"host", b"api"), (b"authorization", b"mine")]}
    app = BodyLimits(cast("Any", route), budget)
    await app(cast("Any", scope), cast("Any", receive), cast("Any", None))

    # The framework's routes for GET read no body.
    assert free == [method == "GET"]
    assert not budget.small.lacks(b"mine", 50)
