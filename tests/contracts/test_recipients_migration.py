"""Revision 0022: addresses of endpoints of the version before stay confirmed, and can leave from their next mail on."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from contract_values import IDS, RotatingSealer
from older_schema import ORGANIZATION, database_at
from sqlalchemy import Connection, text
from tests.endpoints import consents_of

from contentsvc_adapters.sql import sql_stores, upgrade
from contentsvc_core import Dispatcher
from contentsvc_core.outgoing.letters import Letter, Posted, Posting
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.retries import Answer, AttemptResult, NotSent
from contentsvc_core.testing import START, ManualClock

pytestmark = pytest.mark.slow("upgrades a database of an older version, by a script that is never changed")

# In the words of the version before.
_ENDPOINT = (
    "INSERT INTO webhook_endpoints (id, organization_id, url, description, format, event_types, enabled, sealed_secret,"
    " failures, created_at) VALUES (:id, :owner, :url, '', :format, '[]', :enabled, :sealed, 0, 7000)"
)
_MESSAGE = (
    "INSERT INTO webhook_messages (id, organization_id, endpoint_id, type, data, status, attempts, takes, created_at,"
    " due_at) VALUES ('msg_1', 'org_1', 'whe_1', 'endpoint.test', '{}', 'pending', 0, 0, 7000, 7000)"
)


class Post:
    def __init__(self) -> None:
        self.letters: list[Letter] = []

    async def send(self, letters: Sequence[Letter]) -> Sequence[Posted]:
        self.letters += letters
        return [Posted(posting=Posting.SENT)] * len(letters)


class Nobody:
    async def send(self, url: str, headers: object, body: bytes) -> Answer | NotSent:
        raise AssertionError(url, headers, body)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_addresses_of_the_version_before_stay_confirmed_and_get_a_link(kind: str, tmp_path: Path) -> None:
    sealer = RotatingSealer()
    sealed = sealer.seal("whsec_x")
    rows = [
        ("whe_1", "org_1", "mailto:ann@acme.example,bob@acme.example", "email"),
        ("whe_2", "org_1", "mailto:ann@acme.example", "email"),
        ("whe_3", "org_1", "https://acme.example/hook", "standard"),
        ("whe_4", "org_2", "mailto:ann@acme.example", "email"),
    ]

    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), [{"id": "org_1", "slug": "one"}, {"id": "org_2", "slug": "two"}])
        names = ("id", "owner", "url", "format")
        values = [dict(zip(names, row, strict=True)) | {"enabled": True, "sealed": sealed} for row in rows]
        connection.execute(text(_ENDPOINT), values)
        connection.execute(text(_MESSAGE))

    async with database_at("0021", kind, tmp_path) as older:
        await older.write(fill)
        await upgrade(older)
        stores, clock, post = sql_stores(older, sealer), ManualClock(), Post()
        dispatcher = Dispatcher(stores.outbox, stores.recipients, Nobody(), clock, IDS, mails=post)

        async def turn() -> list[AttemptResult]:
            due = await dispatcher.take(limit=9, failing=9, per_endpoint=9, per_organization=9)
            return [await dispatcher.send(each) for each in due]

        # A message that waited during the upgrade.
        assert await turn() == [AttemptResult.DELIVERED]
        assert [letter.to for letter in post.letters] == ["ann@acme.example", "bob@acme.example"]
        before = post.letters[0].unsubscribe_url or ""
        consents = consents_of(stores, clock, IDS)
        (endpoint,) = await stores.endpoints.endpoints("org_2")
        assert [each.status.value for each in (await consents.body(endpoint)).recipients] == ["confirmed"]

        await stores.outbox.add(message_for_test("whe_2", "org_1", "msg_2", START))
        assert await turn() == [AttemptResult.DELIVERED]
        # The link stays the same, and removes the address from all endpoints of its organization, and of no other.
        assert post.letters[2].unsubscribe_url == before
        await consents.leave(before.rpartition("=")[2])
        await stores.outbox.add(message_for_test("whe_2", "org_1", "msg_3", START))
        await stores.outbox.add(message_for_test("whe_4", "org_2", "msg_4", START))
        assert sorted(each.name for each in await turn()) == ["DELIVERED", "REFUSED"]
        assert len(post.letters) == 4
