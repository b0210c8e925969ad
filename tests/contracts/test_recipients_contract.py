"""``Recipients``: addresses that are asked, confirm and leave; and the addressees of a message."""

from datetime import datetime, timedelta
from typing import Final

import pytest
from contract_values import IDS, SHARED_CLOCK, RotatingSealer, Stores, Tenant, later, tenant
from sqlalchemy import update
from test_webhook_endpoints_contract import added
from tests.refusals import existing

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.outgoing import recipients
from contentsvc_core.access.sessions import token_digest
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import Message, message_for_confirmation, message_for_test
from contentsvc_core.outgoing.recipients import Addressee, Recipient, RecipientStatus
from contentsvc_core.outgoing.subscribers import CONFIRM_WITHIN
from contentsvc_core.testing import START
from contentsvc_core.usecases.authenticate import mint

pytestmark = pytest.mark.usefixtures("shared_clock")
_LEASE: Final = timedelta(minutes=1)
_ANN, _BOB, _CAT = "ann@acme.example", "bob@acme.example", "cat@acme.example"


async def endpoint_of(acme: Tenant, *addresses: str) -> WebhookEndpoint:
    endpoint = WebhookEndpoint(
        id=IDS.new_id("whe_"),
        organization_id=acme.id,
        url=f"mailto:{','.join(addresses)}",
        format=EndpointFormat.EMAIL,
        created_at=START,
    )
    assert await acme.stores.endpoints.add(endpoint, "whsec_x") == endpoint
    return endpoint


async def asked(acme: Tenant, endpoint: WebhookEndpoint, address: str, *, at: datetime = START) -> tuple[str, Message]:
    """Store an asked address; return its token and the message."""
    token, digest = mint(IDS)
    message = message_for_confirmation(
        endpoint.id, acme.id, IDS.new_id("msg_"), address=address, organization="Acme", at=at
    )
    recipient = Recipient(organization_id=acme.id, address=address, digest=digest, asked_at=at)
    await acme.stores.recipients.ask(recipient, token, message)
    return token, message


def digest_of(token: str) -> str:
    return existing(token_digest(token))


async def confirmed(acme: Tenant, endpoint: WebhookEndpoint, address: str) -> str:
    """Confirm an address; return its new token."""
    token, _ = await asked(acme, endpoint, address)
    new, digest = mint(IDS)
    existing(
        await acme.stores.recipients.confirm(digest_of(token), at=later(minutes=1), new_digest=digest, new_token=new)
    )
    return new


async def addressees(acme: Tenant, endpoint: WebhookEndpoint) -> list[Addressee]:
    """Return the addressees of a test message of an endpoint."""
    message = message_for_test(endpoint.id, acme.id, IDS.new_id("msg_"), later(minutes=3))
    await acme.stores.outbox.add(message)
    (taken,) = await acme.stores.outbox.take([message.id], now=later(minutes=3), lease=_LEASE)
    return list(taken.addressees)


async def test_the_lease_of_a_message_by_mail_has_its_own_end(acme: Tenant) -> None:
    outbox = acme.stores.outbox
    mail = message_for_test((await endpoint_of(acme, _ANN)).id, acme.id, IDS.new_id("msg_"), START)
    request = message_for_test((await added(acme)).id, acme.id, IDS.new_id("msg_"), START)
    for message in (mail, request):
        await outbox.add(message)

    taken = await outbox.take([mail.id, request.id], now=START, lease=_LEASE, mail_lease=5 * _LEASE)

    assert [each.message.due_at for each in taken] == [later(minutes=5), later(minutes=1)]
    SHARED_CLOCK.at = later(minutes=4)
    again = await outbox.take([mail.id, request.id], now=later(minutes=4), lease=_LEASE)
    assert [each.message.id for each in again] == [request.id]


async def test_an_address_is_stored_with_the_message_that_asks_it(acme: Tenant) -> None:
    endpoint = await endpoint_of(acme, _ANN)
    first, message = await asked(acme, endpoint, _ANN)
    second, newer = await asked(acme, endpoint, _ANN, at=later(hours=1))

    (recipient,) = await acme.stores.recipients.recipients(acme.id)
    assert recipient == Recipient(
        organization_id=acme.id, address=_ANN, digest=digest_of(second), asked_at=later(hours=1)
    )
    assert await acme.stores.outbox.message(acme.id, message.id) == message
    assert await acme.stores.outbox.message(acme.id, newer.id) == newer
    # Only the link of the newer mail works.
    new, digest = mint(IDS)
    confirm = acme.stores.recipients.confirm
    assert await confirm(digest_of(first), at=later(hours=1), new_digest=digest, new_token=new) is None
    assert await confirm(digest_of(second), at=later(hours=1), new_digest=digest, new_token=new) is not None


