from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any, Final, final

from sqlalchemy import (
    BindParameter,
    Case,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Update,
    bindparam,
    case,
    func,
    literal_column,
    select,
    update,
)

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.entries import add_entry, finishing
from contentsvc_adapters.sql.leases import held, is_free, outcome_values, released
from contentsvc_adapters.sql.outgoing.enqueue import enqueue
from contentsvc_adapters.sql.outgoing.message_rows import KNOWN_FORMAT, message_of, message_row
from contentsvc_adapters.sql.outgoing.recipients import addressee_of, recipient_rows
from contentsvc_adapters.sql.row import AnyRow, json_of, read_leased
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints, webhook_messages
from contentsvc_adapters.sql.store import (
    SealedSqlStore,
    distinct_values,
    has_value,
    is_own,
    of_organization,
    sweeping,
    writing,
)
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.organizations import within_shares
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import (
    Attempted,
    DueMessage,
    FreePlaces,
    LeasedMessage,
    Message,
    MessageStatus,
    begun,
)
from contentsvc_core.outgoing.targets import addresses_of
from contentsvc_core.timestamps import MILLISECOND, to_ms

_PENDING: Final = has_value(webhook_messages.c.status, MessageStatus.PENDING)
_SERVED: Final = webhook_endpoints.c.enabled & KNOWN_FORMAT
_BY_MAIL: Final = select(webhook_endpoints.c.id).where(webhook_endpoints.c.format == EndpointFormat.EMAIL.value)
#: The messages that wait at once for a busy endpoint; the others get the same answer, and then wait as well.
_DELAYED: Final = 500


