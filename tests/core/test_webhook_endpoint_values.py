"""URLs of endpoints, and the messages of events."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from attrs import evolve
from tests.refusals import the_refusal

from contentsvc_core.outgoing.endpoints import EndpointBody, WebhookEndpoint
from contentsvc_core.outgoing.events import EventType, run_failed
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.targets import read_endpoint_url
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START


def body_of(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return msgspec.to_builtins(EndpointBody.of(endpoint, {}))


def test_an_endpoint_is_a_public_site_over_https() -> None:
    # The rules of site addresses have tests of their own.
    assert not isinstance(read_endpoint_url("https://acme.example/hook?token=1"), Refusal)
    for url, reason in (
        ("http://acme.example/hook", "must begin with https://"),
        ("ftp://acme.example/hook", "must begin with https://"),
        ("", "must be 1 to"),
        ("https://127.0.0.1/", "must be the address of a public site"),
    ):
        refused = the_refusal(read_endpoint_url(url))
        assert reason in refused.message()


def test_an_endpoint_without_event_types_wants_all_events_and_a_disabled_one_none() -> None:
    def endpoint(*types: EventType, enabled: bool = True) -> WebhookEndpoint:
        return WebhookEndpoint(
            id="whe_1",
            organization_id="org_1",
            url="https://a.example",
            event_types=types,
            enabled=enabled,
            created_at=START,
        )

    assert all(endpoint().wants(kind) for kind in EventType)
    assert not any(endpoint(enabled=False).wants(kind) for kind in EventType)
    assert [kind for kind in EventType if endpoint(EventType.RUN_FAILED).wants(kind)] == [EventType.RUN_FAILED]
    # A new post is announced once.
    chat = evolve(endpoint(), format=EndpointFormat.SLACK)
    assert [kind for kind in EventType if not chat.wants(kind)] == [EventType.POST_CREATED]
    assert evolve(chat, event_types=[EventType.POST_CREATED]).wants(EventType.POST_CREATED)
    # Sorted, without repetitions.
    both = endpoint(EventType.RUN_FAILED, EventType.POST_CREATED, EventType.RUN_FAILED)
    assert body_of(both)["eventTypes"] == ["post.created", "run.failed"]


def test_the_body_of_an_endpoint_has_all_its_public_fields() -> None:
    endpoint = WebhookEndpoint(
        id="whe_1",
        organization_id="org_1",
        url="https://acme.example/hook",
        description="The chat",
        event_types=(EventType.POST_CREATED,),
        enabled=False,
        disabled_reason="it is gone",
        failures=3,
        previous_secret_until=START + timedelta(hours=1),
        created_at=START,
    )

    body = body_of(endpoint)

    assert body == {
        "id": "whe_1",
        "url": "https://acme.example/hook",
        "description": "The chat",
        "format": "standard",
        "eventTypes": ["post.created"],
        "enabled": False,
        "disabledReason": "it is gone",
        "consecutiveFailures": 3,
        "previousSecretUntil": "2026-01-01T01:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "recipients": [],
    }
    assert body_of(evolve(endpoint, previous_secret_until=None)) == body | {"previousSecretUntil": None}


@pytest.mark.parametrize(
    ("started_by", "field"), [("trg_1", "triggerId"), ("sch_1", "scheduleId"), ("job_1", "jobId"), ("else", None)]
)
def test_the_message_of_a_failed_run_names_its_starter(started_by: str, field: str | None) -> None:
    message = run_failed(
        organization_id="org_1",
        run_id="run",
        started_by=started_by,
        takes=3,
        reason="the writer is away",
        created_at=START,
        due_at=START,
    )

    starters = {name: message.data[name] for name in ("triggerId", "scheduleId", "jobId")}
    assert starters == {name: started_by if name == field else None for name in starters}
