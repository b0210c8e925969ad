"""Messages to chats and mailboxes over real sockets: an HTTP server and a mail server."""

import json
import re
from datetime import timedelta
from typing import Self

import pytest
from attrs import frozen
from tests.endpoints import PLACES, consents_of, editor_of
from tests.http_server import HttpServer, ReceivedRequest, Reply
from tests.mail_server import MailServer, Received
from tests.refusals import accepted, existing

from contentsvc_adapters.mail import SmtpSender
from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.outgoing.sender import HttpWebhookSender
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import CreateEndpoint, Dispatcher, EndpointEditor, Operator, Organization
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.journal import LogEntry
from contentsvc_core.outgoing.endpoints import UNSIGNED, ChangeEndpoint, WebhookEndpoint
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.outgoing.smtp import SmtpServer
from contentsvc_core.outgoing.targets import NO_MAIL
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import CountingIds, ManualClock
from contentsvc_core.usecases.consents import Consents

_BASE = "https://hooks.acme.example"


class Chat(HttpServer):
    """Answers with ``answers`` in turn, and then with 200."""

    def __init__(self, *answers: tuple[int, dict[str, str]]) -> None:
        super().__init__()
        self.answers = list(answers)

    def reply(self, _request: ReceivedRequest, /) -> Reply:
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        return status, headers, b""


@frozen(kw_only=True)
class Office:
    stores: MemoryStores
    clock: ManualClock
    editor: EndpointEditor
    consents: Consents
    dispatcher: Dispatcher
    organization: Organization

    @classmethod
    async def opened(cls, place: str, mails: MailServer | None = None, *, name: str = "Acme") -> Self:
        stores, clock, ids = (
            memory_stores(FernetSealer("a secret of at least 32 characters")),
            ManualClock(),
            CountingIds(),
        )
        organization = accepted(await Operator(stores.directory, stores.keys, clock, ids).create_organization(name))
        hosts = read_site_hosts(place)
        smtp = None
        if mails is not None:
            smtp = SmtpSender(SmtpServer.read(mails.url), "Contentsvc <alerts@acme.example>", timeout_s=10)
        return cls(
            stores=stores,
            clock=clock,
            editor=editor_of(stores, clock, ids, opened=hosts, mails=smtp is not None),
            consents=consents_of(stores, clock, ids),
            dispatcher=Dispatcher(
                stores.outbox,
                stores.recipients,
                HttpWebhookSender(opened=hosts),
                clock,
                ids,
                base_url=_BASE,
                mails=smtp,
            ),
            organization=organization,
        )

    async def endpoint(self, url: str, format_: EndpointFormat | None = None) -> WebhookEndpoint:
        created = accepted(await self.editor.create(self.organization.id, CreateEndpoint(url=url, format=format_)))
        return created.endpoint

    async def confirmed(self, mails: MailServer, *addresses: str) -> None:
        """Send the confirmation mails, and use the links of the given addresses, or of all addresses."""
        await self.turn()
        for mail in mails.mails:
            if not addresses or mail.to[0] in addresses:
                assert await self.consents.confirm(token_of(mail, "confirm"))
        mails.mails.clear()

    async def tested(self, endpoint: WebhookEndpoint) -> tuple[list[AttemptResult], LogEntry]:
        """Send a test message; return the verdicts and the newest entry of the log."""
        assert isinstance(await self.editor.test(self.organization.id, endpoint.id), str)
        return await self.turn()

    async def turn(self) -> tuple[list[AttemptResult], LogEntry]:
        taken = await self.dispatcher.take(PLACES)
        results = [await self.dispatcher.send(each) for each in taken]
        return results, (await self.stores.journal.entries(self.organization.id))[0]

    async def standing(self, endpoint: WebhookEndpoint) -> WebhookEndpoint:
        return existing(await self.stores.endpoints.endpoint(self.organization.id, endpoint.id))


def token_of(mail: Received, page: str) -> str:
    """Return the token of a link in a mail; ``page`` is ``confirm`` or ``leave``."""
    (token,) = re.findall(rf"^.*{_BASE}/changelog/-/alerts/{page}\?token=(\w{{40}})$", mail.text, re.MULTILINE)
    return token


@pytest.mark.parametrize(
    ("format_", "part"),
    [(EndpointFormat.SLACK, "blocks"), (EndpointFormat.DISCORD, "embeds"), (EndpointFormat.TEAMS, "attachments")],
)
async def test_a_chat_gets_its_own_form_without_signatures(format_: EndpointFormat, part: str) -> None:
    with Chat() as chat:
        office = await Office.opened(chat.place)
        endpoint = await office.endpoint(f"{chat.url}/hook", format_)
        results, entry = await office.tested(endpoint)

    assert results == [AttemptResult.DELIVERED]
    (message,) = chat.requests
    assert "webhook-signature" not in message.headers
    assert message.headers["content-type"] == "application/json"
    assert part in message.body
    assert f"{_BASE}/dashboard/endpoints" in json.dumps(message.body)
    assert (entry.status.value, entry.status_code) == ("success", 200)
    assert await office.editor.rotate(office.organization.id, endpoint.id) is UNSIGNED