@final
class SqlOutbox(SealedSqlStore):
    @cached_property
    def _any_due(self) -> Select[str]:
        return select(webhook_messages.c.id).where(_PENDING, self._is_free(bindparam("now"))).limit(literal_column("1"))

    @cached_property
    def _due(self) -> dict[bool, Select[*tuple[Any, ...]]]:
        return {failing: _heads(self._database.dialect, is_failing=failing) for failing in (False, True)}

    async def add(self, message: Message) -> None:
        adding = self._database.dialect.insert(webhook_messages).on_conflict_do_nothing(index_elements=["id"])
        row = message_row(message)
        await self._database.write(lambda connection: connection.execute(adding, row))

    async def due(self, now: datetime, places: FreePlaces) -> Sequence[DueMessage]:
        if places.limit <= 0 or places.per_endpoint <= 0:
            return ()
        # Most polls of an idle process end here.
        if not await self._database.poll(self._any_due, now=to_ms(now)):
            return ()
        parameters = {
            "now": to_ms(now),
            "share": places.per_endpoint,
            "turns": places.per_organization,
            "without": sorted(places.without),
            "full": sorted(each for each, number in places.sending.items() if number >= places.per_organization),
        }

        def read(connection: Connection) -> list[DueMessage]:
            messages: list[DueMessage] = []
            for is_failing, most in ((False, places.limit), (True, places.failing)):
                left = min(most, places.limit - len(messages))
                if left > 0:
                    messages += [
                        DueMessage(
                            id=row.id,
                            organization_id=row.organization_id,
                            endpoint_id=row.endpoint_id,
                            is_failing=is_failing,
                        )
                        for row in connection.execute(self._due[is_failing], {**parameters, "most": left})
                    ]
            # The statement knows which organizations are full, but not how much of its share each other one has left.
            # The first message of each such organization is in the result, so the cut always leaves some.
            return within_shares(messages, per_organization=places.per_organization, at_work=places.sending)

        return await self._database.read(read)

    async def take(
        self, ids: Sequence[str], *, now: datetime, lease: timedelta, mail_lease: timedelta | None = None
    ) -> Sequence[LeasedMessage]:
        if not ids:
            return ()
        by_mail = webhook_messages.c.endpoint_id.in_(_BY_MAIL)
        lease_ms = case((by_mail, (mail_lease or lease) // MILLISECOND), else_=lease // MILLISECOND)
        taken = await self._database.write(partial(self._take, list(dict.fromkeys(ids)), now, lease_ms))
        if isinstance(taken, UnreadableRow):
            raise taken
        return taken

    def _take(
        self, ids: list[str], now: datetime, lease_ms: Case[int], connection: Connection
    ) -> Sequence[LeasedMessage] | UnreadableRow:
        on = select(webhook_endpoints.c.id).where(_SERVED)
        free = self._database.dialect.locking(
            select(webhook_messages.c.id).where(
                webhook_messages.c.id.in_(ids),
                _PENDING,
                self._is_free(to_ms(now)),
                webhook_messages.c.endpoint_id.in_(on),
            )
        )
        taking = (
            update(webhook_messages)
            .where(webhook_messages.c.id.in_(free))
            .values(
                takes=webhook_messages.c.takes + 1,
                **held(self._database.dialect, lease_ms, now_ms=to_ms(now)),
                occurred_at=func.coalesce(webhook_messages.c.occurred_at, to_ms(now)),
            )
            .returning(webhook_messages.c.id)
        )
        owned = connection.scalars(taking).all()
        if not owned:
            return ()
        reading = (
            select(
                webhook_messages,
                webhook_endpoints.c.url,
                webhook_endpoints.c.format,
                webhook_endpoints.c.description,
                webhook_endpoints.c.sealed_secret,
                webhook_endpoints.c.sealed_previous,
                webhook_endpoints.c.previous_until,
                webhook_endpoints.c.failures,
            )
            .join(webhook_endpoints, webhook_endpoints.c.id == webhook_messages.c.endpoint_id)
            .where(webhook_messages.c.id.in_(owned))
        )
        by_id = {row.id: row for row in connection.execute(reading)}
        mails = [row for row in by_id.values() if row.format == EndpointFormat.EMAIL.value]
        entered = {address for row in mails for address in addresses_of(row.url)}
        known = recipient_rows(connection, {row.organization_id for row in mails}, entered) if mails else {}
        ordered = {id_: by_id[id_] for id_ in ids if id_ in by_id}
        return read_leased(ordered, lambda row: self._taken(row, to_ms(now), known), "message")

    def _taken(self, row: AnyRow, now_ms: int, known: Mapping[tuple[str, str], AnyRow]) -> LeasedMessage:
        sealed = [row.sealed_secret]
        if row.sealed_previous is not None and row.previous_until > now_ms:
            sealed.append(row.sealed_previous)
        secrets = opened(self._sealer, sealed)
        return LeasedMessage(
            message=begun(message_of(row)),
            url=row.url,
            format=EndpointFormat(row.format),
            description=row.description,
            secrets=secrets,
            addressees=[
                addressee_of(known[row.organization_id, address], self._sealer)
                for address in addresses_of(row.url)
                if (row.organization_id, address) in known
            ],
            is_failing=row.failures > 0,
        )

    @writing
    def record(self, connection: Connection, attempted: Attempted) -> None:
        message, log = attempted.taken.message, attempted.log
        ending = _changing(attempted.taken).values(
            attempts=message.attempts,
            **outcome_values(self._database.dialect, attempted.status, at=attempted.at, due_at=attempted.due_at),
            log_id=log.id,
            logged_at=to_ms(log.created_at),
            delivered_to=json_of(attempted.delivered_to) if attempted.delivered_to else None,
        )
        endpoint = update(webhook_endpoints).where(
            webhook_endpoints.c.organization_id == message.organization_id,
            webhook_endpoints.c.id == message.endpoint_id,
        )
        failures = webhook_endpoints.c.failures
        # A statement without an effect would still lock the endpoint's row.
        noting = (
            endpoint.where(failures > 0).values(failures=0)
            if attempted.succeeded
            else endpoint.values(failures=failures + 1)
        )
        if not connection.execute(ending).rowcount:
            return
        if attempted.succeeded is not None:
            connection.execute(noting)
        if attempted.disables is not None:
            off = endpoint.where(webhook_endpoints.c.enabled)
            switched = connection.execute(off.values(enabled=False, disabled_reason=attempted.disables)).rowcount
            if switched and attempted.event is not None:
                enqueue(connection, self._database.dialect, [attempted.event])
        if attempted.busy_until is not None:
            connection.execute(self._delaying(message, to_ms(attempted.busy_until), now_ms=to_ms(attempted.at)))
        if message.log_id is None:
            add_entry(connection, self._database.dialect, log)
        else:
            connection.execute(finishing(log))

    def _delaying(self, message: Message, until_ms: int, *, now_ms: int) -> Update:
        waiting = select(webhook_messages.c.id).where(
            webhook_messages.c.endpoint_id == message.endpoint_id,
            _PENDING,
            self._is_free(now_ms),
        )
        free = self._database.dialect.locking(waiting.order_by(webhook_messages.c.id).limit(_DELAYED))
        waits = held(self._database.dialect, max(0, until_ms - now_ms), now_ms=now_ms)
        return update(webhook_messages).where(webhook_messages.c.id.in_(free)).values(waits)

    def _is_free(self, now: BindParameter[int] | int) -> ColumnElement[bool]:
        return is_free(webhook_messages, self._database.dialect, now)

    async def requeue(self, taken: LeasedMessage, *, due_at: datetime) -> None:
        await self._database.change(_changing(taken).values(released(due_at)))

    async def message(self, organization_id: str, message_id: str) -> Message | None:
        query = select(webhook_messages).where(is_own(webhook_messages, organization_id, message_id))
        return await self._database.first(query, message_of)

    @writing
    def resend(self, connection: Connection, organization_id: str, message_id: str, *, due_at: datetime) -> bool:
        own = is_own(webhook_messages, organization_id, message_id)
        # The raised count of takes invalidates a current attempt: its result is not written.
        again = {"attempts": 0, "takes": webhook_messages.c.takes + 1, **released(due_at)}
        ended = {"status": MessageStatus.PENDING.value, "log_id": None, "logged_at": None, "delivered_to": None}
        if connection.execute(update(webhook_messages).where(own, ~_PENDING).values({**again, **ended})).rowcount:
            return True
        return connection.execute(update(webhook_messages).where(own).values(again)).rowcount > 0

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        own = of_organization(webhook_messages, organization_id).with_only_columns(webhook_messages.c.id)
        oldest = own.where(webhook_messages.c.created_at < to_ms(before)).limit(limit)
        return await self._database.change(sweeping(self._database.dialect, webhook_messages, oldest))


def _changing(taken: LeasedMessage) -> Update:
    message = taken.message
    return update(webhook_messages).where(
        is_own(webhook_messages, message.organization_id, message.id),
        _PENDING,
        webhook_messages.c.takes == message.takes,
        webhook_messages.c.due_at == to_ms(message.due_at),
    )


def _heads(dialect: Dialect, *, is_failing: bool) -> Select[*tuple[Any, ...]]:
    messages = webhook_messages.alias("mine")
    failures = webhook_endpoints.c.failures
    endpoint = webhook_messages.c.endpoint_id
    waiting = distinct_values(endpoint, _PENDING & endpoint.not_in(bindparam("without", expanding=True)))
    on = (
        select(webhook_endpoints.c.id)
        .join(waiting, waiting.c.endpoint_id == webhook_endpoints.c.id)
        .where(
            _SERVED,
            failures > 0 if is_failing else failures == 0,
            webhook_endpoints.c.organization_id.not_in(bindparam("full", expanding=True)),
        )
        .cte("ready")
    )
    inner = (
        select(messages.c.id, messages.c.organization_id, messages.c.endpoint_id, messages.c.due_at)
        .where(
            has_value(messages.c.status, MessageStatus.PENDING),
            messages.c.endpoint_id == on.c.id,
            is_free(messages, dialect, bindparam("now")),
        )
        .order_by(messages.c.due_at, messages.c.id)
        .limit(bindparam("share", type_=Integer))
        .correlate(on)
    )
    heads = dialect.for_each(on, inner, of=webhook_messages)
    turn = func.row_number().over(partition_by=heads.c.organization_id, order_by=(heads.c.due_at, heads.c.id))
    ranked = select(heads, turn.label("turn")).subquery("ranked")
    return (
        select(ranked.c.id, ranked.c.organization_id, ranked.c.endpoint_id)
        .where(ranked.c.turn <= bindparam("turns", type_=Integer))
        .order_by(ranked.c.turn, ranked.c.due_at, ranked.c.id)
        .limit(bindparam("most", type_=Integer))
    )
