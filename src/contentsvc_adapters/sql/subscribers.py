from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, final

from sqlalchemy import Connection, delete, func, insert, select, update

from contentsvc_adapters.sql.row import read_row, row_of
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.mailing import mails, subscribers
from contentsvc_adapters.sql.store import SealedSqlStore, has_value, sweeping, writing
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.subscribers import (
    CONFIRM_WITHIN,
    MAX_PENDING,
    MAX_SUBSCRIBERS,
    MailKind,
    Subscriber,
    SubscriberStatus,
    subscription,
)
from contentsvc_core.timestamps import to_ms

_ASKED: Final = has_value(subscribers.c.status, SubscriberStatus.PENDING)
CONFIRMED: Final = subscribers.c.status == SubscriberStatus.CONFIRMED.value


@final
class SqlSubscribers(SealedSqlStore):
    @writing
    def request(
        self,
        connection: Connection,
        subscriber: Subscriber,
        token: str,
        *,
        at_most: int = MAX_SUBSCRIBERS,
        pending: int = MAX_PENDING,
    ) -> bool:
        sealed = {"sealed_token": self._sealer.seal(token)}
        own = subscribers.c.changelog_id == subscriber.changelog_id
        counting = select(func.count(), func.count().filter(_ASKED)).where(own)
        current = select(subscribers).where(own, subscribers.c.address == subscriber.address)
        # The lock serializes the counting of one organization's requests.
        owner = select(organizations.c.id).where(organizations.c.id == subscriber.organization_id)
        connection.execute(owner.with_for_update())
        # The same queries for known and unknown addresses.
        whole, unconfirmed = connection.execute(counting).one()
        found = connection.execute(current).first()
        existing = None if found is None else read_row(Subscriber, found)
        stored = subscription(subscriber, existing, is_full=whole >= at_most or unconfirmed >= pending)
        if isinstance(stored, bool):
            return stored
        row = row_of(stored) | sealed
        if existing is None:
            connection.execute(insert(subscribers), row)
        else:
            renewed = {name: row[name] for name in ("digest", "sealed_token", "created_at")}
            connection.execute(update(subscribers).where(subscribers.c.id == stored.id).values(renewed))
            connection.execute(delete(mails).where(mails.c.subscriber_id == stored.id))
        connection.execute(insert(mails), _confirmation(subscriber, stored.id))
        return True

    @writing
    def confirm(
        self, connection: Connection, digest: str, *, at: datetime, new_digest: str, new_token: str
    ) -> Subscriber | None:
        values = {
            "status": SubscriberStatus.CONFIRMED.value,
            "confirmed_at": to_ms(at),
            "digest": new_digest,
            "sealed_token": self._sealer.seal(new_token),
        }
        confirming = (
            update(subscribers)
            .where(subscribers.c.digest == digest, _ASKED, subscribers.c.created_at > to_ms(at - CONFIRM_WITHIN))
            .values(values)
        )
        reading = select(subscribers).where(subscribers.c.digest == new_digest)
        connection.execute(confirming)
        row = connection.execute(reading).first()
        return None if row is None else read_row(Subscriber, row)

    async def remove(self, digest: str) -> bool:
        return await self._database.change(delete(subscribers).where(subscribers.c.digest == digest)) > 0

    async def remove_address(self, organization_id: str, address: str) -> int:
        own = (subscribers.c.organization_id == organization_id) & (subscribers.c.address == address)
        return await self._database.change(delete(subscribers).where(own))

    async def subscribers(self, organization_id: str) -> Sequence[Subscriber]:
        query = (
            select(subscribers)
            .where(subscribers.c.organization_id == organization_id)
            .order_by(subscribers.c.changelog_id, subscribers.c.address)
        )
        return await self._database.values(query, partial(read_row, Subscriber))

    async def confirmed(self, organization_id: str) -> Mapping[str, int]:
        query = (
            select(subscribers.c.changelog_id, func.count().label("number"))
            .where(subscribers.c.organization_id == organization_id, CONFIRMED)
            .group_by(subscribers.c.changelog_id)
        )
        rows = await self._database.rows(query)
        return {row.changelog_id: row.number for row in rows}

    async def sweep(self, *, before: datetime, limit: int) -> int:
        old = select(subscribers.c.id).where(_ASKED, subscribers.c.created_at < to_ms(before))
        oldest = old.order_by(subscribers.c.created_at, subscribers.c.id).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, subscribers, oldest).where(_ASKED))


def _confirmation(subscriber: Subscriber, subscriber_id: str) -> dict[str, Any]:
    at = to_ms(subscriber.created_at)
    return {
        # A renewed request has a new id: another process may be sending the mail with the old id at this moment.
        "id": f"confirm/{subscriber.id}",
        "organization_id": subscriber.organization_id,
        "subscriber_id": subscriber_id,
        "kind": MailKind.CONFIRMATION.value,
        "status": MessageStatus.PENDING.value,
        "attempts": 0,
        "takes": 0,
        "created_at": at,
        "due_at": at,
    }