async def test_retry_after_of_a_chat_is_respected_for_all_its_messages() -> None:
    with Chat((429, {"Retry-After": "12.5"})) as chat:
        office = await Office.opened(chat.place)
        endpoint = await office.endpoint(f"{chat.url}/hook", EndpointFormat.DISCORD)
        first, _ = await office.tested(endpoint)
        assert first == [AttemptResult.RETRY]
        second, _ = await office.tested(endpoint)
        assert (second, len(chat.requests)) == ([AttemptResult.DELIVERED], 2)
        office.clock.advance(timedelta(seconds=12))
        assert (await office.turn())[0] == []
        office.clock.advance(timedelta(seconds=1))
        assert (await office.turn())[0] == [AttemptResult.DELIVERED]


async def test_a_deleted_webhook_of_a_chat_disables_its_endpoint_and_mail_reports_it() -> None:
    async with MailServer.running() as mails:
        with Chat((404, {})) as chat:
            office = await Office.opened(chat.place, mails)
            gone = await office.endpoint(f"{chat.url}/hook", EndpointFormat.SLACK)
            await office.endpoint("ops@acme.example")
            await office.confirmed(mails)
            results, entry = await office.tested(gone)
            assert results == [AttemptResult.GONE]
            assert entry.error_message == "the endpoint answered with status 404: it is gone, and was switched off"
            standing = await office.standing(gone)
            assert (standing.enabled, standing.disabled_reason) == (False, "it answered 404 Not Found")
            assert (await office.turn())[0] == [AttemptResult.DELIVERED]
            enabled = await office.editor.change(office.organization.id, gone.id, ChangeEndpoint(enabled=True))
            assert enabled == gone
        [mail] = mails.mails

    assert mail.message["Subject"].startswith("Endpoint disabled: 127.")
    assert "it answered 404 Not Found" in mail.text
    assert len(chat.requests) == 1


async def test_each_confirmed_address_gets_a_mail_of_its_own_with_an_unsubscribe_header() -> None:
    async with MailServer.running() as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint("mailto:ops@acme.example,dev@acme.example,cto@acme.example")
        await office.confirmed(mails, "ops@acme.example", "dev@acme.example")
        results, entry = await office.tested(endpoint)
        first, second = mails.mails

    assert results == [AttemptResult.DELIVERED]
    assert (first.to, second.to) == (("ops@acme.example",), ("dev@acme.example",))
    assert first.message["To"] == "ops@acme.example"
    assert first.message["Subject"] == "This is a test"
    assert first.message["Message-ID"] != second.message["Message-ID"]
    assert first.message["List-Unsubscribe"] == f"<{_BASE}/changelog/-/alerts/leave?token={token_of(first, 'leave')}>"
    assert first.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert token_of(first, "leave") != token_of(second, "leave")
    assert f"{_BASE}/dashboard/endpoints/{endpoint.id}" in first.text
    assert (entry.status.value, entry.status_code) == ("success", 250)


async def test_a_mail_is_retried_and_two_refusals_in_a_row_disable_its_endpoint() -> None:
    async with MailServer.running(answers={"RCPT": "450 4.2.0 later"}) as mails:
        office = await Office.opened("127.0.0.1:1", mails)
        endpoint = await office.endpoint("ops@acme.example")
        answers, mails.answers = mails.answers, {}
        await office.confirmed(mails)
        mails.answers = answers
        results, entry = await office.tested(endpoint)
        assert results == [AttemptResult.RETRY]
        assert (entry.reason or "").startswith("the server answered 450: 4.2.0 later; attempt 1 of 8")
        mails.answers.clear()
        office.clock.advance(timedelta(seconds=10))
        assert (await office.turn())[0] == [AttemptResult.DELIVERED]
        mails.answers["RCPT"] = "550 5.1.1 no such user"
        results, entry = await office.tested(endpoint)
        assert (results, entry.status.value) == ([AttemptResult.REFUSED], "failed")
        assert (await office.standing(endpoint)).enabled
        await office.tested(endpoint)
        standing = await office.standing(endpoint)

    assert (standing.enabled, standing.disabled_reason) == (False, "the mail server has refused two mails in a row")


async def test_without_a_mail_server_an_email_endpoint_is_refused() -> None:
    office = await Office.opened("127.0.0.1:1")

    assert await office.editor.create(office.organization.id, CreateEndpoint(url="ops@acme.example")) is NO_MAIL


async def test_a_new_target_brings_its_format_unless_one_is_chosen() -> None:
    office = await Office.opened("127.0.0.1:1")
    owner = office.organization.id
    endpoint = await office.endpoint("https://hooks.slack.com/services/x")
    assert endpoint.format is EndpointFormat.SLACK

    async def changed(**fields: object) -> WebhookEndpoint:
        return accepted(await office.editor.change(owner, endpoint.id, ChangeEndpoint(**fields)))

    assert (await changed(url="https://discord.com/api/webhooks/1/x")).format is EndpointFormat.DISCORD
    assert (await changed(url="https://chat.acme.example/")).format is EndpointFormat.STANDARD
    assert (await changed(format=EndpointFormat.SLACK)).format is EndpointFormat.SLACK
    assert (await changed(url="https://chat.acme.example/2")).format is EndpointFormat.SLACK
    assert (await changed(description="Ours")).format is EndpointFormat.SLACK
    assert (await changed(format=None)).format is EndpointFormat.STANDARD
    refused = await office.editor.change(
        owner, endpoint.id, ChangeEndpoint(url="https://hooks.slack.com/x", format=EndpointFormat.STANDARD)
    )
    assert isinstance(refused, Refusal)
    assert refused.field == "format"
