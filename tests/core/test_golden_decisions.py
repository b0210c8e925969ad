import pytest
from tests.builders import a_trigger
from tests.golden import DELIVERY_ID, GOLDEN, OTHERS, Golden, golden_address

from contentsvc_core import Belonging, HookConfiguration, Processed, VerifiedDelivery, admit, answer, decide, settlement
from contentsvc_core.journal import log_body
from contentsvc_core.testing import START, CountingIds


def hook_of(provider: str) -> HookConfiguration:
    at = golden_address(provider=provider)
    trigger = a_trigger(source_type=f"{provider}_webhook", repository_ids=(at.repository_id,))
    return HookConfiguration(
        address=at,
        enabled=True,
        secrets=("secret",),
        repository=Belonging.THIS_INTEGRATION,
        triggers=(trigger,),
        version=1,
        branch="main",
    )


@pytest.mark.parametrize("golden", [*GOLDEN, *OTHERS], ids=lambda golden: f"{golden.provider}-{golden.name}")
def test_each_golden_delivery_is_answered_and_logged_as_decided(golden: Golden) -> None:
    hook = hook_of(golden.provider)
    admitted = admit(golden.delivery(hook.address, "secret"), hook)
    assert isinstance(admitted, VerifiedDelivery)

    outcome = decide(admitted)
    settled = settlement(outcome, hook, at=START, new_id=CountingIds().new_id)

    expected = golden.expected
    assert outcome.status == expected["status"]
    if "answer" in expected:
        assert answer(outcome) == expected["answer"]
    else:
        assert answer(outcome)["error"].startswith("Invalid payload: ")
    assert settled is not None
    log = log_body(settled.log)
    assert expected["log"].items() <= log.items()
    assert log["referenceId"] == DELIVERY_ID
    assert log["integrationType"] == golden.provider
    assert log["direction"] == "incoming"
    assert (settled.context is not None) == expected["context"]
    assert len(settled.runs) == expected["runs"]
    also = outcome.also if isinstance(outcome, Processed) else ()
    assert [
        {"delivery": each.delivery_id, "data": log_body(log_of)["payload"]}
        for each in also
        if (further := settlement(each, hook, at=START, new_id=CountingIds().new_id)) and (log_of := further.log)
    ] == expected.get("also", [])
