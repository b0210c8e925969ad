from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, final

from sqlalchemy import Connection, select, update

from contentsvc_adapters.sql.outgoing.enqueue import enqueue, wants
from contentsvc_adapters.sql.row import read_row
from contentsvc_adapters.sql.schema.directory import integrations
from contentsvc_adapters.sql.schema.outgoing import integration_alerts, webhook_endpoints
from contentsvc_adapters.sql.store import SqlStore, writing
from contentsvc_core.outgoing.events import EventType, Occurrence
from contentsvc_core.outgoing.failing import IntegrationAlert
from contentsvc_core.timestamps import to_ms

_WATCHED: Final = (EventType.INTEGRATION_FAILING, EventType.INTEGRATION_RECOVERED)


@final
class SqlAlerts(SqlStore):
    async def watched(self) -> Sequence[str]:
        query = select(
            webhook_endpoints.c.organization_id, webhook_endpoints.c.event_types, webhook_endpoints.c.format
        ).where(webhook_endpoints.c.enabled)
        rows = await self._database.rows(query)
        return sorted({row.organization_id for row in rows if any(wants(row, kind) for kind in _WATCHED)})

    async def alerts(self, organization_id: str) -> Mapping[str, IntegrationAlert]:
        query = (
            select(integration_alerts)
            .join(integrations, integrations.c.id == integration_alerts.c.integration_id)
            .where(integrations.c.organization_id == organization_id)
        )
        rows = await self._database.rows(query)
        return {row.integration_id: read_row(IntegrationAlert, row) for row in rows}

    @writing
    def begin(self, connection: Connection, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        dialect = self._database.dialect
        # The lock keeps the integration until the transaction ends.
        current = select(integrations.c.id).where(integrations.c.id == integration_id).with_for_update()
        row = {"integration_id": integration_id, "failing_since": to_ms(at), "recovered_at": None}
        beginning = dialect.insert(integration_alerts).values(row)
        beginning = beginning.on_conflict_do_update(
            index_elements=["integration_id"],
            set_={"failing_since": row["failing_since"], "recovered_at": None},
            where=integration_alerts.c.recovered_at.is_not(None),
        )
        if connection.execute(current).first() is None or not connection.execute(beginning).rowcount:
            return False
        enqueue(connection, dialect, [event])
        return True

    @writing
    def end(self, connection: Connection, integration_id: str, event: Occurrence, *, at: datetime) -> bool:
        ending = (
            update(integration_alerts)
            .where(integration_alerts.c.integration_id == integration_id, integration_alerts.c.recovered_at.is_(None))
            .values(recovered_at=to_ms(at))
        )
        if not connection.execute(ending).rowcount:
            return False
        enqueue(connection, self._database.dialect, [event])
        return True
