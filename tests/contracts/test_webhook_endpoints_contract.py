"""``WebhookEndpoints``: by organization, with sealed secrets, and removed together with their messages."""

import asyncio
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import IDS, Stores, Tenant, later, tenant

from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogStatus
from contentsvc_core.outgoing.endpoints import MAX_ENDPOINTS, TOO_MANY_ENDPOINTS, WebhookEndpoint
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.messages import Attempted, LeasedMessage, MessageStatus, begun_log, message_for_test
from contentsvc_core.outgoing.signing import secret_of
from contentsvc_core.testing import START

pytestmark = pytest.mark.usefixtures("shared_clock")
SECRET = secret_of("a" * 32)


def an_endpoint(organization_id: str, **changes: object) -> WebhookEndpoint:
    made = WebhookEndpoint(
        id=IDS.new_id("whe_"), organization_id=organization_id, url="https://acme.example/hook", created_at=START
    )
    return evolve(made, **changes)


async def added(acme: Tenant, **changes: object) -> WebhookEndpoint:
    endpoint = an_endpoint(acme.id, **changes)
    assert await acme.stores.endpoints.add(endpoint, SECRET) == endpoint
    return endpoint


async def sent(acme: Tenant, endpoint: WebhookEndpoint) -> LeasedMessage:
    """Create and lease a test message of an endpoint."""
    message = message_for_test(endpoint.id, acme.id, IDS.new_id("msg_"), START)
    await acme.stores.outbox.add(message)
    (taken,) = await acme.stores.outbox.take([message.id], now=START, lease=timedelta(minutes=1))
    return taken


