"""``contentsvc subscriber``, and the check of mail by ``doctor``."""

import asyncio
from pathlib import Path

import pytest
from tests.drivers.commands import command, invoke
from tests.mail_server import MailServer

from contentsvc_cli.operate.doctor.outgoing import mail
from contentsvc_cli.wiring import open_app
from contentsvc_core.outgoing.subscribers import SubscriberStatus
from contentsvc_http.settings import Settings


@pytest.fixture(autouse=True)
def acme(folder: Path) -> None:
    del folder
    command("organization", "create", "Acme")
    command("changelog", "publish", "--organization", "acme", "--yes")


async def _request(*addresses: str) -> None:
    async with open_app(Settings()) as app:
        changelog = await app.stores.changelogs.named("acme")
        assert changelog is not None
        for address in addresses:
            assert await app.subscriptions.request(changelog, address) is None


def test_subscribers_are_listed_and_deleted() -> None:
    mine = ("--organization", "acme")
    assert command("subscriber", "list", *mine) == []
    assert "No subscribers." in invoke("subscriber", "list", *mine).output
    asyncio.run(_request("bob@example.org", "ann@example.org"))

    listed = command("subscriber", "list", *mine)
    assert [(each["address"], each["changelog"], each["status"]) for each in listed] == [
        ("ann@example.org", "acme", SubscriberStatus.PENDING.value),
        ("bob@example.org", "acme", SubscriberStatus.PENDING.value),
    ]
    # Neither tokens nor digests leave the database.
    assert set(listed[0]) == {"address", "changelog", "status", "createdAt", "confirmedAt", "mailError"}
    assert command("subscriber", "delete", *mine, "Ann@example.org") == {"address": "ann@example.org", "deleted": 1}
    assert [each["address"] for each in command("subscriber", "list", *mine)] == ["bob@example.org"]


def test_an_unknown_subscriber_is_named() -> None:
    again = invoke("subscriber", "delete", "--organization", "acme", "ann@example.org")
    assert (again.exit_code, "'ann@example.org' is not subscribed" in again.output) == (1, True)
    wrong = invoke("subscriber", "delete", "--organization", "acme", "ann")
    assert (wrong.exit_code, "'ann' is not an e-mail address" in wrong.output) == (1, True)


async def test_the_doctor_signs_in_to_the_server_and_sends_nothing() -> None:
    assert await mail(Settings()) == []
    async with MailServer.running() as server:
        settings = Settings(base_url="https://acme.example", smtp_url=server.url, mail_from="log@acme.example")
        [well] = await mail(settings)
        [in_clear] = await mail(Settings(smtp_url=server.url, mail_from="log@acme.example"))
        server.answers["EHLO"] = server.answers["HELO"] = "554 go away"
        [refused] = await mail(settings)
    [away] = await mail(settings)

    assert [each.state.value for each in (well, in_clear, refused, away)] == ["ok", "warning", "fault", "fault"]
    assert "554" in refused.found
    assert "cannot be reached" in away.found
    assert server.mails == []
