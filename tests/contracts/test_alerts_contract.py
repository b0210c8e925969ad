"""``Alerts``, and the messages to chats and mailboxes in the outbox."""

import asyncio

import pytest
from attrs import evolve
from contract_values import Tenant, a_post, later, tenant
from test_outbox_contract import due, ended, taken_at, waiting
from test_webhook_endpoints_contract import added

from contentsvc_core.outgoing.events import EventType, Occurrence, endpoint_disabled, state_changed
from contentsvc_core.outgoing.failing import IntegrationAlert
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.testing import START

pytestmark = pytest.mark.usefixtures("shared_clock")


def an_event(acme: Tenant, kind: EventType = EventType.INTEGRATION_FAILING, **by: int) -> Occurrence:
    return state_changed(kind, acme.id, acme.integration.id, {"cause": "no signature"}, later(**by))


async def stored_alerts(acme: Tenant) -> list[tuple[str, str]]:
    """Return the due messages, by type and endpoint."""
    found = await taken_at(acme.stores, later(days=1))
    return sorted((each.message.type, each.message.endpoint_id) for each in found)


@pytest.mark.parametrize("format_", EndpointFormat)
async def test_the_format_of_an_endpoint_is_kept_and_leased_with_its_messages(
    acme: Tenant, format_: EndpointFormat
) -> None:
    endpoint = await added(acme, format=format_, description="The chat")
    await waiting(endpoint, acme.stores)

    assert await acme.stores.endpoints.endpoint(acme.id, endpoint.id) == endpoint
    (taken,) = await taken_at(acme.stores, START)
    assert (taken.format, taken.description) == (format_, "The chat")


async def test_a_failure_period_begins_and_ends_once_with_its_events(acme: Tenant) -> None:
    alerts, integration = acme.stores.alerts, acme.integration.id
    endpoint = await added(acme)
    await added(acme, event_types=[EventType.RUN_FAILED])
    recovered = an_event(acme, EventType.INTEGRATION_RECOVERED, hours=1)

    assert await alerts.alerts(acme.id) == {}
    assert not await alerts.end(integration, recovered, at=later(hours=1))
    begun = await asyncio.gather(*(alerts.begin(integration, an_event(acme), at=START) for _ in range(3)))
    assert sorted(begun) == [False, False, True]
    assert await alerts.alerts(acme.id) == {integration: IntegrationAlert(failing_since=START)}
    assert await stored_alerts(acme) == [("integration.failing", endpoint.id)]

    ends = await asyncio.gather(*(alerts.end(integration, recovered, at=later(hours=1)) for _ in range(3)))
    assert sorted(ends) == [False, False, True]
    period = IntegrationAlert(failing_since=START, recovered_at=later(hours=1))
    assert await alerts.alerts(acme.id) == {integration: period}
    assert await stored_alerts(acme) == [("integration.recovered", endpoint.id)]

    assert await alerts.begin(integration, an_event(acme, hours=2), at=later(hours=2))
    assert await alerts.alerts(acme.id) == {integration: IntegrationAlert(failing_since=later(hours=2))}


async def test_alerts_belong_to_an_integration_and_go_with_it(acme: Tenant) -> None:
    alerts, zenith = acme.stores.alerts, await tenant(acme.stores, "zenith")

    assert not await alerts.begin("int_unknown", an_event(acme), at=START)
    assert await alerts.begin(acme.integration.id, an_event(acme), at=START)
    assert await alerts.alerts(zenith.id) == {}
    assert await acme.stores.directory.remove_integration(acme.id, acme.integration.id) is not None
    assert await alerts.alerts(acme.id) == {}
    assert not await alerts.begin(acme.integration.id, an_event(acme), at=START)


async def test_only_organizations_that_want_alerts_are_watched(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    await added(acme, enabled=False)
    await added(acme, event_types=[EventType.POST_PUBLISHED])
    assert await acme.stores.alerts.watched() == []

    await added(acme, event_types=[EventType.INTEGRATION_RECOVERED])
    await added(zenith, format=EndpointFormat.SLACK)
    assert await acme.stores.alerts.watched() == sorted([acme.id, zenith.id])


async def test_a_chat_without_chosen_types_gets_no_event_that_another_one_reports(acme: Tenant) -> None:
    program = await added(acme)
    chat = await added(acme, format=EndpointFormat.SLACK)
    mail = await added(acme, format=EndpointFormat.EMAIL, event_types=[EventType.POST_CREATED])
    await acme.stores.ledger.complete(await acme.taken(), a_post(acme.id), once=None)

    assert await stored_alerts(acme) == sorted(
        [
            ("draft.waiting", program.id),
            ("draft.waiting", chat.id),
            ("post.created", program.id),
            ("post.created", mail.id),
        ]
    )


async def test_the_other_endpoints_learn_once_of_one_that_was_disabled(acme: Tenant) -> None:
    stores, endpoint, other = acme.stores, await added(acme), await added(acme, format=EndpointFormat.EMAIL)
    for _ in range(2):
        await waiting(endpoint, stores)
    first, second = await taken_at(stores, START)

    for taken, hour in ((first, 1), (second, 2)):
        event = endpoint_disabled(
            organization_id=acme.id,
            endpoint_id=endpoint.id,
            description="",
            target="acme.example",
            reason="it answered 410 Gone",
            at=later(hours=hour),
        )
        failed = ended(taken, MessageStatus.FAILED)
        await stores.outbox.record(evolve(failed, disables="it answered 410 Gone", event=event))

    assert await stored_alerts(acme) == [("endpoint.disabled", other.id)]


async def test_due_messages_wait_for_a_busy_endpoint_and_messages_in_flight_do_not(acme: Tenant) -> None:
    stores, endpoint, other = acme.stores, await added(acme), await added(acme)
    await waiting(endpoint, stores)
    (taken,) = await taken_at(stores, START)
    held = await waiting(endpoint, stores)
    (sending,) = await taken_at(stores, START)
    behind, elsewhere = await waiting(endpoint, stores), await waiting(other, stores)

    busy = evolve(ended(taken, MessageStatus.PENDING), due_at=later(minutes=5), busy_until=later(minutes=5))
    await stores.outbox.record(busy)

    assert await due(stores, later(seconds=30)) == [elsewhere.id]
    await stores.outbox.record(ended(sending))
    assert sorted(await due(stores, later(minutes=5))) == sorted([taken.message.id, behind.id, elsewhere.id])
    assert sending.message.id == held.id
