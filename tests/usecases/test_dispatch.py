"""Sending the messages of the outbox, and sending them again."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve, frozen
from standardwebhooks import Webhook
from tests.endpoints import PLACES, Receiver, editor_of
from tests.refusals import accepted, existing
from tests.usecases.conftest import Between, World

from contentsvc_core import Dispatcher, EndpointEditor, LogEntry, Replayer
from contentsvc_core.errors import SecretUnreadable, StoreUnavailable
from contentsvc_core.journal import UNKNOWN_LOG, LogStatus
from contentsvc_core.outgoing.endpoints import (
    ENDPOINT_DISABLED,
    MAX_OVERLAP,
    UNKNOWN_ENDPOINT,
    ChangeEndpoint,
    CreateEndpoint,
    WebhookEndpoint,
)
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.retries import MAX_ATTEMPTS, Answer, AttemptResult, NotSent
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import iso_ms, to_ms
from contentsvc_core.usecases.replay import ENDPOINT_GONE, MESSAGE_ENDPOINT_DISABLED, Replayed
from contentsvc_core.usecases.replay_many import BulkReplayer, ReplayDeliveries, ReplayedBatch
from contentsvc_core.usecases.webhook_endpoints import NewSecret

URL = "https://acme.example/hook"


@frozen(kw_only=True)
class Office:
    world: World
    receiver: Receiver
    dispatcher: Dispatcher
    editor: EndpointEditor
    replayer: Replayer
    endpoint: WebhookEndpoint
    secret: str

    @property
    def owner(self) -> str:
        return self.world.organization.id

    async def asked_for(self) -> str:
        """Create a test message; return its id."""
        message_id = await self.editor.test(self.owner, self.endpoint.id)
        assert isinstance(message_id, str)
        return message_id

    async def turn(self, *answers: Answer | NotSent) -> list[AttemptResult]:
        self.receiver.answers += answers
        return [await self.dispatcher.send(taken) for taken in await self.dispatcher.take(PLACES)]

    async def log(self) -> list[LogEntry]:
        return list(await self.world.stores.journal.entries(self.owner))

    async def standing(self) -> WebhookEndpoint:
        return existing(await self.world.stores.endpoints.endpoint(self.owner, self.endpoint.id))


@pytest.fixture
async def office(world: World) -> Office:
    stores, clock, ids = world.stores, world.clock, world.ids
    receiver = Receiver()
    editor = editor_of(stores, clock, ids)
    made = accepted(await editor.create(world.organization.id, CreateEndpoint(url=URL)))
    return Office(
        world=world,
        receiver=receiver,
        dispatcher=Dispatcher(stores.outbox, stores.recipients, receiver, clock, ids),
        editor=editor,
        replayer=Replayer(
            stores.deliveries, stores.journal, stores.contexts, stores.endpoints, stores.outbox, clock, ids
        ),
        endpoint=made.endpoint,
        secret=made.secret,
    )


async def test_an_outcome_is_stored_after_an_outage_and_the_message_is_not_repeated(office: Office) -> None:
    stores, clock, ids = office.world.stores, office.world.clock, office.world.ids
    await office.asked_for()
    tries: list[bool] = []

    async def fails() -> None:
        raise StoreUnavailable

    async def pause() -> None:
        tries.append(True)

    outbox: Any = Between(stores.outbox, "record", fails, times=3)
    waiting = Dispatcher(outbox, stores.recipients, office.receiver, clock, ids, pause=pause)
    (taken,) = await waiting.take(PLACES)

    assert await waiting.send(taken) is AttemptResult.DELIVERED

    assert (len(tries), len(office.receiver.came)) == (3, 1)
    clock.advance(timedelta(days=1))
    assert await office.turn() == []


async def test_a_message_whose_sending_has_a_fault_is_retried_like_a_refused_one_until_it_fails(office: Office) -> None:
    stores, clock, ids = office.world.stores, office.world.clock, office.world.ids
    await office.asked_for()

    async def fails() -> None:
        raise ZeroDivisionError

    sender: Any = Between(office.receiver, "send", fails, times=MAX_ATTEMPTS)
    faulty = Dispatcher(stores.outbox, stores.recipients, sender, clock, ids)
    for number in range(MAX_ATTEMPTS):
        (taken,) = await faulty.take(PLACES)
        with pytest.raises(ZeroDivisionError):
            await faulty.send(taken)
        (entry,) = await office.log()
        reason = entry.error_message or entry.reason or ""
        assert "the server's log has the fault" in reason
        assert f"attempt {number + 1} of 8" in (entry.reason or "")
        assert entry.status.value == ("pending" if number + 1 < MAX_ATTEMPTS else "failed")
        clock.advance(timedelta(hours=12))

    assert await office.turn() == []
    # The fault is the service's, not the endpoint's.
    assert (await office.standing()).failures == 0


async def test_a_message_is_signed_sent_and_logged(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    message_id = await office.asked_for()

    assert await office.turn(Answer(status=200, excerpt="thank you")) == [AttemptResult.DELIVERED]

    ((url, headers, body),) = office.receiver.came
    assert url == URL
    assert headers["webhook-id"] == message_id
    now = office.world.clock.now()
    assert headers["webhook-timestamp"] == str(to_ms(now) // 1000)
    assert headers["webhook-signature"] == Webhook(office.secret).sign(message_id, now, body.decode())
    (entry,) = await office.log()
    assert (entry.title, entry.status.value, entry.status_code) == ("Outgoing endpoint.test message", "success", 200)
    assert (entry.reference_id, entry.integration_id, entry.direction.value) == (
        message_id,
        office.endpoint.id,
        "outgoing",
    )
    assert (entry.error_message, entry.reason) == (None, "attempt 1 of 8")
    assert entry.payload == {
        "type": "endpoint.test",
        "timestamp": iso_ms(now),
        "data": {"message": "This is a test: nothing has happened."},
    }
    message = existing(await office.world.stores.outbox.message(office.owner, message_id))
    assert message.status is MessageStatus.DELIVERED
    assert await office.turn() == []


async def test_a_failed_message_is_retried_with_the_same_id_and_body(office: Office) -> None:
    await office.asked_for()

    assert await office.turn(Answer(status=500, excerpt="out of order")) == [AttemptResult.RETRY]
    (entry,) = await office.log()
    # Only failed entries have an error message (specification 2.3).
    assert (entry.status.value, entry.status_code, entry.error_message) == ("pending", 500, None)
    assert entry.id.startswith("log_")
    assert entry.reason is not None
    assert entry.reason.startswith(
        "the endpoint answered with status 500; attempt 1 of 8; it said: out of order; "
        "tried again at 2026-01-01T00:00:05."
    )
    assert (await office.standing()).failures == 1
    # Not before it is due.
    office.world.clock.advance(timedelta(seconds=4))
    assert await office.turn() == []
    office.world.clock.advance(timedelta(seconds=2))
    assert await office.turn(NotSent(error="the endpoint cannot be reached")) == [AttemptResult.RETRY]
    (entry,) = await office.log()
    assert (entry.status.value, entry.status_code) == ("pending", None)
    assert (entry.error_message, (entry.reason or "")[:46]) == (None, "the endpoint cannot be reached; attempt 2 of 8")
    office.world.clock.advance(timedelta(minutes=6))
    assert await office.turn() == [AttemptResult.DELIVERED]

    (entry,) = await office.log()
    assert (entry.status.value, entry.error_message, entry.reason) == ("success", None, "attempt 3 of 8")
    assert len({headers["webhook-id"] for _, headers, _ in office.receiver.came}) == 1
    assert len({body for _, _, body in office.receiver.came}) == 1
    assert len({headers["webhook-timestamp"] for _, headers, _ in office.receiver.came}) == 3
    assert (await office.standing()).failures == 0


async def test_after_the_last_attempt_it_has_failed_more_than_a_day_later(office: Office) -> None:
    await office.asked_for()
    began = office.world.clock.now()
    attempts = 0
    while await office.turn(Answer(status=500)) or attempts == 0:
        attempts += 1
        (entry,) = await office.log()
        if entry.status.value == "failed":
            break
        office.world.clock.advance(timedelta(hours=12, minutes=1))

    assert attempts == MAX_ATTEMPTS
    (entry,) = await office.log()
    assert (entry.status_code, entry.reason) == (500, "attempt 8 of 8")
    assert entry.error_message == "the endpoint answered with status 500"
    assert office.world.clock.now() - began > timedelta(hours=24)
    office.world.clock.advance(timedelta(days=9))
    assert await office.turn() == []


async def test_without_a_readable_secret_nothing_is_sent_and_the_log_has_the_reason(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.asked_for()

    def closed(_self: object, sealed: str) -> str:
        raise SecretUnreadable(sealed)

    monkeypatch.setattr("contentsvc_adapters.sealing.FernetSealer.open", closed)

    assert await office.turn() == [AttemptResult.RETRY]
    assert office.receiver.came == []
    (entry,) = await office.log()
    assert "secret cannot be opened" in (entry.reason or "")


async def test_a_returned_message_is_sent_at_once_as_its_first_attempt(office: Office) -> None:
    await office.asked_for()
    (taken,) = await office.dispatcher.take(PLACES)
    # A leased message is not leased again.
    assert await office.dispatcher.take(PLACES) == ()
    await office.dispatcher.requeue(taken)
    # An excluded endpoint gets no message.
    without = [office.endpoint.id]
    assert await office.dispatcher.take(evolve(PLACES, without=without)) == ()

    assert await office.turn() == [AttemptResult.DELIVERED]
    (entry,) = await office.log()
    assert entry.reason == "attempt 1 of 8"


async def test_a_bulk_replay_sends_a_failed_message_once_for_a_request(office: Office) -> None:
    message_id, clock = await office.asked_for(), office.world.clock
    for answer in range(MAX_ATTEMPTS):
        await office.turn(Answer(status=500 + answer))
        clock.advance(timedelta(days=1))
    (failed,) = await office.log()
    bulk = BulkReplayer(office.replayer, office.world.stores.read_model, clock)
    command = ReplayDeliveries(request_id="r-1", statuses=(LogStatus.FAILED,))

    assert await bulk.replay(office.owner, command) == ReplayedBatch(replayed=(failed.id,))
    assert await bulk.replay(office.owner, command) == ReplayedBatch(repeated=(failed.id,))
    assert await office.turn() == [AttemptResult.DELIVERED]
    assert await bulk.replay(office.owner, command) == ReplayedBatch(repeated=(failed.id,))
    assert await office.turn() == []
    delivered = ReplayDeliveries(request_id="r-2", statuses=(LogStatus.SUCCESS,))
    assert await bulk.replay(office.owner, delivered) == ReplayedBatch()
    # On a user's request, each log entry of a message sends it again.
    assert await office.replayer.replay(office.owner, failed.id) == Replayed(delivery_id=message_id, runs=0)


async def test_a_refused_replay_has_its_reason(office: Office) -> None:
    await office.asked_for()
    await office.turn()
    (entry,) = await office.log()
    replay = office.replayer.replay

    assert await replay("org_other", entry.id) is UNKNOWN_LOG
    await office.editor.change(office.owner, office.endpoint.id, ChangeEndpoint(enabled=False))
    assert await replay(office.owner, entry.id) is MESSAGE_ENDPOINT_DISABLED
    await office.editor.change(office.owner, office.endpoint.id, ChangeEndpoint(enabled=True))
    lost = evolve(entry, id="log_lost", reference_id="msg_lost")
    await office.world.stores.journal.append(lost)
    assert await replay(office.owner, lost.id) is ENDPOINT_GONE
    assert await office.editor.remove(office.owner, office.endpoint.id)
    assert await replay(office.owner, entry.id) is ENDPOINT_GONE


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"url": "http://acme.example/"}, "url must begin with https://"),
        ({"url": "https://10.0.0.1/"}, "url must be the address of a public site"),
        ({"description": "x" * 201}, "description must have at most 200 characters"),
        ({"description": "a\nb"}, "description must be one line"),
    ],
)
async def test_an_endpoint_that_cannot_be_is_refused_with_the_fault_s_name(
    office: Office, changes: dict[str, Any], reason: str
) -> None:
    fields: dict[str, Any] = {"url": URL, **changes}
    made = await office.editor.create(office.owner, CreateEndpoint(**fields))
    changed = await office.editor.change(office.owner, office.endpoint.id, ChangeEndpoint(**changes))

    for refused in (made, changed):
        assert isinstance(refused, Refusal)
        assert reason in refused.message()
    assert await office.standing() == office.endpoint


@pytest.mark.parametrize("endpoint_id", ["whe_unknown", "no id at all", ""])
async def test_an_unknown_endpoint_is_refused(office: Office, endpoint_id: str) -> None:
    editor = office.editor

    assert await editor.change(office.owner, endpoint_id, ChangeEndpoint(enabled=False)) is UNKNOWN_ENDPOINT
    assert await editor.rotate(office.owner, endpoint_id) is UNKNOWN_ENDPOINT
    assert await editor.test(office.owner, endpoint_id) is UNKNOWN_ENDPOINT
    assert not await editor.remove(office.owner, endpoint_id)
    # Nor is another one's.
    assert await editor.test("org_other", office.endpoint.id) is UNKNOWN_ENDPOINT


async def test_an_endpoint_at_another_address_begins_anew_and_another_description_forgives_nothing(
    office: Office,
) -> None:
    await office.asked_for()
    assert await office.turn(Answer(status=500)) == [AttemptResult.RETRY]
    assert (await office.standing()).failures == 1

    described = await office.editor.change(office.owner, office.endpoint.id, ChangeEndpoint(description="the lamp's"))
    assert isinstance(described, WebhookEndpoint)
    assert (described.failures, described.description) == (1, "the lamp's")
    moved = await office.editor.change(office.owner, office.endpoint.id, ChangeEndpoint(url=f"{URL}/elsewhere"))
    assert isinstance(moved, WebhookEndpoint)
    assert (moved.failures, moved.description) == (0, "the lamp's")


async def test_an_endpoint_may_be_made_switched_off(office: Office) -> None:
    made = accepted(await office.editor.create(office.owner, CreateEndpoint(url=URL, enabled=False)))

    assert not made.endpoint.enabled
    assert await office.editor.test(office.owner, made.endpoint.id) is ENDPOINT_DISABLED


@pytest.mark.parametrize(
    ("overlap", "taken"),
    [
        (timedelta(milliseconds=-1), False),
        (timedelta(), True),
        (MAX_OVERLAP, True),
        (MAX_OVERLAP + timedelta(milliseconds=1), False),
    ],
)
async def test_secrets_overlap_for_a_bounded_time(office: Office, overlap: timedelta, taken: bool) -> None:
    rotated = await office.editor.rotate(office.owner, office.endpoint.id, overlap=overlap)

    assert isinstance(rotated, NewSecret if taken else Refusal)
    if isinstance(rotated, NewSecret):
        assert rotated.endpoint.previous_secret_until == office.world.clock.now() + overlap
    else:
        assert rotated.message() == "overlap must be 0 to 720 hours"
