from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, final

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.outgoing.message_rows import KNOWN_FORMAT, endpoint_of, endpoint_row
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.schema.deliveries import log_entries
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.outgoing import webhook_endpoints, webhook_messages
from contentsvc_adapters.sql.store import SealedSqlStore, is_own, of_organization, writing, writing_once
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogStatus
from contentsvc_core.outgoing.endpoints import MAX_ENDPOINTS, TOO_MANY_ENDPOINTS, WebhookEndpoint
from contentsvc_core.outgoing.messages import ENDPOINT_DELETED, MessageStatus
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms

_CUT_OFF: Final = (
    update(log_entries)
    .where(
        log_entries.c.organization_id == bindparam("owner"),
        log_entries.c.created_at == bindparam("at"),
        log_entries.c.id == bindparam("entry"),
        log_entries.c.status == LogStatus.PENDING.value,
    )
    .values(status=LogStatus.FAILED.value, error_message=ENDPOINT_DELETED)
)


@final
class SqlWebhookEndpoints(SealedSqlStore):
    @writing
    def add(self, connection: Connection, endpoint: WebhookEndpoint, secret: str) -> WebhookEndpoint | Refusal:
        row = endpoint_row(endpoint) | {"sealed_secret": self._sealer.seal(secret)}
        owner = endpoint.organization_id
        own = select(func.count()).select_from(webhook_endpoints).where(webhook_endpoints.c.organization_id == owner)
        # The lock serializes the counting of one organization's endpoints.
        connection.execute(select(organizations.c.id).where(organizations.c.id == owner).with_for_update())
        current = connection.execute(select(webhook_endpoints).where(webhook_endpoints.c.id == endpoint.id)).first()
        if current is not None:
            if current.organization_id != owner:
                raise Unstorable.of_another(endpoint.id)
            return endpoint_of(current)
        if (connection.scalar(own) or 0) >= MAX_ENDPOINTS:
            return TOO_MANY_ENDPOINTS
        connection.execute(insert(webhook_endpoints), row)
        return endpoint

    async def endpoint(self, organization_id: str, endpoint_id: str) -> WebhookEndpoint | None:
        query = select(webhook_endpoints).where(_own(organization_id, endpoint_id))
        return await self._database.first(query, endpoint_of)

    async def endpoints(self, organization_id: str) -> Sequence[WebhookEndpoint]:
        return await self._database.values(
            of_organization(webhook_endpoints, organization_id).where(KNOWN_FORMAT), endpoint_of
        )

    @writing
    def change(
        self,
        connection: Connection,
        organization_id: str,
        endpoint_id: str,
        change: Callable[[WebhookEndpoint], WebhookEndpoint],
    ) -> WebhookEndpoint | None:
        own = _own(organization_id, endpoint_id)
        current = _locked(connection, own)
        if current is None:
            return None
        before = endpoint_of(current)
        changed = change(before)
        row = endpoint_row(changed)
        if changed.event_types == before.event_types:
            # The stored types may include types of a newer version.
            del row["event_types"]
        connection.execute(update(webhook_endpoints).where(own).values(row))
        return changed

    @writing
    def rotate(
        self, connection: Connection, organization_id: str, endpoint_id: str, secret: str, *, overlap_until: datetime
    ) -> WebhookEndpoint | None:
        own = _own(organization_id, endpoint_id)
        sealed = self._sealer.seal(secret)
        current = _locked(connection, own)
        if current is None:
            return None
        if opened(self._sealer, [current.sealed_secret]) == [secret]:
            return endpoint_of(current)
        values: dict[str, Any] = {
            "sealed_secret": sealed,
            "sealed_previous": current.sealed_secret,
            "previous_until": to_ms(overlap_until),
        }
        connection.execute(update(webhook_endpoints).where(own).values(values))
        rotated = connection.execute(select(webhook_endpoints).where(own)).one()
        return endpoint_of(rotated)

    @writing_once
    def remove(self, connection: Connection, organization_id: str, endpoint_id: str) -> bool:
        own = is_own(webhook_endpoints, organization_id, endpoint_id)
        its = (
            webhook_messages.c.endpoint_id == endpoint_id,
            webhook_messages.c.organization_id == organization_id,
        )
        unended = select(webhook_messages.c.log_id, webhook_messages.c.logged_at).where(
            *its,
            webhook_messages.c.status == MessageStatus.PENDING.value,
            webhook_messages.c.log_id.is_not(None),
        )
        if _locked(connection, own) is None:
            return False
        cut_off = [
            {"owner": organization_id, "at": row.logged_at, "entry": row.log_id} for row in connection.execute(unended)
        ]
        if cut_off:
            connection.execute(_CUT_OFF, cut_off)
        connection.execute(delete(webhook_messages).where(*its))
        connection.execute(delete(webhook_endpoints).where(own))
        return True

    async def sweep_secrets(self, now: datetime) -> int:
        sweeping = (
            update(webhook_endpoints)
            .where(webhook_endpoints.c.previous_until <= to_ms(now))
            .values(sealed_previous=None, previous_until=None)
        )
        return await self._database.change(sweeping)


def _own(organization_id: str, endpoint_id: str) -> ColumnElement[bool]:
    return is_own(webhook_endpoints, organization_id, endpoint_id) & KNOWN_FORMAT


def _locked(connection: Connection, own: ColumnElement[bool]) -> AnyRow | None:
    return connection.execute(select(webhook_endpoints).where(own).with_for_update()).first()
