"""E-mail addresses of endpoints over a real mail server: asked, confirmed, removed."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
from tests.builders import a_post
from tests.endpoints import PLACES
from tests.mail_server import MailServer
from tests.refusals import accepted
from tests.usecases.test_notifications import Office, token_of

from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.journal import LogStatus
from contentsvc_core.outgoing.endpoints import NO_ADDRESSES, NONE_CONFIRMED, ChangeEndpoint, WebhookEndpoint
from contentsvc_core.outgoing.events import post_published
from contentsvc_core.outgoing.messages import message_for
from contentsvc_core.outgoing.recipients import RecipientStatus
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START, CountingIds
from contentsvc_core.usecases.consents import (
    IS_CONFIRMED,
    TOO_MANY,
    TOO_SOON,
    WAS_REMOVED,
    ConfirmationRequests,
    confirmations_body,
)
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.replay import NO_CONFIRMATION, Replayer

_OPS, _DEV = "ops@acme.example", "dev@acme.example"


async def statuses(office: Office, endpoint: WebhookEndpoint) -> list[str]:
    return [each.status.value for each in (await office.consents.body(endpoint)).recipients]


async def asked(office: Office, endpoint: WebhookEndpoint) -> ConfirmationRequests:
    return accepted(await office.editor.ask(office.organization.id, endpoint.id))


async def published(office: Office, endpoint: WebhookEndpoint, number: int = 1) -> list[AttemptResult]:
    """Create an event, and send its message."""
    post = a_post(id=f"post_{number}", organization_id=office.organization.id, occurred_at=START)
    await office.stores.outbox.add(message_for(endpoint.id, post_published(post)))
    return (await office.turn())[0]


@pytest.fixture
async def mails() -> AsyncGenerator[MailServer]:
    async with MailServer.running() as running:
        yield running


@pytest.fixture
async def office(mails: MailServer) -> Office:
    return await Office.opened("127.0.0.1:1", mails)


async def test_an_address_is_asked_and_gets_nothing_before_its_owner_confirms(
    office: Office, mails: MailServer
) -> None:
    endpoint = await office.endpoint(f"mailto:{_OPS},{_DEV}")
    results, entry = await office.turn()
    first, second = mails.mails
    assert results == [AttemptResult.DELIVERED, AttemptResult.DELIVERED]
    assert (first.to, second.to) == ((_OPS,), (_DEV,))
    assert first.message["Subject"] == "Confirm that you want alerts from Acme"
    assert first.text.startswith("This address was entered as a recipient of alerts from Acme.\n")
    assert first.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    token, leave = token_of(first, "confirm"), token_of(first, "leave")
    assert f"/alerts/leave?token={leave}>" in first.message["List-Unsubscribe"]
    assert (entry.title, entry.status) == ("Outgoing endpoint.confirmation message", LogStatus.SUCCESS)
    # The log has the address, but no token.
    assert token not in str(entry)

    assert await office.editor.test(office.organization.id, endpoint.id) is NONE_CONFIRMED
    for number in range(3):
        assert await published(office, endpoint, number) == [AttemptResult.REFUSED]
    (failed, *_) = await office.stores.journal.entries(office.organization.id)
    assert (failed.status, failed.error_message) == (
        LogStatus.FAILED,
        "nothing was sent: no address of the endpoint is confirmed",
    )
    standing = await office.standing(endpoint)
    assert (standing.enabled, standing.failures, len(mails.mails)) == (True, 0, 2)
    assert await office.turn() == ([], failed)

    assert await office.consents.confirm(token)
    assert await statuses(office, endpoint) == ["confirmed", "unconfirmed"]
    assert await published(office, endpoint, 4) == [AttemptResult.DELIVERED]
    assert mails.mails[2].to == (_OPS,)
    # The link works once, and no other token does.
    assert not await office.consents.confirm(token)
    assert not await office.consents.confirm("x" * 40)
    assert not await office.consents.confirm("nonsense")


async def test_a_removed_address_gets_nothing_until_its_owner_brings_it_back(office: Office, mails: MailServer) -> None:
    endpoint = await office.endpoint(f"mailto:{_OPS},{_DEV}")
    await office.confirmed(mails)
    await published(office, endpoint, 1)
    link = token_of(mails.mails[0], "leave")
    await office.consents.leave(link)
    await office.consents.leave("x" * 40)

    assert await statuses(office, endpoint) == ["removed", "confirmed"]
    await published(office, endpoint, 2)
    assert [mail.to for mail in mails.mails] == [(_OPS,), (_DEV,), (_DEV,)]
    office.clock.advance(timedelta(days=2))
    answer = await asked(office, endpoint)
    assert answer == ConfirmationRequests(addresses=(), not_asked={_OPS: WAS_REMOVED, _DEV: IS_CONFIRMED})
    assert confirmations_body(answer) == {
        "asked": [],
        "notAsked": [{"address": _OPS, "reason": WAS_REMOVED}, {"address": _DEV, "reason": IS_CONFIRMED}],
    }
    # Another endpoint with the address does not bring it back either.
    other = await office.endpoint(_OPS)
    assert (await office.turn())[0] == []
    assert await statuses(office, other) == ["removed"]
    await office.editor.remove(office.organization.id, other.id)
    await office.editor.remove(office.organization.id, endpoint.id)
    again = await office.endpoint(f"mailto:{_OPS},{_DEV}")
    assert await statuses(office, again) == ["removed", "unconfirmed"]

    # Links in earlier mails work without an end, in both directions.
    assert await office.consents.confirm(link)
    assert (await statuses(office, again))[0] == "confirmed"
    await office.consents.leave(link)
    assert (await statuses(office, again))[0] == "removed"


async def test_an_address_gets_one_confirmation_mail_an_hour_and_an_organization_sends_20_a_day(
    office: Office, mails: MailServer
) -> None:
    endpoint = await office.endpoint(_OPS)
    owner = office.organization.id
    assert (await asked(office, endpoint)).not_asked == {_OPS: TOO_SOON}
    # Neither another endpoint nor a new one opens the limit.
    await office.editor.remove(owner, endpoint.id)
    endpoint = await office.endpoint(_OPS)
    assert (await asked(office, endpoint)).not_asked == {_OPS: TOO_SOON}
    office.clock.advance(timedelta(minutes=60))
    assert (await asked(office, endpoint)).addresses == (_OPS,)
    many = await office.endpoint(f"mailto:{','.join(f'u{number}@acme.example' for number in range(10))}")
    more = await office.endpoint(f"mailto:{','.join(f'v{number}@acme.example' for number in range(10))}")
    await office.turn()
    await office.turn()
    await office.turn()

    office.clock.advance(timedelta(hours=22))
    assert set((await asked(office, more)).not_asked.values()) == {TOO_MANY}
    # The day of the first mail ends.
    office.clock.advance(timedelta(hours=1))
    assert len((await asked(office, more)).addresses) == 1
    assert set((await asked(office, many)).not_asked.values()) == {TOO_MANY}
    await office.turn()
    # The mail of the first, deleted endpoint was never sent.
    assert len(mails.mails) == 20


async def test_only_the_newest_confirmation_mail_is_sent_and_none_is_replayed() -> None:
    async with MailServer.running(answers={"MAIL": "451 4.3.0 try later"}) as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint(_OPS)
        assert (await office.turn())[0] == [AttemptResult.RETRY]
        office.clock.advance(timedelta(hours=1))
        assert (await asked(office, endpoint)).addresses == (_OPS,)
        mails.answers.clear()
        results, _ = await office.turn()
        assert sorted(each.name for each in results) == ["DELIVERED", "REFUSED"]
        [mail] = mails.mails
        stores = office.stores
        replayer = Replayer(
            *(stores.deliveries, stores.journal, stores.contexts, stores.endpoints, stores.outbox),
            office.clock,
            CountingIds(),
        )
        for entry in await stores.journal.entries(office.organization.id):
            assert await replayer.replay(office.organization.id, entry.id) is NO_CONFIRMATION

    assert await office.consents.confirm(token_of(mail, "confirm"))


async def test_refused_confirmation_mails_do_not_disable_an_endpoint() -> None:
    async with MailServer.running(answers={f"RCPT TO:<{_DEV.upper()}>": "550 5.1.1 no such user"}) as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint(f"mailto:{_OPS},{_DEV}")
        for _ in range(3):
            await office.turn()
            office.clock.advance(timedelta(hours=1))
            await asked(office, endpoint)
        standing = await office.standing(endpoint)
        (entry, *_) = await office.stores.journal.entries(office.organization.id)

    assert (standing.enabled, standing.failures) == (True, 0)
    assert entry.error_message == "the server answered 550: 5.1.1 no such user"


@pytest.mark.parametrize("refused", [False, True])
async def test_a_repeated_attempt_leaves_out_the_addresses_that_have_the_mail(
    office: Office, mails: MailServer, *, refused: bool
) -> None:
    endpoint = await office.endpoint(f"mailto:{_OPS},{_DEV}")
    await office.confirmed(mails)
    mails.answers = {f"RCPT TO:<{_OPS.upper()}>": "450 4.2.0 greylisted"}
    assert await published(office, endpoint) == [AttemptResult.RETRY]
    assert [mail.to for mail in mails.mails] == [(_DEV,)]
    mails.answers = {f"RCPT TO:<{_OPS.upper()}>": "550 5.1.1 no such user"} if refused else {}
    office.clock.advance(timedelta(seconds=10))
    results, entry = await office.turn()
    assert results == [AttemptResult.DELIVERED]
    assert [mail.to for mail in mails.mails] == ([(_DEV,)] if refused else [(_DEV,), (_OPS,)])

    # A message that a user sends again goes to all addresses.
    mails.mails.clear()
    mails.answers = {}
    assert await office.stores.outbox.resend(
        office.organization.id, entry.reference_id or "", due_at=office.clock.now()
    )
    await office.turn()
    assert sorted(mail.to for mail in mails.mails) == [(_DEV,), (_OPS,)]


async def test_a_slow_mail_server_gets_a_message_from_one_node_only(office: Office, mails: MailServer) -> None:
    await office.endpoint(_OPS)
    (taken,) = await office.dispatcher.take(PLACES)
    # As long as ten mails to a server that takes 20 s for each.
    office.clock.advance(timedelta(seconds=200))
    assert (await office.dispatcher.take(PLACES)) == ()
    assert await office.dispatcher.send(taken) is AttemptResult.DELIVERED
    office.clock.advance(timedelta(hours=1))
    assert (await office.turn())[0] == []
    assert len(mails.mails) == 1


async def test_an_address_whose_link_cannot_be_opened_gets_another_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def closed(_self: object, sealed: str) -> str:
        raise SecretUnreadable(sealed)

    async with MailServer.running() as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint(_OPS)
        await office.confirmed(mails)
        with monkeypatch.context() as patched:
            patched.setattr("contentsvc_adapters.sealing.FernetSealer.open", closed)
            assert await published(office, endpoint, 1) == [AttemptResult.DELIVERED]
        assert await published(office, endpoint, 2) == [AttemptResult.DELIVERED]

    first, second = (token_of(mail, "leave") for mail in mails.mails)
    assert first == second
    await office.consents.leave(first)
    assert await statuses(office, endpoint) == ["removed"]


async def test_a_mail_is_delivered_if_the_server_refuses_some_addresses_only() -> None:
    async with MailServer.running() as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint(f"mailto:{_OPS},{_DEV}")
        await office.confirmed(mails)
        mails.answers = {f"RCPT TO:<{_OPS.upper()}>": "550 5.1.1 no such user"}
        for number in range(3):
            assert await published(office, endpoint, number) == [AttemptResult.DELIVERED]

    assert (await office.standing(endpoint)).enabled
    assert [mail.to for mail in mails.mails] == [(_DEV,)] * 3


async def test_a_link_ends_after_a_day_and_then_the_address_can_be_asked_again(
    office: Office, mails: MailServer
) -> None:
    endpoint = await office.endpoint(_OPS)
    await office.turn()
    office.clock.advance(timedelta(hours=24))
    assert not await office.consents.confirm(token_of(mails.mails[0], "confirm"))
    assert (await Sweeper(office.stores, office.clock).sweep()).subscribers == 0
    office.clock.advance(timedelta(seconds=1))
    assert (await Sweeper(office.stores, office.clock).sweep()).subscribers == 1
    assert await statuses(office, endpoint) == ["unconfirmed"]
    assert (await asked(office, endpoint)).addresses == (_OPS,)
    await office.turn()
    assert await office.consents.confirm(token_of(mails.mails[1], "confirm"))


async def test_a_changed_target_asks_new_addresses_and_forgets_those_that_are_gone(
    office: Office, mails: MailServer
) -> None:
    owner = office.organization.id
    endpoint = await office.endpoint(_OPS)
    await office.confirmed(mails)
    changed = accepted(await office.editor.change(owner, endpoint.id, ChangeEndpoint(url=f"{_DEV},{_OPS}")))
    await office.turn()
    assert [mail.to for mail in mails.mails] == [(_DEV,)]
    assert await statuses(office, changed) == ["unconfirmed", "confirmed"]
    site = await office.endpoint("https://hooks.slack.com/services/x")
    bodies = await office.consents.bodies(owner, [site, changed])
    assert [[each.status.value for each in body.recipients] for body in bodies] == [[], ["unconfirmed", "confirmed"]]
    # A change of another field sends no mail.
    await office.editor.change(owner, endpoint.id, ChangeEndpoint(description="Ours"))
    assert (await office.turn())[0] == []
    await office.editor.change(owner, endpoint.id, ChangeEndpoint(url=_DEV))
    assert [each.address for each in await office.stores.recipients.recipients(owner)] == [_DEV]


async def test_addresses_of_a_disabled_endpoint_are_asked_when_it_is_enabled() -> None:
    async with MailServer.running() as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        owner = office.organization.id
        endpoint = await office.endpoint("https://hooks.slack.com/services/x")
        assert await office.editor.ask(owner, endpoint.id) is NO_ADDRESSES
        await office.editor.change(owner, endpoint.id, ChangeEndpoint(enabled=False))
        await office.editor.change(owner, endpoint.id, ChangeEndpoint(url=_OPS))
        assert isinstance(await office.editor.ask(owner, endpoint.id), Refusal)
        assert isinstance(await office.editor.ask(owner, "whe_unknown"), Refusal)
        await office.editor.change(owner, endpoint.id, ChangeEndpoint(enabled=True))
        await office.turn()

    assert [mail.to for mail in mails.mails] == [(_OPS,)]
    (recipient,) = await office.stores.recipients.recipients(owner)
    assert recipient.status is RecipientStatus.UNCONFIRMED


async def test_a_name_of_an_organization_neither_links_nor_breaks_the_mail() -> None:
    async with MailServer.running() as mails:
        office = await Office.opened("127.0.0.1:1", mails, name="Win <b>https://evil.example</b>\nnow")
        await office.endpoint(_OPS)
        await office.turn()

    [mail] = mails.mails
    assert "https://evil.example" not in mail.text
    assert "<b>" not in mail.html
