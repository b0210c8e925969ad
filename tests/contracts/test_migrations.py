"""Migrations: rows of the previous version, and nodes of that version beside the new ones.

The statements are those of the previous version.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from contract_values import IDS, RotatingSealer
from older_schema import ORGANIZATION, since
from sqlalchemy import Connection, text
from tests.endpoints import PLACES, consents_of

from contentsvc_adapters.sql import Database, sql_stores, upgrade
from contentsvc_adapters.sql.changelogs import SqlChangelogs
from contentsvc_core import Dispatcher
from contentsvc_core.content.posts import Label, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.retries import Answer, AttemptResult, NotSent
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START, ManualClock
from contentsvc_core.timestamps import to_ms

pytestmark = pytest.mark.slow("upgrades databases of older versions, by scripts that are never changed")


# Published posts of revision 0013 get paths and facets in small batches, by processes of all later versions.
_CHANGELOG = (
    "INSERT INTO public_changelogs (id, owner_id, organization_id, slug, title, description, content_types, is_public,"
    " created_at, updated_at) VALUES ('chl_1', 'org_1', 'org_1', 'lamps', 't', '', '[\"changelog\"]', true, 0, 0)"
)
_PUBLISHED = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " published_at, occurred_at, source_metadata) VALUES (:id, 'org_1', 'A lamp', '<h2>Fixed</h2>', 'm', 'changelog',"
    " 'published', 0, 0, 0, 0, :metadata)"
)


async def _upgraded(older: Database, *, torn: Sequence[str] = (), others: Sequence[str] = ()) -> SqlChangelogs:
    """Upgrade a database with posts without paths, of which ``torn`` cannot be read."""

    def fill(connection: Connection) -> None:
        connection.execute(text(ORGANIZATION), {"id": "org_1", "slug": "acme"})
        connection.execute(text(_CHANGELOG))
        written = [(id_, "{") for id_ in torn] + [(id_, None) for id_ in ("p-1", *others)]
        connection.execute(text(_PUBLISHED), [{"id": id_, "metadata": metadata} for id_, metadata in written])

    await older.write(fill)
    await upgrade(older)
    return sql_stores(older, RotatingSealer()).changelogs


@since("0020")
async def test_posts_without_paths_are_shown_and_soon_found_by_path_and_label(older: Database) -> None:
    changelogs = await _upgraded(older)
    first = await changelogs.of("org_1")
    assert first is not None

    (post,) = await changelogs.posts(first, limit=9)
    assert post.path is None
    assert await changelogs.posts(first, limit=9, label=Label.FIXED) == []
    assert await changelogs.address(limit=9) == 1
    assert await changelogs.address(limit=9) == 0
    assert await changelogs.at_path(first, "1970/01/a-lamp") == post
    assert await changelogs.posts(first, limit=9, label=Label.FIXED) == [post]
    now = await changelogs.of("org_1")
    assert now is not None
    assert now.revision > first.revision


@since("0020")
async def test_unreadable_posts_do_not_keep_others_from_their_paths(older: Database) -> None:
    torn, faults = [f"p-0{number}" for number in range(3)], list[Exception]()
    changelogs = await _upgraded(older, torn=torn, others=["p-2"])
    changelogs.on_unreadable = faults.append

    while await changelogs.address(limit=1):
        pass
    first = await changelogs.of("org_1")
    assert first is not None
    paths = [await changelogs.at_path(first, path) for path in ("1970/01/a-lamp", "1970/01/a-lamp-2")]
    assert {post and post.id for post in paths} == {"p-1", "p-2"}
    # Each fault is reported once, not at each turn of the loop.
    assert sorted(str(fault)[:13] for fault in faults) == [f"the post {id_}" for id_ in torn]


@since("0020")
async def test_a_process_leaves_out_a_limited_number_of_unreadable_posts(
    older: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    changelogs = await _upgraded(older, torn=[f"p-0{number}" for number in range(3)])
    monkeypatch.setattr("contentsvc_adapters.sql.changelogs.LEFT_OUT", 2)
    faults = list[Exception]()
    changelogs.on_unreadable = faults.append

    while await changelogs.address(limit=1):
        pass

    assert len(faults) == 2


# Posts of revision 0015, whose facets may be missing still, can be edited and filtered.
_DRAFT = (
    "INSERT INTO posts (id, organization_id, title, content, markdown, content_type, status, created_at, updated_at,"
    " occurred_at) VALUES (:id, 'org_1', 't', '<h2>Fixed</h2>', 'm', 'changelog', 'draft', 1000, 1000, 1000)"
)
_PUBLICATION = "UPDATE posts SET status = 'published', published_at = 3000, updated_at = 3000 WHERE id = 'p-1'"


@since("0020")
async def test_drafts_without_facets_are_edited_scheduled_and_filtered(older: Database) -> None:
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
