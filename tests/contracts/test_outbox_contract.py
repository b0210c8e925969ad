"""``Outbox``: messages are written with the event, leased by one process at a time, fair, and logged."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import pytest
from attrs import evolve
from contract_values import IDS, SHARED_CLOCK, RotatingSealer, Stores, Tenant, a_post, later, release, take, tenant
from sqlalchemy import select, update
from test_webhook_endpoints_contract import added

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints, webhook_messages
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.errors import UnreadableRow, Unstorable
from contentsvc_core.journal import Direction, LogEntry, LogStatus, listed_entry
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import (
    Attempted,
    DueMessage,
    FreePlaces,
    LeasedMessage,
    Message,
    MessageStatus,
    begun_log,
    message_for_test,
    payload,
)
from contentsvc_core.testing import START
from contentsvc_core.workflows.runs import Completion, RunStatus

pytestmark = pytest.mark.usefixtures("shared_clock")
_LEASE: Final = timedelta(minutes=1)


def a_message(endpoint: WebhookEndpoint, at: datetime = START) -> Message:
    return message_for_test(endpoint.id, endpoint.organization_id, IDS.new_id("msg_"), at)


async def waiting(endpoint: WebhookEndpoint, stores: Stores, at: datetime = START) -> Message:
    message = a_message(endpoint, at)
    await stores.outbox.add(message)
    return message


async def due(  # one argument for each bound
    stores: Stores,
    at: datetime,
    *,
    limit: int = 99,
    failing: int = 99,
    share: int = 99,
    of_one: int = 99,
    sending: Mapping[str, int] | None = None,
) -> list[str]:
    SHARED_CLOCK.at = at
    places = FreePlaces(
        limit=limit, failing=failing, per_endpoint=share, per_organization=of_one, sending=sending or {}
    )
    found = await stores.outbox.due(at, places)
    return [each.id for each in found]


async def taken_at(stores: Stores, at: datetime) -> list[LeasedMessage]:
    return list(await stores.outbox.take(await due(stores, at), now=at, lease=_LEASE))


def ended(
    taken: LeasedMessage, status: MessageStatus = MessageStatus.DELIVERED, *, at: datetime = START, **log: object
) -> Attempted:
    log_status = {
        MessageStatus.DELIVERED: LogStatus.SUCCESS,
        MessageStatus.FAILED: LogStatus.FAILED,
        MessageStatus.PENDING: LogStatus.PENDING,
    }[status]
    entry = evolve(begun_log(taken, log_id=IDS.new_id("log_"), at=at), status=log_status, **log)
    return Attempted(
        at=at, taken=taken, status=status, due_at=at, log=entry, succeeded=status is MessageStatus.DELIVERED
    )


async def stored_messages(acme: Tenant) -> list[tuple[str, str]]:
    """Return the due messages by type and by the id of their subject."""
    found = await taken_at(acme.stores, later(days=1))
    return sorted((each.message.type, str(each.message.data["id"])) for each in found)


async def completed(acme: Tenant, **changes: object) -> Post:
    post = a_post(acme.id, **changes)  # pyright: ignore[reportArgumentType]
    assert await acme.stores.ledger.complete(await acme.taken(), post, once=None) is Completion.COMPLETED
    return post


async def test_messages_about_a_post_are_written_in_its_transaction(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    everything = await added(acme)
    await added(acme, event_types=[EventType.RUN_FAILED])
    await added(acme, enabled=False)
    await added(zenith)

    draft = await completed(acme)
    published = await completed(acme, status=PostStatus.PUBLISHED)

    found = await taken_at(acme.stores, later(days=1))
    assert {each.message.endpoint_id for each in found} == {everything.id}
    assert {each.message.organization_id for each in found} == {acme.id}
    assert sorted((each.message.type, each.message.data["id"]) for each in found) == sorted(
        [
            ("draft.waiting", draft.id),
            ("post.created", draft.id),
            ("post.created", published.id),
            ("post.published", published.id),
        ]
    )
    of_draft, waiting = sorted(
        (each.message for each in found if each.message.data["id"] == draft.id),
        key=lambda each: each.type,
        reverse=True,
    )
    assert waiting.data == of_draft.data
    assert payload(of_draft) == {
        "type": "post.created",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "data": {
            "id": draft.id,
            "title": draft.title,
            "contentType": "changelog",
            "status": "draft",
            "sourceMetadata": {"repositories": ["acme/lighthouse"]},
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T00:00:00.000Z",
            "links": {"self": f"/v1/posts/{draft.id}"},
        },
    }


async def test_a_post_that_is_not_written_has_no_message(acme: Tenant) -> None:
    await added(acme)
    ledger = acme.stores.ledger
    first, second = await acme.taken(release()), await acme.taken(release())
    post = a_post(acme.id)

    assert await ledger.complete(first, post, once="v1") is Completion.COMPLETED
    assert await ledger.complete(first, a_post(acme.id), once=None) is Completion.GONE
    assert await ledger.complete(second, a_post(acme.id), once="v1") is Completion.ALREADY_REPORTED
    with pytest.raises(Unstorable):
        await ledger.complete(await acme.taken(), a_post(acme.id, title="\ud800"), once=None)

    assert await stored_messages(acme) == [("draft.waiting", post.id), ("post.created", post.id)]


async def test_each_publication_of_a_draft_has_one_message(acme: Tenant) -> None:
    draft = await completed(acme)
    await added(acme)
    change = acme.stores.posts.change

    async def becomes(standing: Post, status: PostStatus, title: str = "changed") -> Post:
        changed = evolve(
            standing, status=status, title=title, updated_at=standing.updated_at + (later(hours=1) - START)
        )
        assert await change(changed, unchanged_since=standing.updated_at)
        # A second change of the same version is too late.
        assert not await change(changed, unchanged_since=standing.updated_at)
        return changed

    edited = await becomes(draft, PostStatus.DRAFT)
    assert await stored_messages(acme) == []
    published = await becomes(edited, PostStatus.PUBLISHED, "What is new, now")
    (taken,) = await taken_at(acme.stores, later(days=1))
    assert (taken.message.type, taken.message.data["title"]) == ("post.published", "What is new, now")
    assert taken.message.occurred_at == published.updated_at
    await acme.stores.outbox.record(ended(taken))
    again = await becomes(await becomes(published, PostStatus.PUBLISHED), PostStatus.DRAFT)
    assert await stored_messages(acme) == []
    await becomes(again, PostStatus.PUBLISHED)
    assert await stored_messages(acme) == [("post.published", draft.id)]


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.SKIPPED])
async def test_only_a_failed_run_has_a_message(acme: Tenant, status: RunStatus) -> None:
    await added(acme)
    run = await acme.taken()

    await acme.stores.ledger.end(run, status, "so it is")
    # The lease belongs to another process now.
    await acme.stores.ledger.end(run, RunStatus.FAILED, "late")

    found = await taken_at(acme.stores, later(hours=1))
    if status is RunStatus.SKIPPED:
        assert found == []
        return
    (taken,) = found
    assert payload(taken.message) == {
        "type": "run.failed",
        # The time of the first lease: the process that ends a run has no clock.
        "timestamp": "2026-01-01T01:00:00.000Z",
        "data": {
            "id": run.id,
            "triggerId": run.cause.started_by,
            "scheduleId": None,
            "jobId": None,
            "reason": "so it is",
            "createdAt": "2026-01-01T00:00:00.000Z",
        },
    }
    # The time stays when the message is sent again.
    await acme.stores.outbox.requeue(taken, due_at=START)
    (again,) = await taken_at(acme.stores, later(hours=2))
    assert payload(again.message) == payload(taken.message)


async def test_a_run_killed_too_often_has_a_message_and_another_after_a_restart(acme: Tenant) -> None:
    stores = acme.stores
    endpoint = await added(acme)
    run = await acme.taken()
    for _ in range(19):
        await stores.executors.recover("killed", lost=await stores.executors.heartbeat("nobody"))
        (run,) = await take(stores, [run.id])
    assert await stored_messages(acme) == []
    await stores.executors.recover("killed too often", lost=await stores.executors.heartbeat("nobody"))
    (taken,) = await taken_at(stores, later(days=1))
    assert taken.message.data["reason"] == "killed too often"
    await stores.outbox.record(ended(taken))

    assert await stores.ledger.restart(acme.id, run.id, due_at=START)
    (again,) = await take(stores, [run.id])
    await stores.ledger.end(again, RunStatus.FAILED, "again")

    (second,) = await taken_at(stores, later(days=1))
    assert second.message.data["reason"] == "again"
    assert second.message.id != taken.message.id
    assert second.message.endpoint_id == endpoint.id


async def test_of_concurrent_takers_one_gets_each_message(acme: Tenant) -> None:
    endpoint = await added(acme)
    messages = [await waiting(endpoint, acme.stores) for _ in range(6)]
    ids = [each.id for each in messages]

    taken = await asyncio.gather(*(acme.stores.outbox.take(ids, now=START, lease=_LEASE) for _ in range(4)))

    assert sorted(each.message.id for some in taken for each in some) == sorted(ids)
    assert {(each.message.attempts, each.message.takes) for some in taken for each in some} == {(1, 1)}
    assert await due(acme.stores, later(milliseconds=59_999)) == []


async def test_an_unfinished_message_is_due_again_when_its_lease_ends(acme: Tenant) -> None:
    stores, endpoint = acme.stores, await added(acme)
    message = await waiting(endpoint, stores)
    (lost,) = await taken_at(stores, START)

    assert not await stores.outbox.take([message.id], now=later(seconds=59), lease=_LEASE)
    (taken,) = await taken_at(stores, later(minutes=1))
    # The lost attempt has no outcome, so it does not count.
    assert (taken.message.attempts, taken.message.takes) == (1, 2)
    # A process whose lease has ended changes nothing.
    await stores.outbox.record(ended(lost))
    await stores.outbox.requeue(lost, due_at=START)
    assert await stores.journal.entries(acme.id) == []
    assert await stores.outbox.message(acme.id, message.id) == evolve(taken.message, attempts=0)
    await stores.outbox.record(ended(taken))
    found = await stores.outbox.message(acme.id, message.id)
    assert found is not None
    assert (found.status, found.attempts) == (MessageStatus.DELIVERED, 1)


async def test_a_returned_message_counts_no_attempt(acme: Tenant) -> None:
    endpoint = await added(acme)
    message = await waiting(endpoint, acme.stores)
    (taken,) = await taken_at(acme.stores, START)

    await acme.stores.outbox.requeue(taken, due_at=later(seconds=3))

    found = await acme.stores.outbox.message(acme.id, message.id)
    assert found == evolve(message, takes=1, due_at=later(seconds=3))
    assert await due(acme.stores, later(seconds=2)) == []
    assert await due(acme.stores, later(seconds=3)) == [message.id]


async def test_all_attempts_of_a_message_share_one_log_entry(acme: Tenant) -> None:
    stores, endpoint = acme.stores, await added(acme)
    message = await waiting(endpoint, stores)
    (first,) = await taken_at(stores, START)
    tried = ended(first, MessageStatus.PENDING, status_code=500, reason="answered 500; attempt 1 of 8")

    for _ in range(2):
        await stores.outbox.record(tried)

    assert await stores.journal.entries(acme.id) == [tried.log]
    assert await stores.journal.entry(acme.id, tried.log.id) == tried.log
    (second,) = await taken_at(stores, later(minutes=2))
    well = ended(second, at=later(minutes=2), status_code=204, reason="attempt 2 of 8")
    await stores.outbox.record(well)
    (entry,) = await stores.journal.entries(acme.id)
    assert entry == LogEntry(
        id=tried.log.id,
        organization_id=acme.id,
        integration_id=endpoint.id,
        repository_id=0,
        reference_id=message.id,
        title="Outgoing endpoint.test message",
        integration_type="webhook",
        direction=Direction.OUTGOING,
        status=LogStatus.SUCCESS,
        status_code=204,
        detail=payload(message),
        reason="attempt 2 of 8",
        created_at=START,
    )
    assert (await stores.read_model.newest_entries(acme.id))[endpoint.id] == listed_entry(entry)
    # The message has ended: it is not leased again, also after a late repetition, and its end does not change.
    await stores.outbox.add(message)
    assert await due(stores, later(days=9)) == []
    await stores.outbox.record(ended(second, MessageStatus.FAILED))
    assert await stores.journal.entries(acme.id) == [entry]


async def test_an_entry_that_was_swept_while_its_message_waited_stays_away(acme: Tenant) -> None:
    stores, endpoint = acme.stores, await added(acme)
    await waiting(endpoint, stores)
    (first,) = await taken_at(stores, START)
    await stores.outbox.record(ended(first, MessageStatus.PENDING))
    assert await stores.journal.sweep(acme.id, before=later(days=1), limit=9) == 1

    (second,) = await taken_at(stores, later(minutes=2))
    await stores.outbox.record(ended(second))

    assert await stores.journal.entries(acme.id) == []


async def test_failures_in_a_row_are_counted_and_end_with_a_success(acme: Tenant) -> None:
    stores, endpoint, other = acme.stores, await added(acme), await added(acme)

    async def failures() -> list[int]:
        return [each.failures for each in await stores.endpoints.endpoints(acme.id)]

    await waiting(endpoint, stores)
    for number in (1, 2):
        (taken,) = await taken_at(stores, later(hours=number))
        await stores.outbox.record(ended(taken, MessageStatus.PENDING, at=later(hours=number)))
        assert await failures() == [number, 0]
    (taken,) = await taken_at(stores, later(hours=3))
    await stores.outbox.record(ended(taken))
    assert await failures() == [0, 0]
    assert other.failures == 0


async def test_messages_of_a_format_of_a_newer_version_wait_and_hold_up_no_others(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    newer, known = await added(acme), await added(acme)
    format_ = update(webhook_endpoints).where(webhook_endpoints.c.id == newer.id)
    await database.change(format_.values(format="pigeon"))
    await waiting(newer, acme.stores)

    post = await completed(acme, status=PostStatus.PUBLISHED)

    events = [("post.created", post.id), ("post.published", post.id)]
    assert await due(acme.stores, later(days=1), limit=1) != []
    assert await stored_messages(acme) == events
    # The unreadable endpoint is not listed, so that the others are, and can only be deleted.
    endpoints = acme.stores.endpoints
    assert [each.id for each in await endpoints.endpoints(acme.id)] == [known.id]
    assert await endpoints.endpoint(acme.id, newer.id) is None
    assert await endpoints.change(acme.id, newer.id, lambda each: evolve(each, enabled=False)) is None
    assert await endpoints.rotate(acme.id, newer.id, "whsec_new", overlap_until=START) is None
    # After the return of the newer version, the event that needs a choice is still missing.
    await database.change(format_.values(format=EndpointFormat.SLACK.value))
    found = await taken_at(acme.stores, later(days=1))
    assert sorted(each.message.type for each in found) == ["endpoint.test", "post.published"]
    assert known.id not in {each.message.endpoint_id for each in found}


async def test_a_change_of_other_fields_keeps_the_event_types_of_a_newer_version(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    endpoint = await added(acme)
    types = update(webhook_endpoints).where(webhook_endpoints.c.id == endpoint.id)
    await database.change(types.values(event_types='["post.created","post.newer"]'))
    change = acme.stores.endpoints.change

    await change(acme.id, endpoint.id, lambda each: evolve(each, description="pigeons"))
    assert [row.event_types for row in await database.rows(select(webhook_endpoints))] == [
        '["post.created","post.newer"]'
    ]
    await change(acme.id, endpoint.id, lambda each: evolve(each, event_types=[EventType.RUN_FAILED]))
    assert [row.event_types for row in await database.rows(select(webhook_endpoints))] == ['["run.failed"]']


async def test_an_unreadable_message_holds_up_no_others(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    endpoint = await added(acme)
    torn, whole = await waiting(endpoint, acme.stores), await waiting(endpoint, acme.stores, later(seconds=1))
    await database.change(update(webhook_messages).where(webhook_messages.c.id == torn.id).values(data="{"))
    take = acme.stores.outbox.take
    SHARED_CLOCK.at = later(minutes=1)

    taken = await take([torn.id, whole.id], now=later(minutes=1), lease=_LEASE)

    assert [each.message.id for each in taken] == [whole.id]
    # Its lease lets the messages behind it pass, and its fault is reported when it is alone.
    assert await due(acme.stores, later(minutes=1)) == []
    SHARED_CLOCK.at = later(minutes=2)
    with pytest.raises(UnreadableRow, match=torn.id):
        await take([torn.id], now=later(minutes=2), lease=_LEASE)
    assert await due(acme.stores, later(minutes=2)) == [whole.id]


async def test_an_endpoint_answering_410_is_disabled_and_its_messages_are_sent_after_enabling(acme: Tenant) -> None:
    stores, endpoint = acme.stores, await added(acme)
    await waiting(endpoint, stores)
    held = await waiting(endpoint, stores, later(seconds=1))
    (taken,) = await taken_at(stores, START)

    await stores.outbox.record(evolve(ended(taken, MessageStatus.FAILED), disables="it answered 410 Gone"))

    standing = await stores.endpoints.endpoint(acme.id, endpoint.id)
    assert standing == evolve(endpoint, enabled=False, disabled_reason="it answered 410 Gone", failures=1)
    assert await due(stores, later(days=1)) == []
    assert not await stores.outbox.take([held.id], now=later(days=1), lease=_LEASE)
    await stores.endpoints.change(acme.id, endpoint.id, lambda each: evolve(each, enabled=True))
    assert await due(stores, later(days=1)) == [held.id]


async def test_busy_endpoints_do_not_delay_others_and_failing_ones_come_last(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    busy, dead, third = await added(acme), await added(acme), await added(zenith)
    await waiting(dead, stores)
    (taken,) = await taken_at(stores, START)
    await stores.outbox.record(ended(taken, MessageStatus.PENDING))
    of_dead = [await waiting(dead, stores, later(seconds=1)) for _ in range(3)]
    of_busy = [await waiting(busy, stores, later(seconds=2, milliseconds=number)) for number in range(4)]
    of_third = await waiting(third, stores, later(seconds=9))
    later_on = later(minutes=5)

    assert await due(stores, later_on, share=2) == [
        of_busy[0].id,
        of_third.id,
        of_busy[1].id,
        taken.message.id,
        of_dead[0].id,
    ]
    assert await due(stores, later_on, share=1, failing=0) == [of_busy[0].id, of_third.id]
    assert await due(stores, later_on, share=9, failing=1) == [
        of_busy[0].id,
        of_third.id,
        *(each.id for each in of_busy[1:]),
        taken.message.id,
    ]
    assert await due(stores, later_on, limit=1) == [of_busy[0].id]
    assert await due(stores, later_on, limit=0) == []
    places = FreePlaces(limit=99, failing=99, per_endpoint=1, per_organization=99, without=[busy.id, "whe_unknown"])
    assert list(await stores.outbox.due(later_on, places)) == [
        DueMessage(id=of_third.id, organization_id=zenith.id, endpoint_id=third.id, is_failing=False),
        DueMessage(id=taken.message.id, organization_id=acme.id, endpoint_id=dead.id, is_failing=True),
    ]
    # Messages that are due later are not due now.
    assert await due(stores, later(seconds=2), failing=0) == [of_busy[0].id]


async def test_an_organization_gets_its_share_of_the_places_and_organizations_take_turns(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    endpoints = [await added(acme) for _ in range(3)]
    mine = [(await waiting(each, stores, later(seconds=number))).id for number, each in enumerate(endpoints * 2)]
    third = await added(zenith)
    others = [(await waiting(third, stores, later(minutes=1, seconds=number))).id for number in range(2)]
    now = later(minutes=5)

    assert await due(stores, now) == [mine[0], others[0], mine[1], others[1], *mine[2:]]
    assert await due(stores, now, limit=2) == [mine[0], others[0]]
    assert await due(stores, now, of_one=2) == [mine[0], others[0], mine[1], others[1]]
    # Messages that are being sent count.
    assert await due(stores, now, of_one=2, sending={acme.id: 1}) == [mine[0], others[0], others[1]]
    assert await due(stores, now, of_one=2, sending={acme.id: 1}, limit=1) == [mine[0]]
    assert await due(stores, now, of_one=2, sending={acme.id: 2, "org_unknown": 9}, limit=1) == [others[0]]
    assert await due(stores, now, of_one=2, sending={acme.id: 2, zenith.id: 2}) == []


async def test_messages_of_failing_endpoints_count_in_their_organizations_share(acme: Tenant) -> None:
    stores = acme.stores
    well, dead = await added(acme), await added(acme)
    await waiting(dead, stores)
    (taken,) = await taken_at(stores, START)
    await stores.outbox.record(ended(taken, MessageStatus.PENDING))
    mine = [(await waiting(well, stores, later(seconds=number + 1))).id for number in range(2)]
    now = later(minutes=5)

    assert await due(stores, now, of_one=3) == [*mine, taken.message.id]
    assert await due(stores, now, of_one=2) == mine
    assert await due(stores, now, of_one=2, sending={acme.id: 1}) == mine[:1]


async def test_a_message_that_is_sent_again_keeps_its_id_and_gets_an_entry_of_its_own(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    endpoint = await added(acme)
    message = await waiting(endpoint, stores)
    (taken,) = await taken_at(stores, START)
    await stores.outbox.record(evolve(ended(taken, MessageStatus.FAILED), delivered_to=("ann@example.org",)))

    assert not await stores.outbox.resend(zenith.id, message.id, due_at=later(hours=1))
    assert not await stores.outbox.resend(acme.id, "msg_unknown", due_at=later(hours=1))
    assert await stores.outbox.resend(acme.id, message.id, due_at=later(hours=1))

    assert await due(stores, later(minutes=59)) == []
    (again,) = await taken_at(stores, later(hours=1))
    assert (again.message.id, again.message.attempts, again.message.log_id) == (message.id, 1, None)
    # All addresses get the mail again.
    assert again.message.delivered_to == ()
    assert payload(again.message) == payload(message)
    await stores.outbox.record(ended(again, at=later(hours=1)))
    entries = await stores.journal.entries(acme.id)
    assert [(entry.reference_id, entry.status) for entry in entries] == [
        (message.id, LogStatus.SUCCESS),
        (message.id, LogStatus.FAILED),
    ]


async def test_one_that_still_waits_is_begun_with_anew_and_keeps_its_entry(acme: Tenant) -> None:
    stores, endpoint = acme.stores, await added(acme)
    message = await waiting(endpoint, stores)
    (first,) = await taken_at(stores, START)
    tried = evolve(ended(first, MessageStatus.PENDING), due_at=later(hours=5))
    await stores.outbox.record(tried)

    assert await stores.outbox.resend(acme.id, message.id, due_at=later(minutes=1))

    (second,) = await taken_at(stores, later(minutes=1))
    assert (second.message.attempts, second.message.log_id) == (1, tried.log.id)
    await stores.outbox.record(ended(second))
    (entry,) = await stores.journal.entries(acme.id)
    assert (entry.id, entry.status) == (tried.log.id, LogStatus.SUCCESS)


async def test_messages_are_swept_by_organization_the_oldest_first(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    endpoint, elsewhere = await added(acme), await added(zenith)
    messages = [await waiting(endpoint, stores, later(days=number)) for number in (2, 0, 1, 3)]
    other = await waiting(elsewhere, stores)

    async def left() -> list[Message]:
        return [each for each in messages if await stores.outbox.message(acme.id, each.id) is not None]

    assert await stores.outbox.sweep(acme.id, before=later(days=3), limit=2) == 2
    assert await left() == [messages[0], messages[3]]
    assert [await stores.outbox.sweep(acme.id, before=later(days=3), limit=9) for _ in range(2)] == [1, 0]
    assert await left() == [messages[3]]
    assert await stores.outbox.message(zenith.id, other.id) == other
    assert await stores.outbox.message(acme.id, other.id) is None


async def test_unstorable_text_is_refused(acme: Tenant) -> None:
    endpoint = await added(acme)
    with pytest.raises(Unstorable):
        await acme.stores.outbox.add(evolve(a_message(endpoint), type="\ud800"))
    with pytest.raises(Unstorable):
        await acme.stores.outbox.add(evolve(a_message(endpoint), organization_id="org_unknown"))
