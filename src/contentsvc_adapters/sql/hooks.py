from datetime import datetime
from typing import final

from sqlalchemy import Connection, delete, insert, select, update

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.configuration import change_configuration
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.row_loader import RowLoader
from contentsvc_adapters.sql.schema.directory import integrations, webhook_secrets
from contentsvc_adapters.sql.store import is_own
from contentsvc_core.code_hosts import HookAccess
from contentsvc_core.ports import SecretSealer
from contentsvc_core.timestamps import to_ms


@final
class SqlHooks:
    def __init__(self, database: Database, sealer: SecretSealer) -> None:
        self._database = database
        self._sealer = sealer
        reached = select(
            integrations.c.id, integrations.c.organization_id, integrations.c.hook_id, integrations.c.sealed_token
        )
        self._reached = RowLoader(database, reached, integrations.c.id, self._access_of)

    async def rotate_secret(
        self, organization_id: str, integration_id: str, secret: str, *, at: datetime, overlap_until: datetime
    ) -> bool:
        own = is_own(integrations, organization_id, integration_id)
        sealed, at_ms, until_ms = self._sealer.seal(secret), to_ms(at), to_ms(overlap_until)

        def rotate(connection: Connection) -> bool:
            id_ = connection.scalar(select(integrations.c.id).where(own))
            if id_ is None:
                return False
            its = webhook_secrets.c.integration_id == id_
            newest_first = select(webhook_secrets.c.id, webhook_secrets.c.sealed).where(its)
            newest = connection.execute(newest_first.order_by(webhook_secrets.c.id.desc()).limit(1)).first()
            if newest is not None and opened(self._sealer, [newest.sealed]) == [secret]:
                return True
            expires_at = webhook_secrets.c.expires_at
            ends_later = its & (expires_at.is_(None) | (expires_at > until_ms))
            connection.execute(update(webhook_secrets).where(ends_later).values(expires_at=until_ms))
            if newest is not None:
                # The replaced secret explains refusals, even if it verifies no more.
                older = webhook_secrets.c.id != newest.id
                connection.execute(delete(webhook_secrets).where(its, older, expires_at <= at_ms))
            connection.execute(insert(webhook_secrets), {"integration_id": id_, "sealed": sealed, "created_at": at_ms})
            return True

        return await change_configuration(self._database, organization_id, rotate)

    async def sweep_secrets(self, before: datetime) -> int:
        """Delete expired secrets. They no longer verified, so the version stays the same."""
        sweeping = delete(webhook_secrets).where(webhook_secrets.c.expires_at <= to_ms(before))
        return await self._database.change(sweeping)

    async def access(self, organization_id: str, integration_id: str) -> HookAccess | None:
        return await self._reached.find(organization_id, integration_id)

    def _access_of(self, row: AnyRow) -> HookAccess:
        token = None if row.sealed_token is None else self._sealer.open(row.sealed_token)
        return HookAccess(hook_id=row.hook_id, token=token)

    async def note_hook(self, organization_id: str, integration_id: str, hook_id: str) -> bool:
        """Store the code host's id of a hook. No decision on deliveries uses it, so the version stays the same."""
        noting = (
            update(integrations).where(is_own(integrations, organization_id, integration_id)).values(hook_id=hook_id)
        )
        return await self._database.change(noting) > 0
