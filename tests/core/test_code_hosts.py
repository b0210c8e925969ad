"""Delivery attempts of a code host, and addresses of its hooks."""

from datetime import timedelta

from contentsvc_core.code_hosts import HostDelivery, HostFault, HostRefusal, missed
from contentsvc_core.organizations import Integration, Repository, webhook_path, webhook_url
from contentsvc_core.refusals import RefusalKind
from contentsvc_core.testing import START


def test_a_delivery_is_missed_if_no_attempt_succeeded() -> None:
    def attempt(id_: str, delivery_id: str, status: int, minute: int) -> HostDelivery:
        return HostDelivery(
            id=id_,
            delivery_id=delivery_id,
            event="push",
            action=None,
            status_code=status,
            delivered_at=START + timedelta(minutes=minute),
        )

    attempts = [
        attempt("5", "d-late", 0, 9),
        attempt("3", "d-again", 500, 5),
        attempt("1", "d-again", 504, 1),
        attempt("2", "d-fine", 504, 1),
        attempt("4", "d-fine", 299, 2),
        attempt("6", "d-wrong", 300, 3),
    ]
    assert [each.id for each in missed(attempts)] == ["6", "3", "5"]
    assert [each.succeeded for each in attempts] == [False, False, False, False, True, False]
    assert {fault for fault in HostFault if fault.is_unknown} == {HostFault.UNREACHABLE, HostFault.STRANGE}


def test_each_fault_of_a_code_host_has_its_kind_of_refusal() -> None:
    refusals = {fault: HostRefusal(fault=fault, reason="no", retry_after_s=7).refusal for fault in HostFault}
    others = {
        HostFault.UNREACHABLE: RefusalKind.HOST_UNREACHABLE,
        HostFault.STRANGE: RefusalKind.HOST_UNREACHABLE,
        HostFault.RATE_LIMITED: RefusalKind.HOST_BUSY,
    }
    assert {fault: each.kind for fault, each in refusals.items()} == dict.fromkeys(
        HostFault, RefusalKind.HOST_REFUSED
    ) | others
    fields = {fault: each.field for fault, each in refusals.items() if each.field is not None}
    assert fields == {HostFault.UNSUPPORTED: "repository_id", HostFault.NO_ACCESS: "token"}
    assert {(each.reason, each.retry_after_s) for each in refusals.values()} == {("no", 7)}


def test_each_repository_of_an_integration_has_a_webhook_address() -> None:
    integration = Integration(
        id="int_1",
        organization_id="org_1",
        provider="codehost",
        repositories=(Repository(id=4242, full_name="acme/lamp", branch=None),),
        created_at=START,
    )
    assert webhook_path(integration, 7) == "/api/webhooks/codehost/org_1/int_1/7"
    assert webhook_url("https://x.example", integration, 7) == "https://x.example/api/webhooks/codehost/org_1/int_1/7"
