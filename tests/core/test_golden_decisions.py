import pytest
from tests.golden import DELIVERY_ID, GOLDEN, REPOSITORY_ID, Golden, golden_address

from contentsvc_core import Belonging, HookConfiguration, VerifiedDelivery, admit, answer, decide, settlement
from contentsvc_core.content.posts import ContentType
from contentsvc_core.journal import log_body
from contentsvc_core.testing import START, CountingIds
from contentsvc_core.workflows.triggers import Trigger

ENDPOINT = HookConfiguration(
    address=golden_address(),
    enabled=True,
    secrets=("secret",),
    repository=Belonging.OURS,
    triggers=(
        Trigger(
            id="trg_1",
            organization_id="org_1",
            source_type="codehost_webhook",
            repository_ids=(REPOSITORY_ID,),
            event_types=(),
            output_type=ContentType.CHANGELOG,
            created_at=START,
        ),
    ),
    version=1,
)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_each_golden_delivery_is_answered_and_logged_as_decided(golden: Golden) -> None:
    admitted = admit(golden.delivery(ENDPOINT.address, "secret"), ENDPOINT)
    assert isinstance(admitted, VerifiedDelivery)

    outcome = decide(admitted)
    settled = settlement(outcome, ENDPOINT, at=START, mint=CountingIds().mint)

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
    assert log["integrationType"] == "codehost"
    assert log["direction"] == "incoming"
    assert (settled.context is not None) == expected["context"]
    assert len(settled.runs) == expected["runs"]
