"""Refusals of ``contentsvc endpoint``, and sending a message again by ``log replay``."""

import asyncio
import json
from pathlib import Path

import pytest
from sqlalchemy import delete
from tests import sqlite
from tests.drivers.commands import command, invoke
from tests.endpoints import Receiver, dispatch

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.access import rate_windows

_KEY = "a secret of at least 32 characters"
_URL = "https://acme.example/hook"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = sqlite.migrated(tmp_path / "contentsvc.db")
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", _KEY)
    assert invoke("organization", "create", "Acme").exit_code == 0
    return url


def dispatched(url: str, receiver: Receiver) -> None:
    async def work() -> None:
        stores = SqlStores(Database(url), FernetSealer(_KEY))
        await dispatch(stores, SystemClock(), RandomIds(), receiver)
        await stores.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("create", "http://acme.example/", "--organization", "acme"), "URL must begin with https://"),
        (("create", _URL, "--organization", "nobody"), "there is no organization 'nobody'"),
        (("create", _URL, "--organization", "acme", "--event", "post.deleted"), "'post.deleted' is not one of"),
        (("test", "whe_x"), "there is no webhook endpoint 'whe_x'"),
        (("rotate-secret", "whe_x"), "there is no webhook endpoint 'whe_x'"),
        (("edit", "whe_x"), "there is nothing to change"),
        (("edit", "whe_x", "--event", "run.failed", "--all-events"), "use either --event or --all-events"),
    ],
)
def test_refusals_have_their_reason(database: str, words: tuple[str, ...], error: str) -> None:
    done = invoke("endpoint", *words)

    assert done.exit_code != 0
    assert error in done.output


def test_a_message_is_sent_again_by_the_id_of_its_entry(database: str) -> None:
    endpoint = command("endpoint", "create", _URL, "--organization", "acme")
    message_id = command("endpoint", "test", endpoint["id"])["messageId"]
    receiver = Receiver()
    dispatched(database, receiver)
    (entry,) = json.loads(invoke("log", "list", "--organization", "acme", "--json").stdout)
    assert (entry["title"], entry["referenceId"]) == ("Outgoing endpoint.test message", message_id)

    assert command("log", "replay", entry["id"]) == {"logId": entry["id"], "deliveryId": message_id, "runs": 0}
    dispatched(database, receiver)

    assert [headers["webhook-id"] for _, headers, _ in receiver.came] == [message_id, message_id]
    command("endpoint", "disable", endpoint["id"])
    refused = invoke("log", "replay", entry["id"])
    assert refused.exit_code == 1
    assert "The webhook endpoint of this message is disabled" in refused.output
    assert "disabled: enable it first" in invoke("endpoint", "test", endpoint["id"]).output
    command("endpoint", "delete", endpoint["id"])
    assert "was deleted" in invoke("log", "replay", entry["id"]).output
    assert "there is no log entry 'log_x'" in invoke("log", "replay", "log_x").output


def test_an_operator_opens_hosts_by_a_setting(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_OUTGOING_HOSTS", "127.0.0.1:9000")
    assert invoke("endpoint", "create", "http://127.0.0.1:9000/hook", "--organization", "acme").exit_code == 0
    assert invoke("endpoint", "create", "http://127.0.0.1:9001/hook", "--organization", "acme").exit_code == 2
    monkeypatch.setenv("CONTENTSVC_OUTGOING_HOSTS", "http://127.0.0.1")
    assert "CONTENTSVC_OUTGOING_HOSTS takes hosts" in invoke("endpoint", "list", "--organization", "acme").output


def test_an_endpoint_of_a_chat_has_no_secret_and_its_format_can_be_set(database: str) -> None:
    assert database
    chat = command("endpoint", "create", "https://hooks.slack.com/services/x", "--organization", "acme")
    assert chat["format"] == "slack"
    assert "secret" not in chat
    refused = invoke("endpoint", "edit", chat["id"], "--format", "discord")
    assert (refused.exit_code, "must be slack, or none" in refused.output) == (2, True)
    moved = command("endpoint", "edit", chat["id"], "--url", "https://acme.example/x", "--format", "slack")
    assert (moved["url"], moved["format"]) == ("https://acme.example/x", "slack")


def test_addresses_are_shown_with_their_state_and_asked_again(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SMTP_URL", "smtp://mail.acme.example")
    monkeypatch.setenv("CONTENTSVC_MAIL_FROM", "alerts@acme.example")
    done = invoke("endpoint", "create", "ops@acme.example, dev@acme.example", "--organization", "acme")
    assert "Each address gets a mail with a link" in done.stderr
    assert "ops@acme.example (unconfirmed), dev@acme.example (unconfirmed)" in done.stdout
    (endpoint,) = json.loads(invoke("endpoint", "list", "--organization", "acme", "--json").stdout)
    assert [each["status"] for each in endpoint["recipients"]] == ["unconfirmed", "unconfirmed"]
    assert "0 of 2" in invoke("endpoint", "list", "--organization", "acme").stdout
    assert "No address of the webhook endpoint is confirmed" in invoke("endpoint", "test", endpoint["id"]).output

    too_soon = invoke("endpoint", "confirm", endpoint["id"])
    assert too_soon.exit_code == 1
    assert "ops@acme.example was not asked: it got a confirmation mail within the last hour" in too_soon.stderr
    asyncio.run(_hours_later(database))
    done = invoke("endpoint", "confirm", endpoint["id"])
    assert (done.exit_code, done.stdout.split(maxsplit=1)) == (0, ["asked", "ops@acme.example, dev@acme.example\n"])
    assert "this endpoint has none" in invoke("endpoint", "confirm", command("endpoint", "create", _URL)["id"]).output


async def _hours_later(url: str) -> None:
    """Move the windows of limits into the past."""
    database = Database(url)
    await database.write(lambda connection: connection.execute(delete(rate_windows)))
    await database.dispose()
