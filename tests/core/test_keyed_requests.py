from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta

import pytest
from attrs import evolve
from tests.refusals import accepted, existing

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core.access.keyed_requests import OTHER_REQUEST, STILL_RUNNING, KeyedRequest, StoredAnswer, begun, ended
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START, CountingIds, ManualClock
from contentsvc_core.usecases.keyed_requests import Idempotency

MS = timedelta(milliseconds=1)
RETENTION = timedelta(hours=24)
BUSY = timedelta(minutes=1)
ANSWER = StoredAnswer(status=201, headers=(("content-type", "application/json"),), body="{}")


def _sent(after: timedelta = timedelta(), digest: str = "d") -> KeyedRequest:
    """Return a new request, with its own seed and execution."""
    at = START + after
    return KeyedRequest(
        key_prefix="csk_1",
        name="k",
        digest=digest,
        seed=f"seed {after}",
        at=at,
        execution=f"execution {after}",
        busy_until=at + BUSY,
    )


FIRST = _sent()


def test_an_answered_request_is_repeated_with_its_answer_for_24_hours() -> None:
    answered = existing(ended(FIRST, FIRST.execution, ANSWER, refused=False))
    assert answered.answer == ANSWER

    assert begun(answered, _sent(MS)) == answered
    assert begun(answered, _sent(RETENTION - MS)) == answered
    assert begun(answered, _sent(RETENTION)) == _sent(RETENTION)


def test_a_key_of_another_request_is_refused() -> None:
    assert begun(FIRST, _sent(MS, digest="other")) == OTHER_REQUEST
    assert begun(FIRST, _sent(RETENTION, digest="other")) == _sent(RETENTION, digest="other")


def test_a_running_request_is_not_repeated_until_its_process_may_be_gone() -> None:
    assert begun(FIRST, _sent(BUSY - MS)) == STILL_RUNNING

    again = begun(FIRST, _sent(BUSY))

    # With the seed and the time of the first execution.
    assert again == evolve(FIRST, execution=_sent(BUSY).execution, is_repeated=True, busy_until=_sent(BUSY).busy_until)


def test_a_beginning_that_is_applied_twice_is_the_same() -> None:
    assert begun(FIRST, FIRST) == FIRST


def test_a_refused_request_leaves_its_key_free() -> None:
    assert ended(FIRST, FIRST.execution, None, refused=True) is None


def test_a_request_without_a_known_outcome_may_be_repeated_at_once_with_its_seed() -> None:
    unknown = ended(FIRST, FIRST.execution, None, refused=False)
    again = accepted(begun(unknown, _sent(MS)))

    assert (again.seed, again.at, again.execution) == (FIRST.seed, FIRST.at, _sent(MS).execution)
    # The first execution may have had an effect, so the key stays in use after this refusal.
    refused = existing(ended(again, again.execution, None, refused=True))
    assert (refused.seed, refused.answer) == (FIRST.seed, None)


def test_only_the_last_execution_ends_a_request_and_once() -> None:
    again = accepted(begun(FIRST, _sent(BUSY)))
    answered = ended(again, again.execution, ANSWER, refused=False)

    assert ended(again, FIRST.execution, None, refused=True) == again
    assert ended(answered, again.execution, None, refused=True) == answered
    assert ended(None, FIRST.execution, ANSWER, refused=False) is None


@pytest.mark.parametrize("refused", [False, True])
async def test_a_request_that_is_sent_again_is_the_same_one_until_it_is_refused(*, refused: bool) -> None:
    clock, ids = ManualClock(), CountingIds()
    stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
    executions: list[tuple[str, datetime]] = []

    def repeatable(seed: str, at: datetime) -> AbstractContextManager[None]:
        executions.append((seed, at))
        return nullcontext()

    async def sent(name: str = "k", key: str = "csk_1") -> KeyedRequest | Refusal:
        return await Idempotency(stores.keyed_requests, clock, ids, repeatable).begin(key, name, "d")

    keys = Idempotency(stores.keyed_requests, clock, ids, repeatable)
    first = accepted(await sent())
    with keys.executing(first):
        clock.advance(MS)
    assert (executions, len(first.seed)) == ([(first.seed, START)], 40)
    assert await sent() == STILL_RUNNING
    await keys.end(first, ANSWER, refused=refused)

    again = accepted(await sent())
    assert (again.answer, again.seed == first.seed) == ((None, False) if refused else (ANSWER, True))
    # Other keys are other requests.
    for other in (await sent("l"), await sent(key="csk_2")):
        assert isinstance(other, KeyedRequest)
        assert other.seed != first.seed