async def test_a_link_confirms_once_and_within_a_day(acme: Tenant) -> None:
    endpoint = await endpoint_of(acme, _ANN)
    token, _ = await asked(acme, endpoint, _ANN)
    recipients, (new, digest) = acme.stores.recipients, mint(IDS)

    late = await recipients.confirm(digest_of(token), at=START + CONFIRM_WITHIN, new_digest=digest, new_token=new)
    assert late is None
    in_time = later(hours=23)
    found = await recipients.confirm(digest_of(token), at=in_time, new_digest=digest, new_token=new)
    assert found == Recipient(
        organization_id=acme.id,
        address=_ANN,
        status=RecipientStatus.CONFIRMED,
        digest=digest,
        asked_at=START,
        confirmed_at=in_time,
    )
    other, other_digest = mint(IDS)
    assert await recipients.confirm(digest_of(token), at=in_time, new_digest=other_digest, new_token=other) is None
    assert await recipients.recipients(acme.id) == [found]
    # A confirmed address is not asked, and its message is not written.
    _, message = await asked(acme, endpoint, _ANN, at=later(days=2))
    assert await recipients.recipients(acme.id) == [found]
    assert await acme.stores.outbox.message(acme.id, message.id) is None


async def test_a_removed_address_stays_removed_until_its_owner_returns(acme: Tenant) -> None:
    endpoint = await endpoint_of(acme, _ANN, _BOB)
    token = await confirmed(acme, endpoint, _ANN)
    waiting, _ = await asked(acme, endpoint, _BOB)
    recipients = acme.stores.recipients

    for each in (token, waiting):
        left = existing(await recipients.leave(digest_of(each)))
        assert (left.status, left.confirmed_at) == (RecipientStatus.REMOVED, None)
    assert await recipients.leave("0" * 64) is None
    _, message = await asked(acme, endpoint, _ANN, at=later(days=2))
    assert await acme.stores.outbox.message(acme.id, message.id) is None
    assert await recipients.forget(acme.id, used=()) == 0
    assert await recipients.sweep(before=later(days=9), limit=9) == 0
    new, digest = mint(IDS)
    back = existing(await recipients.confirm(digest_of(token), at=later(days=9), new_digest=digest, new_token=new))
    # Links in earlier mails still work.
    assert (back.status, back.digest) == (RecipientStatus.CONFIRMED, digest_of(token))
    assert await recipients.leave(digest_of(token)) is not None


async def test_a_message_by_mail_comes_with_the_recipients_of_its_target(acme: Tenant, stores: Stores) -> None:
    endpoint = await endpoint_of(acme, _CAT, _ANN, _BOB)
    token = await confirmed(acme, endpoint, _ANN)
    asking, _ = await asked(acme, endpoint, _CAT)
    await confirmed(acme, endpoint, "someone@else.example")
    other = await tenant(stores, slug="other")
    await confirmed(other, await endpoint_of(other, _BOB), _BOB)

    found = await addressees(acme, endpoint)

    assert [(each.recipient.address, each.recipient.status, each.token) for each in found] == [
        (_CAT, RecipientStatus.UNCONFIRMED, asking),
        (_ANN, RecipientStatus.CONFIRMED, token),
    ]


async def test_an_unreadable_recipient_holds_up_no_messages_of_others(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    endpoint = await endpoint_of(acme, _ANN, _BOB)
    _, torn = await asked(acme, endpoint, _ANN)
    other = await endpoint_of(acme, _CAT)
    _, whole = await asked(acme, other, _CAT)
    of_newer_version = update(recipients).where(recipients.c.address == _ANN).values(status="of a newer version")
    await database.change(of_newer_version)

    taken = await acme.stores.outbox.take([torn.id, whole.id], now=START, lease=_LEASE)

    assert [each.message.id for each in taken] == [whole.id]


async def test_a_token_is_given_once(acme: Tenant) -> None:
    endpoint = await endpoint_of(acme, _ANN)
    await confirmed(acme, endpoint, _ANN)
    recipients = acme.stores.recipients
    (before,) = await recipients.recipients(acme.id)
    first, digest = mint(IDS)
    second, later_digest = mint(IDS)

    assert await recipients.give_token(before, digest=digest, token=first) == first
    # Another process has read the recipient before.
    assert await recipients.give_token(before, digest=later_digest, token=second) == first
    (addressee,) = await addressees(acme, endpoint)
    assert (addressee.recipient.digest, addressee.token) == (digest, first)
    assert await recipients.forget(acme.id, used=()) == 1
    assert await recipients.give_token(before, digest=digest, token=first) is None


async def test_unused_and_unanswered_addresses_are_forgotten(acme: Tenant, stores: Stores) -> None:
    endpoint = await endpoint_of(acme, _ANN, _BOB)
    other = await tenant(stores, slug="other")
    await confirmed(other, await endpoint_of(other, _ANN), _ANN)
    await confirmed(acme, endpoint, _ANN)
    await confirmed(acme, endpoint, _BOB)
    for number in range(3):
        await asked(acme, endpoint, f"u{number}@acme.example", at=later(minutes=number))
    recipients = acme.stores.recipients

    assert await recipients.forget(acme.id, used=[_BOB]) == 1
    assert await recipients.sweep(before=later(minutes=2), limit=1) == 1
    assert await recipients.sweep(before=later(minutes=2), limit=9) == 1
    assert [each.address for each in await recipients.recipients(acme.id)] == [_BOB, "u2@acme.example"]
    assert [each.address for each in await recipients.recipients(other.id)] == [_ANN]
