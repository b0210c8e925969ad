"""The service's own ping equals that of a code host."""

import pytest

from contentsvc_core.testing import address
from contentsvc_core.webhooks.decision import admit, decide
from contentsvc_core.webhooks.delivery import Belonging, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Fault, Pong, Rejected
from contentsvc_core.webhooks.pings import made_ping
from contentsvc_core.webhooks.providers import PROVIDERS


@pytest.mark.parametrize("provider", [provider.slug for provider in PROVIDERS])
def test_it_is_admitted_and_answered_and_only_with_the_right_secret(provider: str) -> None:
    at = address(provider)
    hook = HookConfiguration(
        address=at, enabled=True, secrets=("whsec_1",), repository=Belonging.THIS_INTEGRATION, version=1
    )

    ping = made_ping(at, secret="whsec_1", delivery_id="d-1")
    admitted = admit(ping, hook)
    refused = admit(made_ping(at, secret="whsec_2", delivery_id="d-1"), hook)

    assert isinstance(admitted, VerifiedDelivery)
    assert decide(admitted) == Pong(delivery_id="d-1")
    assert ping.headers.sole[b"content-length"] == b"%d" % len(ping.body)
    assert isinstance(refused, Rejected)
    assert refused.fault is Fault.INVALID_SIGNATURE
