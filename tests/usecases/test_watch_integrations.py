"""Endpoints get one message when deliveries of an integration fail, and one when it recovers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from attrs import define, evolve
from tests.endpoints import PLACES, editor_of
from tests.usecases.conftest import REPOSITORY, World

from contentsvc_core import Connection, CreateEndpoint
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.journal import ListedEntry
from contentsvc_core.testing import push_body, signed
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.watch_integrations import IntegrationWatch


def watch_over(world: World, *, on_fault: Callable[[Exception], object]) -> IntegrationWatch:
    stores = world.stores
    return IntegrationWatch(stores.alerts, stores.directory, stores.read_model, world.clock, on_fault=on_fault)


def _fail(fault: Exception) -> None:
    raise fault


@define
class Watched:
    world: World
    watch: IntegrationWatch
    number: int = 0

    async def receive(self, outcomes: str) -> int:
        """Receive a delivery a minute, refused for each ``x``; return how often the next turn finds a change."""
        for outcome in outcomes:
            self.number += 1
            self.world.clock.advance(timedelta(minutes=1))
            secret = "wrong" if outcome == "x" else self.world.secret
            body = push_body("feat: add a lamp", repository_id=self.world.at.repository_id)
            delivery = signed(body, at=self.world.at, secret=secret, delivery_id=f"d-{self.number}")
            await self.world.receiver.receive(delivery)
        self.world.clock.advance(timedelta(seconds=1))
        return await self.watch.turn()

    async def events(self) -> list[dict[str, Any]]:
        outbox, now = self.world.stores.outbox, self.world.clock.now()
        due = await outbox.due(now, PLACES)
        taken = await outbox.take([each.id for each in due], now=now, lease=timedelta(days=9))
        return [
            {"type": each.message.type, **each.message.data}
            for each in taken
            if each.message.type.startswith("integration.")
        ]


@pytest.fixture
async def watched(world: World) -> Watched:
    stores = world.stores
    editor = editor_of(stores, world.clock, world.ids)
    await editor.create(world.organization.id, CreateEndpoint(url="https://acme.example/hook"))
    return Watched(world, watch_over(world, on_fault=_fail))


async def test_a_failure_period_is_reported_once_with_cause_and_remedy_and_its_end_once(watched: Watched) -> None:
    integration = watched.world.connection.integration
    assert await watched.receive("..xxxx") == 0
    assert await watched.receive("x") == 1
    began = iso_ms(watched.world.clock.now())
    (failing,) = await watched.events()
    newest = (await watched.world.stores.journal.entries(watched.world.organization.id))[0]
    assert failing.pop("cause").startswith("The signature does not match")
    assert failing.pop("remedy").startswith("Rotate the secret")
    assert failing == {
        "type": "integration.failing",
        "id": integration.id,
        "provider": "codehost",
        "repositories": [REPOSITORY],
        "failed": 5,
        "of": 5,
        "logId": newest.id,
        "failingSince": began,
    }

    assert await watched.receive("xxxxxx") == 0
    assert await watched.receive("..") == 0
    assert await watched.events() == []
    assert await watched.receive(".") == 1
    (recovered,) = await watched.events()
    assert recovered == {
        "type": "integration.recovered",
        "id": integration.id,
        "provider": "codehost",
        "repositories": [REPOSITORY],
        "failingSince": began,
        "recoveredAt": iso_ms(watched.world.clock.now()),
    }

    # Reported deliveries do not count again.
    assert await watched.receive("xxxx") == 0
    assert await watched.receive("x") == 1


async def test_a_second_process_reports_nothing_again(watched: Watched) -> None:
    assert await watched.receive("xxxxx") == 1

    assert await watch_over(watched.world, on_fault=_fail).turn() == 0
    assert len(await watched.events()) == 1


async def test_an_integration_without_deliveries_hides_no_failure_of_another(watched: Watched) -> None:
    world = watched.world
    await world.connected("acme/buoy", 2, "github")
    _, other = await world.stores.directory.integrations(world.organization.id)
    (secret,) = await world.stores.directory.secrets(world.organization.id, other.id, world.clock.now())
    watched.world = evolve(world, connection=Connection(integration=other, secret=secret))

    assert await watched.receive("xxxxx") == 1


async def test_an_unreadable_row_does_not_stop_the_alerts_of_other_organizations(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, faults, torn = watched.world, list[Exception](), UnreadableRow("torn")
    stores, own = world.stores, world.organization.id
    read = stores.read_model.newest_entries

    async def unreadable(organization_id: str) -> Mapping[str, ListedEntry]:
        if organization_id != own:
            raise torn
        return await read(organization_id)

    async def with_others() -> Sequence[str]:
        return ["org_before", own, "org_later"]

    monkeypatch.setattr(stores.read_model, "newest_entries", unreadable)
    monkeypatch.setattr(stores.alerts, "watched", with_others)
    watched.watch = watch_over(world, on_fault=faults.append)

    assert await watched.receive("xxxxx") == 1
    assert faults == [torn, torn]


async def test_disabled_and_unwatched_integrations_are_ignored(watched: Watched) -> None:
    stores, owner = watched.world.stores, watched.world.organization.id
    await stores.directory.enable_integration(owner, watched.world.connection.integration.id, enabled=False)
    assert await watched.receive("xxxxx") == 0
    await stores.directory.enable_integration(owner, watched.world.connection.integration.id, enabled=True)
    (endpoint,) = await stores.endpoints.endpoints(owner)
    await stores.endpoints.remove(owner, endpoint.id)
    assert await watched.receive("x") == 0

    # A new endpoint gets a message about a lasting failure.
    editor = editor_of(stores, watched.world.clock, watched.world.ids)
    await editor.create(owner, CreateEndpoint(url="https://acme.example/hook"))
    assert await watched.watch.turn() == 1
