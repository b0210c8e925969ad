"""Outgoing events and messages. Foreign receivers read their payloads."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from tests.core.test_public_changelog import POST as SHOWN

from contentsvc_core.content.posts import PostStatus
from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.outgoing.events import (
    EventType,
    Occurrence,
    endpoint_disabled,
    integration_changed,
    post_published,
    post_written,
    run_failed,
)
from contentsvc_core.outgoing.messages import (
    DueMessage,
    LeasedMessage,
    Message,
    MessageStatus,
    begun_log,
    is_message_log,
    message_for,
    message_for_test,
    payload,
    payload_bytes,
)
from contentsvc_core.testing import START
from contentsvc_core.timestamps import iso_ms

LATER = START + timedelta(minutes=5)
POST = evolve(SHOWN, status=PostStatus.DRAFT, updated_at=LATER)
POST_DATA: dict[str, Any] = {
    "id": "post_1",
    "title": "A lamp",
    "contentType": "changelog",
    "status": "draft",
    "sourceMetadata": {"repositories": ["acme/lighthouse"]},
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:05:00.000Z",
    "links": {"self": "/v1/posts/post_1"},
}
CREATED = Occurrence(
    organization_id="org_1",
    type=EventType.POST_CREATED,
    key="post_1/2026-01-01T00:05:00.000Z",
    data=POST_DATA,
    at=LATER,
    since=LATER,
)
MESSAGE = Message(
    id="msg_3cfcb77ad4460d4d5bd72e66b9ba8055",
    organization_id="org_1",
    endpoint_id="whe_1",
    type="post.created",
    data=POST_DATA,
    occurred_at=LATER,
    created_at=LATER,
    due_at=LATER,
)


def test_a_written_draft_has_two_events() -> None:
    assert post_written(POST) == [CREATED, evolve(CREATED, type=EventType.DRAFT_WAITING)]


def test_a_post_that_is_published_when_it_is_written_has_two_events() -> None:
    shown = evolve(POST, status=PostStatus.PUBLISHED, source_metadata=None)
    data = POST_DATA | {"status": "published", "sourceMetadata": None}

    created, published = post_written(shown)

    assert created == evolve(CREATED, data=data)
    assert published == evolve(CREATED, data=data, type=EventType.POST_PUBLISHED)
    assert post_published(shown) == published


def test_the_event_of_a_failed_run_has_no_time() -> None:
    assert run_failed(
        organization_id="org_1",
        run_id="run_1",
        started_by="trg_1",
        takes=8,
        reason="the writer is away",
        created_at=START,
        due_at=LATER,
    ) == Occurrence(
        organization_id="org_1",
        type=EventType.RUN_FAILED,
        key="run_1/8",
        data={
            "id": "run_1",
            "triggerId": "trg_1",
            "scheduleId": None,
            "jobId": None,
            "reason": "the writer is away",
            "createdAt": "2026-01-01T00:00:00.000Z",
        },
        at=None,
        since=LATER,
    )


def test_the_event_of_an_endpoint_or_an_integration_is_one_of_its_time() -> None:
    at = iso_ms(LATER)
    assert endpoint_disabled(
        organization_id="org_1", endpoint_id="whe_1", description="The chat", target="acme", reason="gone", at=LATER
    ) == Occurrence(
        organization_id="org_1",
        type=EventType.ENDPOINT_DISABLED,
        key=f"whe_1/{at}",
        data={"id": "whe_1", "description": "The chat", "target": "acme", "reason": "gone", "disabledAt": at},
        at=LATER,
        since=LATER,
    )
    assert integration_changed(EventType.INTEGRATION_FAILING, "org_1", "int_1", {"failed": 5}, LATER) == Occurrence(
        organization_id="org_1",
        type=EventType.INTEGRATION_FAILING,
        key=f"int_1/{at}",
        data={"id": "int_1", "failed": 5},
        at=LATER,
        since=LATER,
    )


def test_the_id_of_a_message_is_derived_from_its_event() -> None:
    assert message_for("whe_1", CREATED) == MESSAGE

    others = [
        message_for("whe_2", CREATED),
        message_for("whe_1", evolve(CREATED, type=EventType.POST_PUBLISHED)),
        message_for("whe_1", evolve(CREATED, key="post_2")),
    ]
    assert len({MESSAGE.id, *(each.id for each in others)}) == 4


def test_a_new_message_is_pending_and_has_no_log_entry() -> None:
    assert (MESSAGE.status, MESSAGE.attempts, MESSAGE.takes) == (MessageStatus.PENDING, 0, 0)
    assert (MESSAGE.log_id, MESSAGE.logged_at) == (None, None)
    assert [status.value for status in MessageStatus] == ["pending", "delivered", "failed"]
    assert not leased().is_failing
    assert DueMessage(id="msg_1", organization_id="org_1", endpoint_id="whe_1", is_failing=False) != DueMessage(
        id="msg_1", organization_id="org_1", endpoint_id="whe_1", is_failing=True
    )
    # The repr contains no secret.
    assert "whsec" not in repr(leased())


def test_a_test_message_is_marked_as_a_test() -> None:
    assert message_for_test("whe_1", "org_1", "msg_9", START) == Message(
        id="msg_9",
        organization_id="org_1",
        endpoint_id="whe_1",
        type="endpoint.test",
        data={"message": "This is a test: nothing has happened."},
        occurred_at=START,
        created_at=START,
        due_at=START,
    )


@pytest.mark.parametrize(
    ("occurred_at", "timestamp"), [(LATER, "2026-01-01T00:05:00.000Z"), (None, "2026-01-01T00:00:00.000Z")]
)
def test_the_payload_has_type_timestamp_and_data(occurred_at: datetime | None, timestamp: str) -> None:
    message = evolve(MESSAGE, occurred_at=occurred_at, created_at=START)
    expected = {"type": "post.created", "timestamp": timestamp, "data": POST_DATA}

    assert payload(message) == expected
    assert json.loads(payload_bytes(message)) == expected


def leased(**changes: Any) -> LeasedMessage:
    return LeasedMessage(
        message=evolve(MESSAGE, **changes), url="https://acme.example/hook", secrets=["whsec_MDEyMw=="]
    )


def test_a_message_has_one_log_entry_for_all_attempts() -> None:
    first = LogEntry(
        id="log_1",
        organization_id="org_1",
        integration_id="whe_1",
        repository_id=0,
        reference_id=MESSAGE.id,
        title="Sent post.created webhook",
        integration_type="webhook",
        direction=Direction.OUTGOING,
        status=LogStatus.PENDING,
        status_code=None,
        detail=payload(MESSAGE),
        created_at=START,
    )

    assert begun_log(leased(), log_id="log_1", at=START) == first
    assert begun_log(leased(log_id="log_1", logged_at=START), log_id="log_2", at=LATER) == first

    assert is_message_log(first)
    assert not is_message_log(evolve(first, direction=Direction.INCOMING))
    assert not is_message_log(evolve(first, integration_type="codehost"))
