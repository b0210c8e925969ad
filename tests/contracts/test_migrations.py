"""Migrations: rows of the previous version, and nodes of that version beside the new ones.

The statements are those of the previous version.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from contract_values import IDS, RotatingSealer
from older_schema import ORGANIZATION, POST, add_run, since
from sqlalchemy import Connection, insert, select, text, update
from tests.endpoints import consents_of

from contentsvc_adapters.sql import Database, sql_stores, upgrade
from contentsvc_adapters.sql.automations import SqlAutomations
from contentsvc_adapters.sql.schema.content import posts
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core import Dispatcher
from contentsvc_core.content.posts import Label, PostStatus
from contentsvc_core.content.public.changelogs import first_id
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.retries import Answer, AttemptResult, NotSent
from contentsvc_core.outgoing.subscribers import Subscriber, SubscriberStatus
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.timestamps import to_ms
from contentsvc_core.workflows.filters import NO_OPTIONS, Batch, TriggerOptions
from contentsvc_core.workflows.triggers import Trigger, collecting
from contentsvc_core.zones import DEFAULT_ZONE

pytestmark = pytest.mark.slow("upgrades databases of older versions, by scripts that are never changed")


# Revision 0008: published posts get a time and a tag, also those of older nodes.
def _publish(connection: Connection) -> None:
    connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
    add_run(connection, "push")
    add_run(connection, "release", data='{"tagName":"v1.2.0"}')
    for id_, run, status in (("p", "r-push", "published"), ("r", "r-release", "draft"), ("o", None, "published")):
        connection.execute(insert(posts), POST | {"id": id_, "run_id": run, "status": status})


async def _publications(database: Database) -> dict[str, tuple[int | None, str | None]]:
    query = select(posts.c.id, posts.c.published_at, posts.c.release_tag)
    found = await database.read(lambda connection: connection.execute(query).all())
    return {row.id: (row.published_at, row.release_tag) for row in found}


@since("0007")
async def test_published_posts_have_their_time_and_tag(older: Database) -> None:
    await older.write(_publish)
    await upgrade(older)

    assert await _publications(older) == {"p": (1_000, None), "r": (None, "v1.2.0"), "o": (1_000, None)}
    if older.dialect.upgrades_itself:
        # Only one process serves a SQLite file during the migration.
        return

    def as_nodes_of_the_version_before(connection: Connection) -> None:
        connection.execute(insert(posts), POST | {"id": "new", "status": "published"})
        connection.execute(update(posts).where(posts.c.id == "r").values(status="published", updated_at=3_000))
        connection.execute(update(posts).where(posts.c.id == "p").values(status="draft", updated_at=3_000))
        connection.execute(update(posts).where(posts.c.id == "p").values(status="published", updated_at=4_000))

    await older.write(as_nodes_of_the_version_before)
    assert await _publications(older) == {
        "p": (1_000, None),
        "r": (3_000, "v1.2.0"),
        "o": (1_000, None),
        "new": (2_000, None),
    }


# Revision 0012: existing posts, and later ones of older nodes, get a date and their push.
def _let_happen(connection: Connection) -> None:
    connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
    for kind, delivery in (("push", "d-1"), ("release", "d-2"), ("generation", None)):
        run_id = add_run(connection, kind, delivery_id=delivery)
        connection.execute(insert(posts), POST | {"id": kind, "run_id": run_id, "status": "draft"})
    connection.execute(insert(posts), POST | {"id": "late", "status": "published", "published_at": 5_000})


async def _occurrences(database: Database) -> dict[str, tuple[int | None, str | None, str | None]]:
    query = select(posts.c.id, posts.c.occurred_at, posts.c.push_id, posts.c.contained_in)
    found = await database.read(lambda connection: connection.execute(query).all())
    return {row.id: (row.occurred_at, row.push_id, row.contained_in) for row in found}


@since("0011")
async def test_posts_stay_where_they_stood_and_the_next_release_finds_their_pushes(older: Database) -> None:
    await older.write(_let_happen)
    await upgrade(older)

    kept = {
        "push": (1_000, "codehost:7:d-1", None),
        "release": (1_000, None, None),
        "generation": (1_000, None, None),
        "late": (5_000, None, None),
    }
    assert await _occurrences(older) == kept
    if older.dialect.upgrades_itself:
        # A SQLite file has no other node during the migration.
        return
    as_older_nodes_do = insert(posts).values(POST | {"id": "new", "status": "draft"})
    await older.write(lambda connection: connection.execute(as_older_nodes_do))
    assert await _occurrences(older) == kept | {"new": (1_000, None, None)}


# Revision 0015: subscribers of an existing changelog, while nodes of the previous version work.
_CHANGELOG = (
    "INSERT INTO public_changelogs (id, owner_id, organization_id, slug, title, description, content_types, is_public,"
    " created_at, updated_at) VALUES (:id, 'org_1', 'org_1', 'acme', 't', '', '[\"changelog\"]', :is_public, 0, 0)"
)


@since("0014")
async def test_a_changelog_of_the_version_before_gets_subscribers(older: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        connection.execute(text(_CHANGELOG), {"id": first_id("org_1"), "is_public": True})

    await older.write(fill)
    await upgrade(older)
    stores = sql_stores(older, RotatingSealer())
    asking = Subscriber(
        id="sub_1",
        organization_id="org_1",
        changelog_id=first_id("org_1"),
        address="ann@example.org",
        digest="d",
        created_at=START,
    )
    assert await stores.subscribers.request(asking, "token")
    made = await stores.subscribers.confirm("d", at=START, new_digest="e", new_token="new")

    assert made is not None
    assert made.status is SubscriberStatus.CONFIRMED
    # A node of the previous version changes the changelog.
    await older.write(lambda connection: connection.execute(text("UPDATE public_changelogs SET title = 'new'")))
    assert await stores.subscribers.subscribers("org_1") == [made]


# Revision 0016: existing posts, and those of older nodes, can be edited and filtered.
_DRAFT = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " occurred_at) VALUES (:id, 'org_1', 't', '<h2>Fixed</h2>', 'm', 'changelog', 'draft', 1000, 1000, 1000)"
)
_PUBLICATION = "UPDATE posts SET status = 'published', published_at = 3000, updated_at = 3000 WHERE id = 'p-1'"


@since("0015")
async def test_drafts_of_the_version_before_are_edited_scheduled_and_filtered(older: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        connection.execute(text(_DRAFT), {"id": "p-1"})

    await older.write(fill)
    await upgrade(older)
    stores = sql_stores(older, RotatingSealer())
    await older.write(lambda connection: connection.execute(text(_DRAFT), {"id": "p-2"}))

    assert await stores.posts.waiting("org_1") == 2
    assert await stores.changelogs.address(limit=9) == 2
    assert await stores.changelogs.address(limit=9) == 0
    page = await stores.posts.page("org_1", PostQuery(labels=(Label.FIXED,)), PageRequest())
    assert not isinstance(page, Refusal)
    assert [post.id for post in page[0]] == ["p-2", "p-1"]

    before = page[0][1]
    scheduled = evolve(before, title="new", publish_at=START, updated_at=START)
    assert await stores.posts.change(scheduled, unchanged_since=before.updated_at, author="csk_1")
    kept = await stores.posts.versions("org_1", "p-1")
    assert [(each.number, each.text, each.author) for each in kept] == [
        (2, scheduled.text, "csk_1"),
        (1, before.text, None),
    ]
    assert await stores.posts.due(START, limit=9) == [("org_1", "p-1")]
    # A node of the previous version publishes the draft, and deletes the other post.
    await older.write(lambda connection: connection.execute(text(_PUBLICATION)))
    assert await stores.posts.due(START, limit=9) == []
    published = await stores.posts.post("org_1", "p-1")
    assert published is not None
    assert (published.status, published.publish_at) == (PostStatus.PUBLISHED, None)
    await older.write(lambda connection: connection.execute(text("DELETE FROM posts")))


# Revision 0017: log entries of the previous version have no facts, and its nodes continue to write.
_ENTRY = (
    "INSERT INTO log_entries (organization_id, created_at, id, integration_id, repository_id, title, integration_type,"
    " direction, status, status_code) VALUES ('org_1', :at, :id, 'int_1', 1, 'Invalid webhook signature', 'codehost',"
    " 'incoming', 'failed', 401)"
)


def _entry(connection: Connection, at: int) -> None:
    connection.execute(text(_ENTRY), {"at": at, "id": f"log_{at}"})


@since("0016")
async def test_entries_from_before_and_of_nodes_of_the_version_before_have_no_facts(older: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        _entry(connection, 1)

    await older.write(fill)
    await upgrade(older)
    await older.write(lambda connection: _entry(connection, 2))

    found = await sql_stores(older, RotatingSealer()).journal.entries("org_1")

    assert [(entry.id, entry.received) for entry in found] == [("log_2", None), ("log_1", None)]


# Revision 0018: endpoints of the previous version keep their format, also while its nodes write.
_ENDPOINT = (
    "INSERT INTO webhook_endpoints (id, organization_id, url, description, event_types, enabled, sealed_secret,"
    " failures, created_at) VALUES (:id, 'org_1', 'https://a.example/', '', '[]', :enabled, 'x', 0, 0)"
)


@since("0017")
async def test_endpoints_of_the_previous_version_have_the_standard_format(older: Database) -> None:
    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        add(connection, "whe_1")

    def add(connection: Connection, id_: str) -> None:
        connection.execute(text(_ENDPOINT), {"id": id_, "enabled": True})

    await older.write(fill)
    await upgrade(older)
    await older.write(lambda connection: add(connection, "whe_2"))
    stores = sql_stores(older, RotatingSealer())
    found = await stores.endpoints.endpoints("org_1")

    assert [(each.id, each.format) for each in found] == [
        ("whe_1", EndpointFormat.STANDARD),
        ("whe_2", EndpointFormat.STANDARD),
    ]
    assert await stores.alerts.watched() == ["org_1"]


# Revision 0019: triggers of the previous version, and nodes of that version beside the new ones.
_TRIGGER = (
    "INSERT INTO triggers (id, organization_id, name, source_type, enabled, repository_ids, event_types, output_type, "
    "auto_publish, created_at) VALUES (:id, 'org_1', '', 'codehost_webhook', true, '[1]', '[]', 'changelog', false, 0)"
)


async def _run(database: Database, statement: str, **values: Any) -> None:
    def run(connection: Connection) -> None:
        connection.execute(text(statement), values)

    await database.write(run)


@since("0018")
async def test_a_trigger_of_before_has_no_options_and_older_nodes_write_beside(older: Database) -> None:
    organization = {"id": "org_1", "slug": "acme", "name": "Acme", "retention_days": 30, "version": 1, "created_at": 0}
    await older.write(lambda connection: connection.execute(insert(organizations), organization))
    await _run(older, _TRIGGER, id="trg_1")

    await upgrade(older)

    triggers = SqlAutomations(older, Trigger)
    found = await triggers.find("org_1", "trg_1")
    assert isinstance(found, Trigger)
    assert (found.options, found.due_at, found.since) == (NO_OPTIONS, None, None)
    # A node of the previous version adds a trigger, and renames one with options: the options stay.
    await _run(older, _TRIGGER, id="trg_2")
    changed = collecting(evolve(found, options=TriggerOptions(paths=("a/**",), batch=Batch.DAILY)), START, DEFAULT_ZONE)
    assert await triggers.change("org_1", "trg_1", lambda _, _zone: changed) == changed
    await _run(older, "UPDATE triggers SET name = 'x' WHERE id = :id", id="trg_1")
    assert await triggers.find("org_1", "trg_1") == evolve(changed, name="x")
    other = await triggers.find("org_1", "trg_2")
    assert other == evolve(found, id="trg_2")


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
    stores, clock, post = sql_stores(older, sealer), ManualClock(), Post()
    dispatcher = Dispatcher(stores.outbox, stores.recipients, NoSender(), clock, IDS, mails=post)

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
    outbox, lease = sql_stores(older, sealer).outbox, timedelta(minutes=1)
    (taken,) = await outbox.take(["msg_1"], now=now, lease=lease)
    assert await due_before(now + timedelta(seconds=30)) == []
    await outbox.requeue(taken, due_at=now)
    assert await due_before(now) == ["msg_1"]

    await older.write(
        lambda connection: connection.execute(text(_TAKE), {"now": to_ms(now), "until": to_ms(now + lease)})
    )
    assert not await outbox.take(["msg_1"], now=now + timedelta(seconds=30), lease=lease)
    assert await outbox.take(["msg_1"], now=now + lease, lease=lease)
