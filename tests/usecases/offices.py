"""The use cases that connect repositories, over a world and a code host."""

from datetime import timedelta
from typing import final

from attrs import frozen
from tests.code_host_server import TOKEN, CodeHostServer, at_github
from tests.refusals import accepted, existing
from tests.usecases.conftest import World

from contentsvc_core import LogEntry
from contentsvc_core.journal import Direction
from contentsvc_core.ports import CodeHost, Hooks, Journal
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import address, push_body, signed
from contentsvc_core.usecases.code_host_service import CodeHostService
from contentsvc_core.usecases.connect import Connected, Connector, Disconnected
from contentsvc_core.usecases.reconcile import MissedEnd, Reconciled, Reconciler
from contentsvc_core.usecases.rotate import Rotated, Rotator

BASE_URL = "https://contentsvc.example"
#: The id of the repository at the code host; the world's own integration has another repository.
NAME, NUMBER = "acme/lighthouse", 4242


@final
@frozen(kw_only=True)
class Office:
    """The use cases that connect repositories, and their code host."""

    world: World
    server: CodeHostServer
    connector: Connector
    rotator: Rotator
    reconciler: Reconciler

    async def connect(
        self, token: str | None = TOKEN, *, name: str = NAME, number: int | None = None, branch: str | None = None
    ) -> Connected | Refusal:
        return await self.connector.connect(
            self.world.organization.id,
            full_name=name,
            provider="github",
            repository_id=number,
            branch=branch,
            token=token,
        )

    async def connected(self, token: str | None = TOKEN, *, number: int | None = None) -> Connected:
        return accepted(await self.connect(token, number=number))

    async def disconnect(self, created: Connected) -> Disconnected:
        return existing(await self.connector.disconnect(self.world.organization.id, created.integration.id))

    async def rotate(self, created: Connected, *, hours: int = 24) -> Rotated:
        rotated = await self.rotator.rotate(
            self.world.organization.id, created.integration.id, overlap=timedelta(hours=hours)
        )
        assert isinstance(rotated, Rotated)
        return rotated

    async def reconcile(self, created: Connected, *, dry_run: bool = False) -> Reconciled | Refusal:
        return await self.reconciler.reconcile(self.world.organization.id, created.integration.id, dry_run=dry_run)

    async def ends(self, created: Connected, *, dry_run: bool = False) -> dict[str, MissedEnd]:
        done = accepted(await self.reconcile(created, dry_run=dry_run))
        return {each.attempt.delivery_id: each.end for each in done.missed}

    async def calls(self) -> list[LogEntry]:
        """Return the log entries of calls to the code host, oldest first."""
        entries = await self.world.stores.journal.entries(self.world.organization.id)
        return [entry for entry in reversed(entries) if entry.direction is Direction.OUTGOING]

    async def is_left_alone(self) -> bool:
        """Check that only the former integration is connected."""
        integrations = await self.world.stores.directory.integrations(self.world.organization.id)
        return integrations == [self.world.connection.integration] and self.server.hooks == {}

    async def receive(self, created: Connected, secret: str, delivery_id: str) -> int:
        integration = created.integration
        number = integration.repositories[0].id
        at = address(integration.provider, integration.organization_id, integration.id, number)
        body = push_body("feat: x", repository_id=at.repository_id)
        outcome = await self.world.receiver.receive(signed(body, at=at, secret=secret, delivery_id=delivery_id))
        return outcome.status


def office_of(
    world: World,
    server: CodeHostServer,
    host: CodeHost | None,
    *,
    hooks: Hooks | None = None,
    journal: Journal | None = None,
    patience_s: float = 30.0,
) -> Office:
    stores = world.stores
    hooks, journal = hooks or stores.hooks, journal or stores.journal
    calls = CodeHostService(
        at_github(host), hooks, journal, world.clock, world.ids, base_url=BASE_URL, patience_s=patience_s
    )
    return Office(
        world=world,
        server=server,
        connector=Connector(stores.directory, hooks, calls, world.clock, world.ids),
        rotator=Rotator(stores.directory, hooks, calls, world.clock, world.ids),
        reconciler=Reconciler(stores.directory, journal, calls, world.clock),
    )
