"""``Subscribers`` and ``Mailbox``: opt-in, batches of announced posts, and leases of mails."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from attrs import evolve
from contract_lanes import until_they_wait
from contract_values import IDS, SHARED_CLOCK, RotatingSealer, Stores, Tenant, a_post, later, tenant
from sqlalchemy import insert, update
from sqlite_files import file_of
from tests.refusals import existing
from tests.statements import statements

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.mailing import mails, subscribers
from contentsvc_core.access.sessions import TOKEN_LENGTH, token_digest
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog, first_id
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.subscribers import (
    CONFIRM_WITHIN,
    RESEND_AFTER,
    LeasedMail,
    MailKind,
    MailOutcome,
    Subscriber,
    SubscriberStatus,
)
from contentsvc_core.testing import START
from contentsvc_core.workflows.runs import Completion

pytestmark = pytest.mark.usefixtures("shared_clock")
_LEASE = timedelta(minutes=5)


async def changelog_of(acme: Tenant, **changes: object) -> PublicChangelog:
    changelog: PublicChangelog = evolve(PublicChangelog.first(acme.organization, START), is_public=True, **changes)  # pyright: ignore[reportArgumentType]
    assert await acme.stores.changelogs.save(changelog) is None
    return changelog


def asking(acme: Tenant, address: str, *, at: datetime = START, changelog_id: str | None = None) -> Subscriber:
    first = PublicChangelog.first(acme.organization, START)
    return Subscriber(
        id=IDS.new_id("sub_"),
        organization_id=acme.id,
        changelog_id=changelog_id or first.id,
        address=address,
        digest=_digest(IDS.token(TOKEN_LENGTH)),
        created_at=at,
    )


def _digest(token: str) -> str:
    return existing(token_digest(token))


async def requested(acme: Tenant, address: str, *, at: datetime = START, changelog_id: str | None = None) -> str:
    """Request a subscription; return the token."""
    token = IDS.token(TOKEN_LENGTH)
    subscriber = evolve(asking(acme, address, at=at, changelog_id=changelog_id), digest=_digest(token))
    assert await acme.stores.subscribers.request(subscriber, token)
    return token


async def confirmed(acme: Tenant, address: str, *, changelog_id: str | None = None) -> tuple[Subscriber, str]:
    token, new = await requested(acme, address, changelog_id=changelog_id), IDS.token(TOKEN_LENGTH)
    made = await acme.stores.subscribers.confirm(
        _digest(token), at=later(minutes=1), new_digest=_digest(new), new_token=new
    )
    assert made is not None
    # Its confirmation mail was sent.
    taken = await take(acme)
    for mail in taken:
        await acme.stores.mailbox.record(
            mail, MailOutcome(status=MessageStatus.DELIVERED, at=later(minutes=1), due_at=later(minutes=1))
        )
    return made, new


async def take(acme: Tenant, *, at: datetime | None = None, limit: int = 99) -> list[LeasedMail]:
    at = at or later(minutes=2)
    SHARED_CLOCK.at = at
    return list(await acme.stores.mailbox.take(limit=limit, now=at, lease=_LEASE))


async def published(acme: Tenant, at: datetime = START) -> Post:
    post = a_post(acme.id, at, status=PostStatus.PUBLISHED)
    assert await acme.stores.ledger.complete(await acme.taken(), post, once=None) is Completion.COMPLETED
    return post


async def test_a_subscriber_confirms_once_and_within_a_day(acme: Tenant) -> None:
    await changelog_of(acme)
    subscribers = acme.stores.subscribers
    token, late = await requested(acme, "ann@example.org"), await requested(acme, "bob@example.org")
    new = IDS.token(TOKEN_LENGTH)

    async def confirm(what: str, at: datetime) -> Subscriber | None:
        return await subscribers.confirm(_digest(what), at=at, new_digest=_digest(new), new_token=new)

    assert [each.status for each in await subscribers.subscribers(acme.id)] == [SubscriberStatus.PENDING] * 2
    assert await subscribers.confirmed(acme.id) == {}
    assert await confirm(late, START + CONFIRM_WITHIN) is None
    made = existing(await confirm(token, later(minutes=1)))
    assert (made.address, made.status, made.confirmed_at) == (
        "ann@example.org",
        SubscriberStatus.CONFIRMED,
        later(minutes=1),
    )
    assert made in await subscribers.subscribers(acme.id)
    assert await subscribers.confirmed(acme.id) == {made.changelog_id: 1}
    # The link works once, and the new token does not confirm.
    assert await subscribers.confirm(_digest(token), at=later(minutes=2), new_digest="x", new_token="y") is None
    assert await subscribers.confirm(_digest(new), at=later(minutes=2), new_digest="x", new_token="y") is None
    assert await subscribers.sweep(before=later(days=1), limit=9) == 1
    assert await subscribers.subscribers(acme.id) == [made]


async def test_an_address_is_stored_once_and_gets_another_mail_only_after_a_pause(acme: Tenant) -> None:
    await changelog_of(acme)
    first = await requested(acme, "ann@example.org")
    [mail] = await take(acme)
    assert (mail.kind, mail.token, mail.subscriber.address) == (MailKind.CONFIRMATION, first, "ann@example.org")

    await requested(acme, "ann@example.org", at=later(minutes=6))
    assert await take(acme, at=later(minutes=6)) == []
    again = await requested(acme, "ann@example.org", at=START + RESEND_AFTER)
    [second] = await take(acme, at=START + RESEND_AFTER)
    assert (second.token, second.subscriber.id) == (again, mail.subscriber.id)
    assert second.id != mail.id
    # The first mail was deleted: the owner of its lease writes nothing.
    await acme.stores.mailbox.record(mail, MailOutcome(status=MessageStatus.DELIVERED, at=START, due_at=START))
    assert len(await acme.stores.subscribers.subscribers(acme.id)) == 1


async def test_the_places_of_a_changelog_are_bounded(acme: Tenant) -> None:
    await changelog_of(acme)
    await confirmed(acme, "ann@example.org")
    await requested(acme, "bob@example.org")
    eve = asking(acme, "eve@example.org")
    assert not await acme.stores.subscribers.request(eve, "t", at_most=2)
    assert not await acme.stores.subscribers.request(eve, "t", pending=1)
    assert await acme.stores.subscribers.request(eve, "t", at_most=3, pending=2)


async def test_unsubscribing_deletes_the_address_and_its_mails(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith", repository_id=2)
    for each in (acme, zenith):
        await changelog_of(each)
    elsewhere, _ = await confirmed(zenith, "bob@example.org")
    made, token = await confirmed(acme, "ann@example.org")
    other, _ = await confirmed(acme, "bob@example.org")
    # An address that has not confirmed gets its confirmation mail, and no posts.
    await requested(acme, "eve@example.org")
    assert [mail.kind for mail in await take(acme)] == [MailKind.CONFIRMATION]
    await published(acme)
    [waiting] = await acme.stores.mailbox.waiting(START, limit=9, posts=9)
    assert await acme.stores.mailbox.batch(waiting, "bat_1", changelog_ids=[made.changelog_id], at=START) == 2

    assert await acme.stores.subscribers.remove(_digest(token))
    assert not await acme.stores.subscribers.remove(_digest(token))
    assert [mail.subscriber for mail in await take(acme)] == [other]
    assert await acme.stores.subscribers.remove_address(acme.id, "bob@example.org") == 1
    assert await acme.stores.subscribers.remove_address(acme.id, "bob@example.org") == 0
    assert [each.address for each in await acme.stores.subscribers.subscribers(acme.id)] == ["eve@example.org"]
    assert await acme.stores.subscribers.subscribers(zenith.id) == [elsewhere]


async def test_a_deleted_changelog_takes_its_subscribers_along(acme: Tenant) -> None:
    await changelog_of(acme)
    second = await changelog_of(acme, id="chl_second", slug="second")
    await confirmed(acme, "ann@example.org", changelog_id=second.id)
    kept, _ = await confirmed(acme, "ann@example.org")
    await acme.stores.changelogs.remove(second)

    assert await acme.stores.subscribers.subscribers(acme.id) == [kept]


async def test_the_last_error_of_each_address_is_known(acme: Tenant) -> None:
    await changelog_of(acme)
    await confirmed(acme, "ann@example.org")
    await requested(acme, "bob@example.org")
    mailbox = acme.stores.mailbox
    assert await mailbox.errors(acme.id) == {}
    [mail] = await take(acme)
    refused = MailOutcome(
        status=MessageStatus.FAILED, at=later(minutes=2), due_at=later(minutes=2), error="550 no such user"
    )
    await mailbox.record(mail, refused)

    assert await mailbox.errors(acme.id) == {mail.subscriber.id: "550 no such user"}
    assert await mailbox.errors("org_other") == {}


async def test_a_post_is_announced_once_and_only_to_changelogs_with_subscribers(stores: Stores) -> None:
    acme, other = await tenant(stores), await tenant(stores, "zenith", repository_id=2)
    for each in (acme, other):
        await changelog_of(each)
    await confirmed(acme, "ann@example.org")
    await requested(other, "bob@example.org")
    post = await published(acme)
    await published(other)

    [waiting] = await stores.mailbox.waiting(START, limit=9, posts=9)
    assert waiting.organization_id == acme.id
    assert [(each.post_id, each.at) for each in waiting.posts] == [(post.id, post.updated_at)]
    assert await stores.mailbox.waiting(START - timedelta(milliseconds=1), limit=9, posts=9) == []
    await stores.mailbox.batch(waiting, "bat_1", changelog_ids=[], at=START)
    # Unpublished, and published again.
    draft = evolve(post, status=PostStatus.DRAFT, updated_at=later(hours=1))
    again = evolve(post, status=PostStatus.PUBLISHED, updated_at=later(hours=2))
    assert await stores.posts.change(draft, unchanged_since=post.updated_at)
    assert await stores.posts.change(again, unchanged_since=draft.updated_at)
    assert await stores.mailbox.waiting(later(days=1), limit=9, posts=9) == []


async def test_waiting_posts_are_batched_by_one_of_several_nodes(acme: Tenant) -> None:
    changelog = await changelog_of(acme)
    for name in ("ann", "bob", "eve"):
        await confirmed(acme, f"{name}@example.org")
    posts = [await published(acme, later(minutes=number)) for number in range(3)]
    mailbox = acme.stores.mailbox
    [waiting] = await mailbox.waiting(START, limit=9, posts=2)
    assert [each.post_id for each in waiting.posts] == [post.id for post in posts[:2]]

    made = await asyncio.gather(
        *(
            mailbox.batch(waiting, f"bat_{number}", changelog_ids=[changelog.id, "chl_x"], at=later(minutes=2))
            for number in range(3)
        )
    )
    assert sorted(made) == [0, 0, 3]
    batch_id = f"bat_{made.index(3)}"
    assert await mailbox.posts(batch_id) == list(waiting.posts)
    taken = await take(acme)
    assert {mail.batch_id for mail in taken} == {batch_id}
    assert sorted(mail.subscriber.address for mail in taken) == [
        f"{name}@example.org" for name in ("ann", "bob", "eve")
    ]
    [left] = await mailbox.waiting(later(days=1), limit=9, posts=9)
    assert [each.post_id for each in left.posts] == [posts[2].id]


@pytest.mark.slow("races two processes on PostgreSQL")
async def test_a_batch_waits_for_posts_that_another_process_has_locked(postgresql: Database, postgres_url: str) -> None:
    acme = await tenant(SqlStores(postgresql, RotatingSealer()))
    changelog = await changelog_of(acme)
    await confirmed(acme, "ann@example.org")
    posts = [await published(acme, later(minutes=number)) for number in range(2)]
    [waiting] = await acme.stores.mailbox.waiting(START, limit=9, posts=2)
    locking = "SELECT post_id FROM announced_posts WHERE post_id = %s FOR UPDATE"

    with psycopg.connect(postgres_url.replace("+asyncpg", "", 1)) as other:
        other.execute(locking, [posts[1].id])
        batching = asyncio.create_task(
            acme.stores.mailbox.batch(waiting, "bat_1", changelog_ids=[changelog.id], at=later(minutes=2))
        )
        await until_they_wait([batching], postgres_url)
        other.rollback()
    assert await batching == 1


async def test_a_mail_is_taken_by_one_and_again_when_its_lease_has_ended(acme: Tenant) -> None:
    await changelog_of(acme)
    await requested(acme, "ann@example.org")
    mailbox, at = acme.stores.mailbox, later(minutes=2)

    taken = [mail for each in await asyncio.gather(*(take(acme) for _ in range(3))) for mail in each]
    assert [mail.attempts for mail in taken] == [1]
    assert await take(acme, at=at + _LEASE - timedelta(milliseconds=1)) == []
    [again] = await take(acme, at=at + _LEASE)
    assert (again.id, again.attempts, again.takes) == (taken[0].id, 1, 2)
    # The first lease has ended: its owner no longer owns the mail.
    await mailbox.record(taken[0], MailOutcome(status=MessageStatus.DELIVERED, at=at, due_at=at))
    await mailbox.requeue(again, due_at=at + _LEASE)
    [third] = await take(acme, at=at + _LEASE)
    # Only an attempt with an outcome counts.
    assert third.attempts == 1
    outcome = MailOutcome(status=MessageStatus.PENDING, at=at + _LEASE, due_at=later(hours=1), error="not now")
    await mailbox.record(third, outcome)
    assert await take(acme, at=later(minutes=59)) == []
    [fourth] = await take(acme, at=later(hours=1))
    assert fourth.attempts == 2
    await mailbox.record(fourth, MailOutcome(status=MessageStatus.DELIVERED, at=later(hours=1), due_at=later(hours=1)))
    assert await take(acme, at=later(days=9)) == []


async def test_confirmations_are_taken_first(acme: Tenant) -> None:
    await changelog_of(acme)
    made, _ = await confirmed(acme, "ann@example.org")
    await published(acme)
    [waiting] = await acme.stores.mailbox.waiting(START, limit=9, posts=9)
    await acme.stores.mailbox.batch(waiting, "bat_1", changelog_ids=[made.changelog_id], at=START)
    await requested(acme, "bob@example.org", at=later(minutes=1))

    assert [mail.kind for mail in await take(acme, limit=1)] == [MailKind.CONFIRMATION]
    assert [mail.kind for mail in await take(acme)] == [MailKind.POSTS]


async def test_organizations_take_turns_however_many_subscribers_one_of_them_has(stores: Stores) -> None:
    large, small = await tenant(stores, "large"), await tenant(stores, "small")
    for acme, names in ((large, ("ann", "bob", "cyd", "dee", "eve")), (small, ("flo", "gus"))):
        await changelog_of(acme)
        for name in names:
            await confirmed(acme, f"{name}@example.org")
    for minute, acme in enumerate((large, small)):
        at, changelog_id = later(minutes=minute), first_id(acme.id)
        await published(acme, at)
        [waiting] = await stores.mailbox.waiting(at, limit=9, posts=9)
        await stores.mailbox.batch(waiting, IDS.new_id("bat_"), changelog_ids=[changelog_id], at=at)

    turns = [[mail.subscriber.organization_id for mail in await take(large, limit=3)] for _ in range(3)]
    assert turns == [[large.id, small.id, large.id], [large.id, small.id, large.id], [large.id]]


async def test_taking_mails_reads_no_more_however_many_wait(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    await changelog_of(acme)
    subscriber, _ = await confirmed(acme, "ann@example.org")
    row: dict[str, Any] = {
        "organization_id": acme.id,
        "subscriber_id": subscriber.id,
        "kind": MailKind.POSTS.value,
        "status": MessageStatus.PENDING.value,
        "attempts": 0,
        "takes": 0,
        "created_at": 0,
    }
    steps: list[int] = []

    for many in range(2):
        rows = [row | {"id": f"{many}/{number}", "due_at": number} for number in range(9 + 990 * many)]
        await database.change(insert(mails).values(rows))
        with statements() as executed:
            assert len(await take(acme, limit=3)) == 3
        reading = [each for each in executed if each[0].startswith("WITH")]
        assert len(reading) == len(MailKind)
        steps.append(sum(_steps(database, statement, parameters) for statement, parameters in reading))

    assert steps[1] <= steps[0] + 10


def _steps(database: Database, statement: str, parameters: Any) -> int:
    """Return the hundreds of steps that SQLite takes for a query."""
    number = 0

    def count() -> int:
        nonlocal number
        number += 1
        return 0

    with closing(sqlite3.connect(file_of(database))) as connection:
        connection.set_progress_handler(count, 100)
        connection.execute(statement, parameters).fetchall()
    return number


async def test_an_unreadable_subscriber_holds_up_no_others(database: Database) -> None:
    acme = await tenant(SqlStores(database, RotatingSealer()))
    await changelog_of(acme)
    for address in ("torn@example.com", "whole@example.com"):
        await requested(acme, address)
    torn = update(subscribers).where(subscribers.c.address == "torn@example.com")
    await database.change(torn.values(status="of a newer version"))

    assert [mail.subscriber.address for mail in await take(acme)] == ["whole@example.com"]
    with pytest.raises(UnreadableRow, match="newer version"):
        await take(acme, at=later(minutes=2) + _LEASE, limit=1)
    assert [mail.subscriber.address for mail in await take(acme, at=later(minutes=2) + _LEASE)] == ["whole@example.com"]


async def test_old_mails_and_announcements_are_swept(acme: Tenant) -> None:
    changelog = await changelog_of(acme)
    await confirmed(acme, "ann@example.org")
    await published(acme)
    [waiting] = await acme.stores.mailbox.waiting(START, limit=9, posts=9)
    await acme.stores.mailbox.batch(waiting, "bat_1", changelog_ids=[changelog.id], at=later(hours=1))

    assert await acme.stores.mailbox.sweep(acme.id, before=START, limit=9) == 0
    # The confirmation and the announcement, then the mail with the post.
    assert await acme.stores.mailbox.sweep(acme.id, before=later(minutes=1), limit=9) == 2
    assert await acme.stores.mailbox.sweep(acme.id, before=later(days=1), limit=9) == 1
    assert await take(acme, at=later(days=1)) == []
