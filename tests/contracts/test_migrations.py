"""Migrations: rows of the previous version, and nodes of that version beside the new ones.

The statements are those of the previous version.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from contract_values import IDS, RotatingSealer
from older_schema import ORGANIZATION, since
from sqlalchemy import Connection, text
from tests.endpoints import PLACES, consents_of

from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core import Dispatcher
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.retries import Answer, AttemptResult, NotSent
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.timestamps import to_ms

pytestmark = pytest.mark.slow("upgrades databases of older versions, by scripts that are never changed")


# Revision 0026: rows that only nodes of versions before 0020 have written.
_CHANGELOG = (
    "INSERT INTO public_changelogs (id, owner_id, organization_id, slug, title, description, content_types, is_public,"
    " created_at, updated_at) VALUES ('chl_1', 'org_1', 'org_1', 'lamps', 't', '', '[\"changelog\"]', true, 0, 0)"
)
_SLUG = "INSERT INTO changelog_slugs (slug, organization_id) VALUES ('old-lamps', 'org_1')"
_PUBLISHED = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " published_at, publish_at) VALUES ('p-1', 'org_1', 'A lamp', 'c', 'm', 'changelog', 'published', 7, 8, 8, 9)"
)


@since("0025")
async def test_rows_of_nodes_before_0020_are_read_as_before(older: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        for statement in (_CHANGELOG, _SLUG, _PUBLISHED):
            connection.execute(text(statement))

    await older.write(fill)
    await upgrade(older)
    stores = SqlStores(older, RotatingSealer())

    changelog = await stores.changelogs.named("old-lamps")
    assert changelog is not None
    assert changelog == await stores.changelogs.named("lamps")
    (post,) = await stores.changelogs.posts(changelog, limit=9)
    assert (post.occurred_at, post.publish_at, post.path) == (post.created_at, None, None)
    # A node of the previous version ends a run.
    await older.write(lambda connection: connection.execute(text("DELETE FROM run_drafts WHERE run_id = 'run_1'")))


# Revision 0022: addresses of existing endpoints stay confirmed, and can leave from their next mail on.
_MAIL_ENDPOINT = (
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

    async def send(self, letters: Sequence[Letter]) -> Sequence[SentLetter]:
        self.letters += letters
        return [SentLetter(posting=MailResult.SENT)] * len(letters)


class NoSender:
    async def send(self, url: str, headers: object, body: bytes) -> Answer | NotSent:
        raise AssertionError(url, headers, body)


@since("0021")
async def test_addresses_of_the_version_before_stay_confirmed_and_get_a_link(older: Database) -> None:
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
        connection.execute(text(_MAIL_ENDPOINT), values)
        connection.execute(text(_MESSAGE))

    await older.write(fill)
    await upgrade(older)
    stores, clock, post = SqlStores(older, sealer), ManualClock(), Post()
    dispatcher = Dispatcher(stores.outbox, stores.recipients, NoSender(), clock, IDS, mails=post)

    async def turn() -> list[AttemptResult]:
        due = await dispatcher.take(PLACES)
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


# Revision 0025: nodes of the previous version respect leases, and theirs are respected.
_DUE = "SELECT id FROM webhook_messages WHERE status = 'pending' AND due_at <= :now"
_TAKE = "UPDATE webhook_messages SET takes = takes + 1, due_at = :until WHERE status = 'pending' AND due_at <= :now"


@since("0024")
async def test_nodes_of_the_version_before_and_new_ones_respect_their_leases(older: Database) -> None:
    sealer, now = RotatingSealer(), datetime.now(UTC)
    endpoint = {"id": "whe_1", "owner": "org_1", "url": "https://acme.example/hook", "format": "standard"}

    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "one"})
        connection.execute(text(_MAIL_ENDPOINT), endpoint | {"enabled": True, "sealed": sealer.seal("whsec_x")})
        connection.execute(text(_MESSAGE))

    async def due_before(at: datetime) -> list[str]:
        return await older.read(lambda connection: list(connection.scalars(text(_DUE), {"now": to_ms(at)})))

    await older.write(fill)
    await upgrade(older)
    outbox, lease = SqlStores(older, sealer).outbox, timedelta(minutes=1)
    (taken,) = await outbox.take(["msg_1"], now=now, lease=lease)
    assert await due_before(now + timedelta(seconds=30)) == []
    await outbox.requeue(taken, due_at=now)
    assert await due_before(now) == ["msg_1"]

    await older.write(
        lambda connection: connection.execute(text(_TAKE), {"now": to_ms(now), "until": to_ms(now + lease)})
    )
    assert not await outbox.take(["msg_1"], now=now + timedelta(seconds=30), lease=lease)
    assert await outbox.take(["msg_1"], now=now + lease, lease=lease)
