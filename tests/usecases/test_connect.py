"""Connecting, disconnecting, rotating and reconciling, with a real HTTP server that answers as code hosts do."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest
from tests.code_host_server import CodeHostServer, Fault
from tests.forwarding import Failing
from tests.refusals import accepted
from tests.usecases.conftest import World
from tests.usecases.offices import NAME, NUMBER, Office, office_of

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core import LogStatus, StoreUnavailable
from contentsvc_core.code_hosts import HostRefusal
from contentsvc_core.usecases.connect import UNKNOWN, Connected
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.operate import ALREADY_CONNECTED
from contentsvc_core.usecases.reconcile import MissedEnd, Reconciled


@pytest.fixture
async def office(world: World) -> AsyncGenerator[Office]:
    with CodeHostServer() as server:
        host = RestCodeHost(server.api_url)
        yield office_of(world, server, host)
        await host.close()


async def test_without_an_id_a_public_repository_is_read_by_its_old_name_too(office: Office) -> None:
    office.server.renamed["acme/beacon"] = NUMBER
    created = accepted(await office.connect(None, name="acme/beacon", branch="stable"))

    (repository,) = created.integration.repositories
    assert (repository.id, repository.full_name, repository.branch) == (NUMBER, NAME, "stable")
    assert office.server.hooks == {}


async def test_a_connected_repository_gets_no_second_hook(office: Office) -> None:
    await office.connected()

    assert await office.connect() == ALREADY_CONNECTED
    assert await office.connect(None, name=NAME.upper(), number=1) == ALREADY_CONNECTED
    assert len(office.server.hooks) == 1


async def test_a_store_that_goes_away_leaves_no_hook_behind(world: World, office: Office) -> None:
    host = RestCodeHost(office.server.api_url)
    hooks: Any = Failing(world.stores.hooks, note_hook=StoreUnavailable())
    forgetful = office_of(world, office.server, host, hooks=hooks)
    with pytest.raises(StoreUnavailable):
        await forgetful.connect()
    assert len(office.server.did("POST", "/hooks$")) == 1
    assert await office.is_left_alone()

    journal: Any = Failing(world.stores.journal, append=StoreUnavailable())
    mute = office_of(world, office.server, host, journal=journal)
    with pytest.raises(StoreUnavailable):
        await mute.connect()
    await host.close()
    assert len(office.server.did("POST", "/hooks$")) == 1
    assert await office.is_left_alone()


async def test_a_connection_succeeds_though_its_log_entry_cannot_be_finished(world: World, office: Office) -> None:
    host = RestCodeHost(office.server.api_url)
    journal: Any = Failing(world.stores.journal, finish=StoreUnavailable())
    created = await office_of(world, office.server, host, journal=journal).connected()
    await host.close()

    assert office.server.hook.url == created.url
    assert [entry.status for entry in await office.calls()] == [LogStatus.PENDING]


async def test_after_a_rotation_both_secrets_are_accepted_until_the_old_one_ends(office: Office) -> None:
    created = await office.connected()
    clock = office.world.clock

    rotated = await office.rotate(created, hours=24)

    assert rotated.overlap_until == clock.now() + timedelta(hours=24)
    assert rotated.secret not in repr(rotated)
    assert office.server.hook.secret == rotated.secret != created.secret
    entry = (await office.calls())[-1]
    assert (entry.title, entry.status, entry.status_code) == ("Webhook secret change", LogStatus.SUCCESS, 200)
    assert await office.receive(created, created.secret, "d-1") == 200
    assert await office.receive(created, rotated.secret, "d-2") == 200
    clock.advance(timedelta(hours=24) - timedelta(milliseconds=1))
    assert await office.receive(created, created.secret, "d-3") == 200
    clock.advance(timedelta(milliseconds=1))
    assert await office.receive(created, created.secret, "d-4") == 401
    assert await office.receive(created, rotated.secret, "d-5") == 200
    stores = office.world.stores
    sweeper = Sweeper(stores, clock)
    assert (await sweeper.sweep()).secrets == 0
    # The sealed secret explains refusals of a code host that has the old one, for a week.
    clock.advance(timedelta(days=7))
    assert (await sweeper.sweep()).secrets == 1


async def test_a_code_host_that_does_not_take_the_new_secret_goes_on_with_the_old_one(office: Office) -> None:
    created = await office.connected()
    office.server.fault = Fault(status=503, method="PATCH")

    rotated = await office.rotate(created)

    assert isinstance(rotated.at_host, HostRefusal)
    assert await office.receive(created, created.secret, "d-1") == 200
    assert await office.receive(created, rotated.secret, "d-2") == 200
    assert (await office.calls())[-1].status is LogStatus.FAILED
    unknown = await office.rotator.rotate(office.world.organization.id, "int_unknown", overlap=timedelta())
    assert unknown == UNKNOWN


async def failed(office: Office, created: Connected, *delivery_ids: str) -> None:
    """Add failed deliveries at the code host, a minute apart, beginning an hour ago."""
    for minutes, delivery_id in enumerate(delivery_ids):
        at = office.world.clock.now() - timedelta(minutes=60 - minutes)
        office.server.note(office.server.hook, delivery_id, status=504, at=at)


def asked_for(office: Office) -> list[str]:
    """Return the requested redeliveries, by their delivery ids."""
    guids = {str(each["id"]): each["guid"] for each in office.server.hook.deliveries}
    return [guids[each.path.split("/")[-2]] for each in office.server.did("POST", "/attempts$")]


async def test_missed_deliveries_are_requested_and_answered_ones_are_not(office: Office) -> None:
    created = await office.connected()
    assert await office.receive(created, created.secret, "d-answered") == 200
    # The delivery arrived and was refused, so it still counts as missing.
    assert await office.receive(created, "wrong", "d-refused") == 401
    await failed(office, created, "d-lost", "d-answered", "d-refused", "d-later")
    office.server.note(office.server.hook, "d-later", at=office.world.clock.now())
    office.server.note(
        office.server.hook, "d-old", status=504, at=office.world.clock.now() - timedelta(hours=72, seconds=1)
    )
    expected = {"d-lost": MissedEnd.FOUND, "d-answered": MissedEnd.ANSWERED, "d-refused": MissedEnd.FOUND}

    assert await office.ends(created, dry_run=True) == expected
    assert asked_for(office) == []

    assert await office.ends(created) == {
        name: MissedEnd.REQUESTED if end is MissedEnd.FOUND else end for name, end in expected.items()
    }
    assert asked_for(office) == ["d-lost", "d-refused"]
    requests = [entry for entry in await office.calls() if entry.title == "Redelivery request"]
    assert [(entry.reference_id, entry.status, entry.status_code) for entry in requests] == [
        ("d-lost", LogStatus.SUCCESS, 202),
        ("d-refused", LogStatus.SUCCESS, 202),
    ]


@pytest.mark.parametrize(("minutes", "end"), [(60, MissedEnd.ANSWERED), (61, MissedEnd.FOUND)])
async def test_the_clock_of_the_log_may_be_an_hour_behind_the_code_host(
    office: Office, minutes: int, end: MissedEnd
) -> None:
    created = await office.connected()
    assert await office.receive(created, created.secret, "d-1") == 200
    office.world.clock.advance(timedelta(hours=72, minutes=minutes))
    office.server.note(office.server.hook, "d-1", status=504, at=office.world.clock.now() - timedelta(hours=72))

    assert await office.ends(created, dry_run=True) == {"d-1": end}


async def test_a_rate_limit_ends_the_requests_and_reports_the_rest(office: Office) -> None:
    created = await office.connected()
    await failed(office, created, "d-1", "d-2", "d-3")
    office.server.fault = Fault(status=429, headers={"Retry-After": "30"}, method="POST", path="/attempts$")
    progress: list[tuple[int, int]] = []

    done = await office.reconciler.reconcile(
        office.world.organization.id, created.integration.id, on_progress=lambda count, of: progress.append((count, of))
    )

    assert isinstance(done, Reconciled)
    assert [each.end for each in done.missed] == [MissedEnd.REFUSED, MissedEnd.NOT_REQUESTED, MissedEnd.NOT_REQUESTED]
    assert all(each.refusal is not None and each.refusal.retry_after_s == 30 for each in done.missed)
    assert len(office.server.did("POST", "/attempts$")) == 1
    assert progress == [(0, 3), (1, 3), (2, 3), (3, 3)]
