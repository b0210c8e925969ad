"""A whole service in memory, with a clock that is set by hand."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, final

import pytest
from attrs import frozen
from tests import builders
from tests.forwarding import Forwarding
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.performing import performer_over
from tests.refusals import accepted

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core import Address, Connection, Operator, Organization, Receiver, Trigger, TriggerEditor
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.testing import CountingIds, ManualClock, address
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.workflows.runs import CANCELLED
from contentsvc_core.workflows.triggers import CreateTrigger


@frozen(kw_only=True)
class World:
    stores: MemoryStores
    clock: ManualClock
    ids: CountingIds
    operator: Operator
    triggers: TriggerEditor
    receiver: Receiver
    performer: Performer
    organization: Organization
    connection: Connection
    trigger: Trigger

    @property
    def at(self) -> Address:
        integration = self.connection.integration
        return address(integration.provider, self.organization.id, integration.id, integration.repositories[0].id)

    @property
    def secret(self) -> str:
        return self.connection.secret

    async def connected(
        self, name: str, number: int, provider: str = "codehost", *, organization: Organization | None = None
    ) -> Connection:
        """Connect a repository, by default one of Acme."""
        owner = organization or self.organization
        return accepted(
            await self.operator.connect(owner, full_name=name, repository_id=number, provider=provider, branch=None)
        )


@pytest.fixture
async def world() -> World:
    stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
    clock, ids = ManualClock(), CountingIds()
    operator = Operator(stores.directory, stores.keys, clock, ids)
    organization = accepted(await operator.create_organization("Acme"))
    connection = await operator.connect(
        organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch=None
    )
    assert isinstance(connection, Connection)
    triggers = TriggerEditor(stores.triggers, stores.directory, clock, ids)
    trigger = await triggers.create(organization.id, CreateTrigger(repository_ids=[REPOSITORY_ID], auto_publish=True))
    assert isinstance(trigger, Trigger)
    return World(
        stores=stores,
        clock=clock,
        ids=ids,
        operator=operator,
        triggers=triggers,
        receiver=Receiver(stores.deliveries, stores.journal, clock, ids, failed_rows_per_minute=3),
        performer=performer_over(stores, clock, ids, DeterministicWriter()),
        organization=organization,
        connection=connection,
        trigger=trigger,
    )


async def a_brand(world: World, name: str) -> BrandIdentity:
    brand = await world.stores.brands.add(
        builders.a_brand(
            world.clock.now(), id=world.ids.new_id("brand_"), organization_id=world.organization.id, name=name
        )
    )
    assert isinstance(brand, BrandIdentity)
    world.clock.advance(timedelta(seconds=1))
    return brand


async def only_the_request(world: World, *, later: timedelta = timedelta(minutes=1)) -> None:
    """Cancel the runs of deliveries, so that only one that is requested ``later`` is left."""
    for run in await world.stores.ledger.runs(world.organization.id):
        await world.stores.ledger.cancel(world.organization.id, run.id, CANCELLED)
    world.clock.advance(later)


@final
class Between(Forwarding):
    """A store that performs another action before the first ``times`` calls of a method."""

    def __init__(self, store: object, method: str, happens: Callable[[], Awaitable[object]], *, times: int = 1) -> None:
        super().__init__(store)
        self._method = method
        self._happens = happens
        self.left = times

    def __getattr__(self, name: str) -> Any:
        attribute = super().__getattr__(name)
        if name != self._method:
            return attribute

        async def call(*values: Any, **named: Any) -> Any:
            if self.left:
                self.left -= 1
                await self._happens()
            return await attribute(*values, **named)

        return call
