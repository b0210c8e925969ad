"""Any delivery is decided without an exception. The long form is ``make fuzz``."""

import json

import pytest
from campaigns.fuzz import operations, receiving
from campaigns.fuzz.bodies import Fuzzer
from campaigns.fuzz.receiving import fuzz_receiving
from schemathesis.core.failures import Failure, FailureGroup

from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Outcome

_COUNT = 5_000


@pytest.mark.slow("a short campaign over generated examples")
def test_any_body_has_an_outcome() -> None:
    found = fuzz_receiving(1, _COUNT)

    assert found.faults == []
    assert found.outcomes.total() == _COUNT
    # The deliveries reach all outcomes: not all bodies are refused by the first check.
    assert set(found.outcomes) == {"Processed", "Filtered", "Ignored", "Pong", "Rejected"}
    assert min(found.outcomes.values()) >= 20


def test_a_seed_gives_the_same_bodies() -> None:
    first, again, other = (Fuzzer(seed) for seed in (1, 1, 2))
    created = [[fuzzer.next() for _ in range(50)] for fuzzer in (first, again, other)]

    assert created[0] == created[1] != created[2]


def test_an_exception_is_reported_with_its_body(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = receiving.received

    def fragile(delivery: Delivery, ids: receiving.CountingIds) -> Outcome:
        # A parser without checks.
        json.loads(delivery.body)["repository"]
        return decide(delivery, ids)

    monkeypatch.setattr(receiving, "received", fragile)
    found = fuzz_receiving(1, 200)

    assert any("JSONDecodeError" in fault and "body " in fault for fault in found.faults)
    assert any("KeyError" in fault for fault in found.faults)


def test_a_call_that_contradicts_the_document_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def contradicted(*_: object, **__: object) -> None:
        raise FailureGroup([Failure(operation=None, message="schema-violating request accepted")])

    monkeypatch.setattr(operations, "try_operation", contradicted)
    found = operations.fuzz_operations(1)

    assert len(found.faults) == 2 * operations.operations()
    assert all("schema-violating request accepted" in fault for fault in found.faults)
