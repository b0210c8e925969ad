"""The cost of each pure step of one 8 KB push, alone in this process."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from benchmarks.cores import pinned
from benchmarks.material import Hook, pushes
from benchmarks.ours import REPOSITORY, REPOSITORY_ID
from benchmarks.plan import Plan
from benchmarks.row import Finding, Row
from contentsvc_adapters.ids import RandomIds
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.webhooks.decision import admit, decide, preflight
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, Headers, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Processed, answer
from contentsvc_core.webhooks.settlement import settlement
from contentsvc_core.webhooks.signature import SIGNATURE_HEADER, sign
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.triggers import Trigger

if TYPE_CHECKING:
    from benchmarks.bench import Bench

_PROVIDER: Final = "codehost"
_SECRET: Final = "a secret of thirty-two characters"  # noqa: S105  # a secret of a test
#: The least time of one sample, in seconds.
_SAMPLE_S: Final = 0.1
_NOW: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def measure(bench: "Bench") -> list[Finding]:
    """Time each step, round by round, in random order."""
    steps = _steps()
    samples: dict[str, list[float]] = {name: [] for name in steps}
    with pinned(bench.cores.server):
        for number in range(bench.plan.rounds):
            bench.note(f"steps of one push, round {number + 1}")
            for name in bench.random.sample(sorted(steps), len(steps)):
                samples[name].append(_timed(steps[name]))
    return [
        Finding(key=f"steps/{number}", what=f"one 8 KB push: {name}", samples=samples[name], unit="µs")
        for number, name in enumerate(steps)
    ]


def _steps() -> Mapping[str, Callable[[], object]]:
    """Return the timed steps, in the order of a delivery."""
    hook = Hook(
        organization="org_1",
        integration="int_1",
        repository=REPOSITORY,
        repository_id=REPOSITORY_ID,
        secret=_SECRET,
    )
    body = pushes(hook, count=1)[0]
    address = Address(provider=_PROVIDER, organization_id="org_1", integration_id="int_1", repository_id=REPOSITORY_ID)
    fields = (
        (b"host", b"127.0.0.1"),
        (b"x-host-delivery", b"72d3162e-cc78-41e3-81ab-4c9367dc0958"),
        (b"content-type", b"application/json"),
        (b"x-host-event", b"push"),
        (SIGNATURE_HEADER.lower().encode(), body.signature.encode()),
        (b"content-length", str(len(body.body)).encode()),
    )
    trigger = Trigger(
        id="trg_1",
        organization_id="org_1",
        source_type=source_type(_PROVIDER),
        repository_ids=[REPOSITORY_ID],
        event_types=["push"],
        output_type=ContentType.CHANGELOG,
        created_at=_NOW,
    )
    configuration = HookConfiguration(
        address=address,
        enabled=True,
        secrets=[_SECRET],
        repository=Belonging.THIS_INTEGRATION,
        triggers=[trigger],
        version=1,
    )
    delivery = Delivery(address=address, headers=Headers.of(fields), body=body.body)
    verified = admit(delivery, configuration)
    assert isinstance(verified, VerifiedDelivery)
    outcome = decide(verified)
    assert isinstance(outcome, Processed)
    event = outcome.event
    new_id = RandomIds().new_id
    return {
        "the delivery as a value": lambda: Delivery(address=address, headers=Headers.of(fields), body=body.body),
        "preflight": lambda: preflight(delivery, configuration),
        "HMAC-SHA256 of the body, in hexadecimal": lambda: sign(body.body, _SECRET),
        "admit (signature, integration, repository)": lambda: admit(delivery, configuration),
        "decide (headers, parsing, filters)": lambda: decide(verified),
        "settlement (context record, run, log entry, ids)": lambda: settlement(
            outcome, configuration, at=_NOW, new_id=new_id
        ),
        "the event as JSON": lambda: event_to_json(event),
        "the answer as JSON": lambda: msgspec.json.encode(answer(outcome)),
        "for comparison: json.loads of the body": lambda: json.loads(body.body),
    }


def _timed(step: Callable[[], object]) -> float:
    """Return a step's processor time, in µs."""
    done = 0
    # Processor time: other processes do not count.
    began = time.process_time()
    while (took := time.process_time() - began) < _SAMPLE_S:
        for _ in range(100):
            step()
        done += 100
    return took / done * 1e6


def estimate(plan: Plan) -> float:
    """Return the expected time, in seconds."""
    return plan.rounds * 9 * _SAMPLE_S


ROWS: Final = (Row(name="steps", title="the steps of one push", measure=measure, estimate=estimate),)
