"""Decides malformed deliveries: a fault is an exception, or a value that no store can hold."""

import traceback
from collections import Counter
from functools import cache
from typing import Final, final

import msgspec
from attrs import frozen
from campaigns.fuzz.bodies import SECRET, Fuzzer
from tests.builders import a_trigger

from contentsvc_adapters.memory.state import refuse_unstorable
from contentsvc_core.events.wire import event_from_json, event_to_json
from contentsvc_core.testing import START, CountingIds
from contentsvc_core.webhooks.decision import admit, decide
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Outcome, Processed, Rejected, answer
from contentsvc_core.webhooks.settlement import settlement
from contentsvc_core.workflows.causes import source_type


@cache
def _hook_of(at: Address) -> HookConfiguration:
    trigger = a_trigger(
        organization_id=at.organization_id, source_type=source_type(at.provider), repository_ids=(at.repository_id,)
    )
    return HookConfiguration(
        address=at,
        enabled=True,
        secrets=(SECRET,),
        repository=Belonging.THIS_INTEGRATION,
        triggers=(trigger,),
        version=1,
        branch="main",
    )


#: The messages that a sender may get.
_STATUSES: Final = frozenset({200, 400, 401, 403, 404, 413, 415})


@final
@frozen(kw_only=True)
class Found:
    """The results of some thousands of deliveries."""

    #: By the outcome's name.
    outcomes: Counter[str]
    #: The faults, with the body in hexadecimal.
    faults: list[str]


def fuzz_receiving(seed: int, count: int) -> Found:
    """Decide deliveries, from the signature to the settlement and the answer."""
    fuzzer = Fuzzer(seed)
    ids = CountingIds()
    outcomes = Counter[str]()
    faults: list[str] = []
    for number in range(count):
        delivery = fuzzer.next()
        try:
            outcomes[type(received(delivery, ids)).__name__] += 1
        except Exception:  # noqa: BLE001  # the test looks for any exception
            error = traceback.format_exc(limit=-2).strip().replace("\n", " | ")
            faults.append(
                f"seed {seed}, number {number}: {error}; headers {delivery.headers}; body {delivery.body.hex()}"
            )
    return Found(outcomes=outcomes, faults=faults)


def received(delivery: Delivery, ids: CountingIds) -> Outcome:
    """Decide a delivery, and process the outcome as a receiver, a store and a driver do.

    Raises:
        Exception: The delivery has a fault.
    """
    hook = _hook_of(delivery.address)
    admission = admit(delivery, hook)
    outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
    assert outcome.status in _STATUSES
    written = msgspec.json.encode(answer(outcome))
    assert isinstance(msgspec.json.decode(written), dict)
    several = (outcome, *outcome.also) if isinstance(outcome, Processed) else (outcome,)
    for each in several:
        left = settlement(each, hook, at=START, new_id=ids.new_id)
        if left is not None:
            refuse_unstorable(left.log, left.context, left.runs)
        if isinstance(each, Processed):
            text = event_to_json(each.event)
            assert "\0" not in text
            assert event_from_json(each.event.type, text) == each.event
    if isinstance(outcome, Rejected):
        # One line of text, without control characters for terminals and logs.
        assert outcome.error.isprintable()
    return outcome
