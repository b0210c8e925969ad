from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, final

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Delete,
    FromClause,
    Integer,
    Select,
    Subquery,
    Table,
    Update,
    bindparam,
    func,
    insert,
    literal,
    select,
    update,
)

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.leases import held, is_free, outcome_values, released
from contentsvc_adapters.sql.row import AnyRow, read_leased, read_row
from contentsvc_adapters.sql.schema.mailing import announced_posts, mails, subscribers
from contentsvc_adapters.sql.store import SealedSqlStore, distinct_values, has_value, reading, sweeping, writing
from contentsvc_adapters.sql.subscribers import CONFIRMED
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.outgoing.events import EventType, Occurrence
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.subscribers import (
    AnnouncedPost,
    LeasedMail,
    MailKind,
    MailOutcome,
    Subscriber,
    WaitingPosts,
)
from contentsvc_core.timestamps import MILLISECOND, from_ms, to_ms

_PENDING: Final = has_value(mails.c.status, MessageStatus.PENDING)
_OWNERS: Final[Select[*tuple[Any, ...]]] = (
    select(subscribers.c.organization_id)
    .where(subscribers.c.organization_id.in_(bindparam("organizations", expanding=True)), CONFIRMED)
    .distinct()
)


def announce(connection: Connection, dialect: Dialect, occurrences: Iterable[Occurrence]) -> None:
    published = [occurrence for occurrence in occurrences if occurrence.type is EventType.POST_PUBLISHED]
    if not published:
        return
    owners = sorted({occurrence.organization_id for occurrence in published})
    subscribed = set(connection.scalars(_OWNERS, {"organizations": owners}))
    values = [
        {
            "post_id": occurrence.data["id"],
            "organization_id": occurrence.organization_id,
            "created_at": to_ms(occurrence.since),
        }
        for occurrence in published
        if occurrence.organization_id in subscribed
    ]
    if values:
        # All transactions insert in the same order, so that they cannot deadlock.
        values.sort(key=lambda row: row["post_id"])
        adding = dialect.insert(announced_posts).on_conflict_do_nothing(index_elements=["post_id"])
        connection.execute(adding.values(values))


