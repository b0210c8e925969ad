"""A whole service in memory, with a clock that is set by hand."""

import pytest
from attrs import frozen
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.performing import performer_over

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core import Address, Connection, Operator, Organization, Receiver, Trigger, TriggerEditor
from contentsvc_core.testing import CountingIds, ManualClock
from contentsvc_core.usecases.perform import Performer
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
        return Address(
            provider=integration.provider,
            organization_id=self.organization.id,
            integration_id=integration.id,
            repository_id=integration.repositories[0].id,
        )

    @property
    def secret(self) -> str:
        return self.connection.secret


@pytest.fixture
async def world() -> World:
    stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
    clock, ids = ManualClock(), CountingIds()
    operator = Operator(stores.directory, stores.keys, clock, ids)
    organization = await operator.create_organization("Acme")
    assert isinstance(organization, Organization)
    connection = await operator.connect(
        organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch=None
    )
    assert isinstance(connection, Connection)
    triggers = TriggerEditor(stores.directory, stores.brands, clock, ids)
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
