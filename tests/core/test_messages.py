"""Outgoing events and messages. Foreign receivers read their payloads."""

from datetime import timedelta
from typing import Any

from attrs import evolve
from tests.core.test_public_changelog import POST as SHOWN

from contentsvc_core.content.posts import PostStatus
from contentsvc_core.outgoing.events import (
    EventType,
    Occurrence,
    endpoint_disabled,
    post_written,
    state_changed,
)
from contentsvc_core.outgoing.messages import (
    DueMessage,
    LeasedMessage,
    Message,
    MessageStatus,
    message_for,
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
    assert state_changed(EventType.INTEGRATION_FAILING, "org_1", "int_1", {"failed": 5}, LATER) == Occurrence(
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


def leased(**changes: Any) -> LeasedMessage:
    return LeasedMessage(
        message=evolve(MESSAGE, **changes), url="https://acme.example/hook", secrets=["whsec_MDEyMw=="]
    )