async def test_an_endpoint_reads_back_as_it_was_and_only_where_it_belongs(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    types = (EventType.POST_CREATED, EventType.RUN_FAILED)
    second = await added(
        acme, created_at=later(seconds=1), event_types=types[::-1], description="öffnen", enabled=False
    )
    first = await added(acme, url="https://acme.example/other?a=b")

    assert await stores.endpoints.endpoints(acme.id) == [first, second]
    assert second.event_types == types
    assert await stores.endpoints.endpoint(acme.id, second.id) == second
    assert await stores.endpoints.endpoint(zenith.id, second.id) is None
    assert await stores.endpoints.endpoints(zenith.id) == []
    assert await stores.directory.owner_of(first.id) == acme.id


async def test_an_existing_endpoint_is_left_unchanged(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    endpoint = await added(acme)
    add = acme.stores.endpoints.add

    assert await add(evolve(endpoint, url="https://elsewhere.example"), secret_of("b" * 32)) == endpoint
    assert (await sent(acme, endpoint)).secrets == (SECRET,)
    with pytest.raises(Unstorable):
        await add(evolve(endpoint, organization_id=zenith.id), SECRET)
    with pytest.raises(Unstorable):
        await add(an_endpoint("org_unknown"), SECRET)
    with pytest.raises(Unstorable):
        await add(an_endpoint(acme.id, description="\ud800"), SECRET)


async def test_concurrent_additions_do_not_exceed_the_limit_of_endpoints(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    made = [an_endpoint(acme.id) for _ in range(MAX_ENDPOINTS + 3)]

    ends = await asyncio.gather(*(acme.stores.endpoints.add(each, SECRET) for each in made))

    assert ends.count(TOO_MANY_ENDPOINTS) == 3
    assert len(await acme.stores.endpoints.endpoints(acme.id)) == MAX_ENDPOINTS
    assert isinstance(await acme.stores.endpoints.add(an_endpoint(zenith.id), SECRET), WebhookEndpoint)


async def test_a_change_applies_to_the_stored_endpoint_and_keeps_its_secret(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    endpoint = await added(acme)
    change = acme.stores.endpoints.change

    def off(standing: WebhookEndpoint) -> WebhookEndpoint:
        return evolve(standing, enabled=False, disabled_reason="enough", failures=3, event_types=[EventType.RUN_FAILED])

    def on(standing: WebhookEndpoint) -> WebhookEndpoint:
        return evolve(standing, enabled=True)

    assert await change(zenith.id, endpoint.id, off) is None
    assert await change(acme.id, "whe_unknown", off) is None
    assert await change(acme.id, endpoint.id, off) == off(endpoint)
    assert await change(acme.id, endpoint.id, on) == on(off(endpoint))
    assert await acme.stores.endpoints.endpoint(acme.id, endpoint.id) == on(off(endpoint))
    assert (await sent(acme, endpoint)).secrets == (SECRET,)


async def test_both_secrets_sign_during_the_overlap_and_the_newest_comes_first(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    endpoint = await added(acme)
    second, third = secret_of("b" * 32), secret_of("c" * 32)
    rotate = stores.endpoints.rotate

    assert await rotate(zenith.id, endpoint.id, second, overlap_until=later(hours=1)) is None
    for _ in range(2):
        rotated = await rotate(acme.id, endpoint.id, second, overlap_until=later(hours=1))
        assert rotated == evolve(endpoint, previous_secret_until=later(hours=1))
    taken = await sent(acme, endpoint)
    assert taken.secrets == (second, SECRET)
    await stores.outbox.requeue(taken, due_at=START)

    async def secrets(**by: int) -> tuple[str, ...]:
        (again,) = await stores.outbox.take([taken.message.id], now=later(**by), lease=timedelta())
        return again.secrets

    assert await secrets(milliseconds=3_599_999) == (second, SECRET)
    # Not at this time any more.
    assert await secrets(hours=1) == (second,)
    # The secret before the previous one ends with the next rotation.
    await rotate(acme.id, endpoint.id, third, overlap_until=later(hours=3))
    assert await secrets(hours=2) == (third, second)


async def test_previous_secrets_are_swept_when_they_sign_nothing_any_more(acme: Tenant) -> None:
    stores = acme.stores
    endpoint, other = await added(acme), await added(acme)
    for each, hours in ((endpoint, 1), (other, 2)):
        await stores.endpoints.rotate(acme.id, each.id, secret_of("b" * 32), overlap_until=later(hours=hours))

    assert await stores.endpoints.sweep_secrets(later(minutes=59)) == 0
    assert await stores.endpoints.sweep_secrets(later(hours=1)) == 1
    assert await stores.endpoints.sweep_secrets(later(hours=1)) == 0
    assert await stores.endpoints.endpoint(acme.id, endpoint.id) == endpoint
    found = await stores.endpoints.endpoint(acme.id, other.id)
    assert found == evolve(other, previous_secret_until=later(hours=2))
    # The new secret stays.
    assert (await sent(acme, endpoint)).secrets == (secret_of("b" * 32),)


async def test_a_secret_that_cannot_be_opened_keeps_no_message_from_being_taken(acme: Tenant, stores: Stores) -> None:
    endpoint = await added(acme)
    # A value that was never sealed cannot be opened.
    await stores.endpoints.rotate(acme.id, endpoint.id, "", overlap_until=later(hours=1))

    assert (await sent(acme, endpoint)).secrets == ("", SECRET)


async def test_removing_an_endpoint_deletes_its_messages_and_keeps_the_log(acme: Tenant) -> None:
    stores, zenith = acme.stores, await tenant(acme.stores, "zenith")
    endpoint, other = await added(acme), await added(acme)
    unsent, tried, done = [await sent(acme, endpoint) for _ in range(3)]
    kept = await sent(acme, other)
    for taken, status, log_status in (
        (tried, MessageStatus.PENDING, LogStatus.PENDING),
        (done, MessageStatus.DELIVERED, LogStatus.SUCCESS),
    ):
        log = evolve(begun_log(taken, log_id=IDS.new_id("log_"), at=START), status=log_status)
        ended = Attempted(at=START, taken=taken, status=status, due_at=later(hours=1), log=log, succeeded=False)
        await stores.outbox.record(ended)

    assert not await stores.endpoints.remove(zenith.id, endpoint.id)
    assert await stores.endpoints.remove(acme.id, endpoint.id)
    assert not await stores.endpoints.remove(acme.id, endpoint.id)

    assert await stores.endpoints.endpoints(acme.id) == [other]
    for gone in (unsent, tried, done):
        assert await stores.outbox.message(acme.id, gone.message.id) is None
    assert await stores.outbox.message(acme.id, kept.message.id) is not None
    ends = {entry.reference_id: (entry.status, entry.error_message) for entry in await stores.journal.entries(acme.id)}
    assert ends == {
        tried.message.id: (LogStatus.FAILED, "the endpoint was deleted"),
        done.message.id: (LogStatus.SUCCESS, None),
    }
    # The outcome of an attempt in flight is not written.
    log = begun_log(unsent, log_id=IDS.new_id("log_"), at=START)
    await stores.outbox.record(
        Attempted(at=START, taken=unsent, status=MessageStatus.DELIVERED, due_at=START, log=log, succeeded=True)
    )
    assert len(await stores.journal.entries(acme.id)) == 2
