from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Final, final

from sqlalchemy import Connection, delete, select, update

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.outgoing.message_rows import message_row
from contentsvc_adapters.sql.row import AnyRow, read_row, row_of
from contentsvc_adapters.sql.schema.outgoing import recipients, webhook_messages
from contentsvc_adapters.sql.store import SealedSqlStore, has_value, sweeping, writing
from contentsvc_core.outgoing.messages import Message
from contentsvc_core.outgoing.recipients import Addressee, Recipient, RecipientStatus
from contentsvc_core.outgoing.subscribers import CONFIRM_WITHIN
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import to_ms

_ASKED: Final = has_value(recipients.c.status, RecipientStatus.UNCONFIRMED)
_CONFIRMED: Final = recipients.c.status == RecipientStatus.CONFIRMED.value
_KEY: Final = ("organization_id", "address")


@final
class SqlRecipients(SealedSqlStore):
    @writing
    def ask(self, connection: Connection, recipient: Recipient, token: str, message: Message) -> None:
        row = row_of(recipient) | {"sealed_token": self._sealer.seal(token)}
        asking = self._database.dialect.insert(recipients).values(row)
        renewed = {name: row[name] for name in ("digest", "sealed_token", "asked_at")}
        asking = asking.on_conflict_do_update(index_elements=list(_KEY), set_=renewed, where=_ASKED)
        sending = self._database.dialect.insert(webhook_messages).on_conflict_do_nothing(index_elements=["id"])
        if connection.execute(asking).rowcount:
            connection.execute(sending, message_row(message))

    @writing
    def confirm(
        self, connection: Connection, digest: str, *, at: datetime, new_digest: str, new_token: str
    ) -> Recipient | None:
        own = recipients.c.digest == digest
        confirmed = {"status": RecipientStatus.CONFIRMED.value, "confirmed_at": to_ms(at)}
        renewed = {"digest": new_digest, "sealed_token": self._sealer.seal(new_token)}
        in_time = recipients.c.asked_at > to_ms(at - CONFIRM_WITHIN)
        first = update(recipients).where(own, _ASKED, in_time).values({**confirmed, **renewed})
        again = update(recipients).where(own, ~_ASKED, ~_CONFIRMED).values(confirmed)
        reading = select(recipients).where(_CONFIRMED)
        connection.execute(first)
        # After an unknown outcome, the transaction runs again: the new digest shows the first result.
        row = connection.execute(reading.where(recipients.c.digest == new_digest)).first()
        if row is None:
            connection.execute(again)
            row = connection.execute(reading.where(own)).first()
        return None if row is None else read_row(Recipient, row)

    @writing
    def leave(self, connection: Connection, digest: str) -> Recipient | None:
        own = recipients.c.digest == digest
        leaving = update(recipients).where(own).values(status=RecipientStatus.REMOVED.value, confirmed_at=None)
        connection.execute(leaving)
        row = connection.execute(select(recipients).where(own)).first()
        return None if row is None else read_row(Recipient, row)

    async def recipients(self, organization_id: str) -> Sequence[Recipient]:
        query = select(recipients).where(recipients.c.organization_id == organization_id).order_by(recipients.c.address)
        return await self._database.values(query, partial(read_row, Recipient))

    @writing
    def give_token(self, connection: Connection, recipient: Recipient, *, digest: str, token: str) -> str | None:
        own = (recipients.c.organization_id == recipient.organization_id) & (recipients.c.address == recipient.address)
        values = {"digest": digest, "sealed_token": self._sealer.seal(token)}
        row = connection.execute(select(recipients).where(own).with_for_update()).first()
        if row is None:
            return None
        if row.digest != recipient.digest:
            return self._sealer.open(row.sealed_token)
        connection.execute(update(recipients).where(own).values(values))
        return token

    async def forget(self, organization_id: str, *, used: Collection[str]) -> int:
        own = (recipients.c.organization_id == organization_id, _CONFIRMED)
        forgetting = delete(recipients).where(*own, recipients.c.address.not_in(sorted(used)))
        return await self._database.change(forgetting)

    async def sweep(self, *, before: datetime, limit: int) -> int:
        key = [recipients.c[name] for name in _KEY]
        old = select(*key).where(_ASKED, recipients.c.asked_at < to_ms(before))
        oldest = old.order_by(recipients.c.asked_at, *key).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, recipients, oldest).where(_ASKED))


def recipient_rows(
    connection: Connection, organization_ids: Collection[str], addresses: Collection[str]
) -> dict[tuple[str, str], AnyRow]:
    """Return the rows of recipients among addresses of organizations, by organization and address."""
    query = select(recipients).where(
        recipients.c.organization_id.in_(sorted(organization_ids)), recipients.c.address.in_(sorted(addresses))
    )
    return {(row.organization_id, row.address): row for row in connection.execute(query)}


def addressee_of(row: AnyRow, sealer: SecretSealer) -> Addressee:
    return Addressee(
        recipient=read_row(Recipient, row),
        token=None if row.sealed_token is None else next(iter(opened(sealer, [row.sealed_token])), None),
    )
