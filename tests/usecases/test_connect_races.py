"""Connecting, disconnecting and rotating under concurrent changes and unexpected faults."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any, Self, final

import pytest
from tests.code_host_server import TOKEN, CodeHostServer, Fault
from tests.forwarding import Forwarding
from tests.usecases.conftest import World
from tests.usecases.offices import Office, office_of

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core import LogStatus
from contentsvc_core.code_hosts import Hook, HookAccess, HostAnswer, HostRefusal
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.usecases.connect import REMOVED_MEANWHILE, HookRemoval
from contentsvc_core.workflows.removals import Removed


@final
class Wrapped(Forwarding):
    """A code host that performs another action around some calls."""

    def __init__(self, host: RestCodeHost) -> None:
        super().__init__(host)
        #: Raised when a hook has been created, and when one is looked for.
        self.created: Exception | None = None
        self.finding: Exception | None = None
        #: Whether the first change of a secret waits for a concurrent one.
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    def within(self, limit_s: float, *, limit_bytes: float = 0) -> Self:  # noqa: ARG002  # no limit is reached
        return self

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        created = await self.real.create_hook(full_name, hook, token=token)
        if self.created is not None:
            raise self.created
        return created

    async def find_hook(self, full_name: str, path: str, *, token: str) -> HostAnswer[str | None] | HostRefusal:
        if self.finding is not None:
            raise self.finding
        return await self.real.find_hook(full_name, path, token=token)

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        if not self.reached.is_set():
            self.reached.set()
            await self.go_on.wait()
        return await self.real.change_secret(full_name, hook_id, secret, token=token)


@pytest.fixture
async def server() -> AsyncGenerator[CodeHostServer]:
    with CodeHostServer() as serving:
        yield serving


@pytest.fixture
async def host(server: CodeHostServer) -> AsyncGenerator[RestCodeHost]:
    created = RestCodeHost(server.api_url)
    yield created
    await created.close()


@pytest.fixture
async def office(world: World, server: CodeHostServer, host: RestCodeHost) -> Office:
    return office_of(world, server, host)


@pytest.mark.parametrize("can_find", [True, False])
async def test_an_internal_fault_leaves_no_integration_without_a_hook(
    world: World, server: CodeHostServer, host: RestCodeHost, can_find: bool
) -> None:
    broken: Any = Wrapped(host)
    broken.created = ZeroDivisionError(TOKEN)
    broken.finding = None if can_find else LookupError("as broken as that")
    office = office_of(world, server, broken)

    with pytest.raises(ZeroDivisionError):
        await office.connect()

    assert await world.stores.directory.integrations(world.organization.id) == [world.connection.integration]
    assert (server.hooks == {}) is can_find
    (entry,) = await office.calls()
    assert (entry.status, entry.error_message) == (LogStatus.FAILED, "a fault of ours: ZeroDivisionError")


async def test_an_integration_deleted_during_its_connection_is_reported_and_leaves_no_hook(office: Office) -> None:
    hooks, directory = office.world.stores.hooks, office.world.stores.directory
    note_hook = hooks.note_hook

    async def deleted_before(organization_id: str, integration_id: str, hook_id: str) -> bool:
        # By a process that read the hooks of the code host before this hook existed.
        assert await directory.remove_integration(organization_id, integration_id) is not None
        return await note_hook(organization_id, integration_id, hook_id)

    hooks.note_hook = deleted_before  # pyright: ignore[reportAttributeAccessIssue]

    assert await office.connect() == REMOVED_MEANWHILE

    assert await office.is_left_alone()
    assert [(entry.title, entry.status) for entry in await office.calls()] == [
        ("Webhook creation", LogStatus.SUCCESS),
        ("Webhook removal", LogStatus.SUCCESS),
    ]


@pytest.mark.parametrize("can_remove", [True, False])
async def test_a_hook_that_is_created_while_its_integration_is_deleted_goes_too(
    office: Office, can_remove: bool
) -> None:
    created = await office.connected()
    hooks, directory = office.world.stores.hooks, office.world.stores.directory
    access, remove = hooks.access, directory.remove_integration
    current = dict(office.server.hooks)
    office.server.hooks.clear()

    async def not_yet(organization_id: str, integration_id: str) -> HookAccess | None:
        found = await access(organization_id, integration_id)
        return None if found is None else HookAccess(hook_id=None, token=found.token)

    async def created_before(organization_id: str, integration_id: str) -> Removed | None:
        office.server.hooks.update(current)
        if not can_remove:
            office.server.fault = Fault(status=503, method="DELETE")
        return await remove(organization_id, integration_id)

    hooks.access = not_yet  # pyright: ignore[reportAttributeAccessIssue]
    directory.remove_integration = created_before  # pyright: ignore[reportAttributeAccessIssue]

    gone = await office.disconnect(created)

    assert gone.hook is (HookRemoval.REMOVED if can_remove else HookRemoval.LEFT)
    assert (gone.refusal is None) is can_remove
    assert (office.server.hooks == {}) is can_remove


async def test_of_two_rotations_at_once_the_newest_secret_ends_at_the_code_host(
    world: World, server: CodeHostServer, host: RestCodeHost
) -> None:
    slow: Any = Wrapped(host)
    office = office_of(world, server, slow)
    created = await office.connected()
    slow.go_on.clear()

    first = asyncio.create_task(office.rotate(created))
    await slow.reached.wait()
    second = await office.rotate(created)
    slow.go_on.set()
    # The code host receives the older secret last.
    older = await first

    assert server.hook.secret == second.secret == older.secret
    assert isinstance(older.at_host, HostAnswer)
    world.clock.advance(timedelta(hours=24))
    assert await office.receive(created, server.hook.secret, "d-1") == 200


async def test_rotations_without_an_end_are_given_up(office: Office) -> None:
    created = await office.connected()
    hooks, directory = office.world.stores.hooks, office.world.stores.directory
    secrets, now = directory.secrets, office.world.clock.now()

    async def rotated_before(organization_id: str, integration_id: str, at: object) -> tuple[str, ...]:
        secret = office.world.ids.new_id("whsec_")
        await hooks.rotate_secret(organization_id, integration_id, secret, at=now, overlap_until=now)
        return await secrets(organization_id, integration_id, now)

    directory.secrets = rotated_before  # pyright: ignore[reportAttributeAccessIssue]

    rotated = await office.rotate(created)

    assert isinstance(rotated.at_host, HostRefusal)
    assert "other rotations replaced the secret" in rotated.at_host.reason
    assert len(office.server.did("PATCH")) == 5


async def test_a_secret_that_cannot_be_read_back_is_the_one_at_the_code_host(office: Office) -> None:
    created = await office.connected()

    async def unreadable(*_: object) -> tuple[str, ...]:
        raise SecretUnreadable

    office.world.stores.directory.secrets = unreadable  # pyright: ignore[reportAttributeAccessIssue]

    rotated = await office.rotate(created)

    assert isinstance(rotated.at_host, HostAnswer)
    assert office.server.hook.secret == rotated.secret != created.secret