@final
class SqlMailbox(SealedSqlStore):
    @cached_property
    def _due(self) -> Sequence[Select[str]]:
        return [_heads(self._database.dialect, kind) for kind in MailKind]

    @reading
    def waiting(self, connection: Connection, before: datetime, *, limit: int, posts: int) -> Sequence[WaitingPosts]:
        none = announced_posts.c.batch_id.is_(None)
        first = func.min(announced_posts.c.created_at)
        owners = (
            select(announced_posts.c.organization_id)
            .where(none)
            .group_by(announced_posts.c.organization_id)
            .having(first <= to_ms(before))
            .order_by(first)
            .limit(limit)
        )
        own = (
            select(announced_posts)
            .where(none, announced_posts.c.organization_id == bindparam("owner"))
            .order_by(announced_posts.c.created_at, announced_posts.c.post_id)
            .limit(posts)
        )
        return [
            WaitingPosts(
                organization_id=owner, posts=[_announced(row) for row in connection.execute(own, {"owner": owner})]
            )
            for owner in connection.scalars(owners).all()
        ]

    @writing
    def batch(
        self,
        connection: Connection,
        waiting: WaitingPosts,
        batch_id: str,
        *,
        changelog_ids: Sequence[str],
        at: datetime,
    ) -> int:
        """Assign posts to a batch; one statement writes all mails."""
        ids = sorted(each.post_id for each in waiting.posts)
        # Locked in one order, and not skipped: of processes that each lock one of the posts, none would batch them.
        free = (
            select(announced_posts.c.post_id)
            .where(announced_posts.c.post_id.in_(ids), announced_posts.c.batch_id.is_(None))
            .order_by(announced_posts.c.post_id)
            .with_for_update()
        )
        putting = update(announced_posts).where(announced_posts.c.post_id.in_(ids)).values(batch_id=batch_id)
        names = ("id", "organization_id", "subscriber_id", "kind", "batch_id", "status", "attempts", "takes")
        mailing = insert(mails).from_select(
            [*names, "created_at", "due_at"],
            select(
                literal(f"{batch_id}/") + subscribers.c.id,
                subscribers.c.organization_id,
                subscribers.c.id,
                literal(MailKind.POSTS.value),
                literal(batch_id),
                literal(MessageStatus.PENDING.value),
                literal(0),
                literal(0),
                literal(to_ms(at)),
                literal(to_ms(at)),
            ).where(
                subscribers.c.organization_id == waiting.organization_id,
                subscribers.c.changelog_id.in_(changelog_ids),
                CONFIRMED,
            ),
        )
        if len(connection.scalars(free).all()) < len(ids):
            return 0
        connection.execute(putting)
        return connection.execute(mailing).rowcount

    async def posts(self, batch_id: str) -> Sequence[AnnouncedPost]:
        query = (
            select(announced_posts)
            .where(announced_posts.c.batch_id == batch_id)
            .order_by(announced_posts.c.created_at, announced_posts.c.post_id)
        )
        return await self._database.values(query, _announced)

    async def take(self, *, limit: int, now: datetime, lease: timedelta) -> Sequence[LeasedMail]:
        parameters = {"now": to_ms(now), "most": limit}

        def look(connection: Connection) -> list[str]:
            return [id_ for query in self._due for id_ in connection.scalars(query, parameters)][:limit]

        ids = await self._database.read(look)
        if not ids:
            return ()
        dialect = self._database.dialect
        free = dialect.locking(
            select(mails.c.id).where(mails.c.id.in_(ids), _PENDING, is_free(mails, dialect, to_ms(now)))
        )
        taking = (
            update(mails)
            .where(mails.c.id.in_(free))
            .values(takes=mails.c.takes + 1, **held(dialect, lease // MILLISECOND, now_ms=to_ms(now)))
            .returning(mails.c.id)
        )
        columns = [mails.c[name].label(f"mail_{name}") for name in mails.c.keys()]  # noqa: SIM118  # no mapping

        def take(connection: Connection) -> list[LeasedMail] | UnreadableRow:
            owned = connection.scalars(taking).all()
            reading = (
                select(subscribers, *columns)
                .join(subscribers, subscribers.c.id == mails.c.subscriber_id)
                .where(mails.c.id.in_(owned))
            )
            by_id = {row.mail_id: row for row in connection.execute(reading)}
            return read_leased({id_: by_id[id_] for id_ in ids if id_ in by_id}, self._taken, "mail")

        taken = await self._database.write(take)
        if isinstance(taken, UnreadableRow):
            raise taken
        return taken

    def _taken(self, row: AnyRow) -> LeasedMail:
        return LeasedMail(
            id=row.mail_id,
            kind=MailKind(row.mail_kind),
            subscriber=read_row(Subscriber, row),
            token=next(iter(opened(self._sealer, [row.sealed_token])), None),
            batch_id=row.mail_batch_id,
            # A process that is killed stores no outcome, and its attempt does not count.
            attempts=row.mail_attempts + 1,
            takes=row.mail_takes,
            created_at=from_ms(row.mail_created_at),
        )

    async def record(self, taken: LeasedMail, outcome: MailOutcome) -> None:
        ending = _changing(taken).values(
            attempts=taken.attempts,
            error=outcome.error,
            **outcome_values(self._database.dialect, outcome.status, at=outcome.at, due_at=outcome.due_at),
        )
        await self._database.change(ending)

    async def errors(self, organization_id: str) -> Mapping[str, str]:
        query = (
            select(mails.c.subscriber_id, mails.c.error)
            .where(
                mails.c.organization_id == organization_id,
                mails.c.error.is_not(None),
                has_value(mails.c.status, MessageStatus.FAILED),
            )
            .order_by(mails.c.created_at, mails.c.id)
        )
        return {row.subscriber_id: row.error for row in await self._database.rows(query)}

    async def requeue(self, taken: LeasedMail, *, due_at: datetime) -> None:
        await self._database.change(_changing(taken).values(released(due_at)))

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        def oldest(table: Table, key: Column[str]) -> Delete:
            old = select(key).where(table.c.organization_id == organization_id, table.c.created_at < to_ms(before))
            return sweeping(self._database.dialect, table, old.order_by(table.c.created_at, key).limit(limit))

        both = [oldest(mails, mails.c.id), oldest(announced_posts, announced_posts.c.post_id)]
        return await self._database.write(lambda connection: sum(connection.execute(each).rowcount for each in both))


def _heads(dialect: Dialect, kind: MailKind) -> Select[str]:
    """Create the query for the first mails of all organizations, in turns: a large batch holds up no other one.

    As in the ledger, the first mail of each organization is read, and several mails of a few organizations.
    """
    mine = mails.alias("mine")
    most = bindparam("most", type_=Integer)

    def first(outer: FromClause, number: BindParameter[int] | int) -> Subquery:
        inner = (
            select(mine.c.id, mine.c.organization_id, mine.c.due_at)
            .where(
                has_value(mine.c.status, MessageStatus.PENDING),
                has_value(mine.c.kind, kind),
                mine.c.organization_id == outer.c.organization_id,
                is_free(mine, dialect, bindparam("now")),
            )
            .order_by(mine.c.due_at, mine.c.id)
            .limit(number)
            .correlate(outer)
        )
        return dialect.for_each(outer, inner, of=mails)

    one = first(distinct_values(mails.c.organization_id, _PENDING & has_value(mails.c.kind, kind)), 1)
    leading = select(one.c.organization_id).order_by(one.c.due_at, one.c.id).limit(most).cte("leading")
    several = first(leading, most)
    order = (several.c.due_at, several.c.id)
    turn = func.row_number().over(partition_by=several.c.organization_id, order_by=order)
    return select(several.c.id).order_by(turn, *order).limit(most)


def _changing(taken: LeasedMail) -> Update:
    return update(mails).where(mails.c.id == taken.id, _PENDING, mails.c.takes == taken.takes)


def _announced(row: AnyRow) -> AnnouncedPost:
    return AnnouncedPost(post_id=row.post_id, at=from_ms(row.created_at))
