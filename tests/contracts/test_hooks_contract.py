"""``Hooks``, the removal of integrations, and the log entries of calls to code hosts."""

import asyncio
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import IDS, SECRET, Tenant, a_trigger, an_integration, later, tenant
from tests import builders
from tests.builders import an_entry
from tests.refusals import existing

from contentsvc_core.code_hosts import HookAccess
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import Direction, LogEntry, LogStatus
from contentsvc_core.testing import START
from contentsvc_core.webhooks.delivery import Belonging
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.removals import Disabled, Removed
from contentsvc_core.workflows.schedules import Schedule

A_MOMENT = timedelta(milliseconds=1)


async def rotate(acme: Tenant, secret: str, *, at: int = 0, until: int = 60) -> bool:
    """Rotate some seconds after the start, with an overlap until some later second."""
    return await acme.stores.hooks.rotate_secret(
        acme.id, acme.integration.id, secret, at=later(seconds=at), overlap_until=later(seconds=until)
    )


async def secrets(acme: Tenant, at: int) -> tuple[str, ...]:
    """Return the valid secrets at a second; check that delivery store and directory agree."""
    now = later(seconds=at)
    found = await acme.stores.directory.secrets(acme.id, acme.integration.id, now)
    assert (await acme.hook(now)).secrets == found
    return found


async def test_a_replaced_secret_explains_refusals_after_its_end_until_it_is_swept(acme: Tenant) -> None:
    assert (await acme.hook()).former_secrets == ()
    assert await rotate(acme, "second", at=0, until=60)
    assert (await acme.hook(later(seconds=59))).former_secrets == ()
    assert (await acme.hook(later(seconds=60))).former_secrets == (SECRET,)
    recalled = existing(await acme.stores.deliveries.configuration(acme.address, later(seconds=60), allow_cached=True))
    assert (recalled.secrets, recalled.former_secrets) == (("second",), (SECRET,))

    # Only the replaced secret is kept, even if it ends at once.
    assert await rotate(acme, "third", at=70, until=70)
    assert (await acme.hook(later(seconds=70))).former_secrets == ("second",)
    assert await acme.stores.hooks.sweep_secrets(later(seconds=70)) == 1
    assert (await acme.hook(later(seconds=70))).former_secrets == ()


async def test_after_a_rotation_both_secrets_verify_until_exactly_the_old_ones_end(acme: Tenant) -> None:
    version = (await acme.hook()).version
    settling = await acme.processed("d-1")

    assert await rotate(acme, "new", until=60)

    assert await secrets(acme, 0) == ("new", SECRET)
    last = await acme.stores.directory.secrets(acme.id, acme.integration.id, later(seconds=60) - A_MOMENT)
    assert last == ("new", SECRET)
    assert await secrets(acme, 60) == ("new",)
    # It applies from the next delivery on, also to a delivery that is being decided.
    assert (await acme.hook()).version > version
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE


async def test_a_rotation_prolongs_no_secret_and_may_end_all_of_them(acme: Tenant) -> None:
    assert await rotate(acme, "second", at=0, until=60)
    assert await rotate(acme, "third", at=10, until=100)

    assert await secrets(acme, 59) == ("third", "second", SECRET)
    assert await secrets(acme, 60) == ("third", "second")
    # Repeated after an unknown outcome, at any later time.
    assert await rotate(acme, "third", at=20, until=200)
    assert await secrets(acme, 100) == ("third",)

    assert await rotate(acme, "fourth", at=30, until=30)
    assert await secrets(acme, 30) == ("fourth",)


async def test_expired_secrets_are_swept_and_the_others_stay(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    assert await rotate(acme, "new", until=60)
    assert await rotate(zenith, "other", until=61)
    version = (await acme.hook()).version

    assert await acme.stores.hooks.sweep_secrets(later(seconds=60) - A_MOMENT) == 0
    assert await acme.stores.hooks.sweep_secrets(later(seconds=60)) == 1
    assert await acme.stores.hooks.sweep_secrets(later(seconds=60)) == 0

    # No data of it is left, even for a clock that is set back.
    assert await secrets(acme, 0) == ("new",)
    assert await secrets(zenith, 0) == ("other", SECRET)
    assert (await acme.hook()).version == version


async def test_rotations_at_once_leave_one_newest_secret_and_lose_none(acme: Tenant) -> None:
    await asyncio.gather(*(rotate(acme, f"new {number}") for number in range(4)))

    found = await secrets(acme, 0)
    assert sorted(found) == [*(f"new {number}" for number in range(4)), SECRET]
    assert await secrets(acme, 60) == found[:1]


async def test_how_a_hook_is_reached_is_kept_with_its_integration(acme: Tenant) -> None:
    hooks = acme.stores.hooks
    created = an_integration(acme.id, (2, "acme/buoy"))
    assert await acme.stores.directory.add_integration(created, "secret", token="ghp_token")
    # Repeated after an unknown outcome.
    assert await acme.stores.directory.add_integration(created, "secret", token="ghp_token")

    assert await hooks.access(acme.id, created.id) == HookAccess(hook_id=None, token="ghp_token")
    assert await hooks.access(acme.id, acme.integration.id) == HookAccess(hook_id=None, token=None)
    assert await hooks.note_hook(acme.id, created.id, "4711")
    assert await hooks.access(acme.id, created.id) == HookAccess(hook_id="4711", token="ghp_token")
    assert "ghp_token" not in repr(await hooks.access(acme.id, created.id))


async def test_hooks_of_another_organization_are_out_of_reach(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    hooks, directory, foreign = acme.stores.hooks, acme.stores.directory, acme.integration.id

    assert not await hooks.rotate_secret(zenith.id, foreign, "new", at=START, overlap_until=START)
    assert not await hooks.note_hook(zenith.id, foreign, "4711")
    assert await hooks.access(zenith.id, foreign) is None
    assert await directory.integration(zenith.id, foreign) is None
    assert await directory.remove_integration(zenith.id, foreign) is None

    assert await directory.integration(acme.id, foreign) == acme.integration
    assert await secrets(acme, 0) == (SECRET,)


def a_schedule(acme: Tenant, *repository_ids: int, hour: int, enabled: bool = True) -> Schedule:
    return builders.a_schedule(
        later(hours=hour),
        id=IDS.new_id("sch_"),
        organization_id=acme.id,
        repository_ids=repository_ids,
        enabled=enabled,
        due_at=later(days=1) if enabled else None,
    )


async def test_removing_an_integration_disables_its_users_and_keeps_its_history(acme: Tenant) -> None:
    directory, schedules = acme.stores.directory, acme.stores.schedules
    zenith = await tenant(acme.stores, "zenith")
    assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
    assert await directory.add_integration(an_integration(acme.id, (1, "acme/lighthouse"), provider="github"), "third")
    wide, elsewhere = a_trigger(acme.id, 1, 2, name="wide"), a_trigger(acme.id, 1, provider="github")
    other, off = a_trigger(acme.id, 2), evolve(a_trigger(acme.id, 1, event_types=["push"]), enabled=False)
    for trigger in (wide, elsewhere, other, off):
        await acme.stores.triggers.add(trigger)
    await acme.stores.deliveries.settle(await acme.processed("d-1"))
    left = await acme.left()
    # Repository 1 is still connected at the other provider.
    reported = a_schedule(acme, 1, hour=1)
    assert await schedules.add(reported)
    settling = await acme.processed("d-2")

    removed = await directory.remove_integration(acme.id, acme.integration.id)

    assert removed == Removed(disabled_events=[*acme.triggers, wide], disabled_schedules=[])
    assert removed is not None
    assert Disabled(wide.id, "wide") in removed.disabled_events
    on = {trigger.id for trigger in await acme.stores.triggers.all_of(acme.id) if trigger.enabled}
    assert on == {elsewhere.id, other.id}
    assert await directory.integration(acme.id, acme.integration.id) is None
    assert await directory.secrets(acme.id, acme.integration.id, START) == ()
    assert await acme.stores.hooks.access(acme.id, acme.integration.id) is None
    assert await acme.stores.deliveries.configuration(acme.address, START) is None
    assert await acme.stores.deliveries.settle(settling) is Settled.STALE
    assert await acme.left() == left
    assert await schedules.all_of(acme.id) == [reported]
    # A repeated removal changes nothing.
    assert await directory.remove_integration(acme.id, acme.integration.id) is None
    assert (await zenith.hook()).triggers == zenith.triggers


async def test_a_schedule_is_disabled_with_the_last_integration_of_its_repositories(acme: Tenant) -> None:
    directory, schedules = acme.stores.directory, acme.stores.schedules
    created = an_integration(acme.id, (7, "acme/e"), (8, "acme/f"))
    assert await directory.add_integration(created, "secret")
    using, mixed = a_schedule(acme, 7, hour=1), a_schedule(acme, 1, 8, hour=2)
    others, off = a_schedule(acme, 1, hour=3), a_schedule(acme, 8, hour=4, enabled=False)
    for schedule in (using, mixed, others, off):
        assert await schedules.add(schedule)

    removed = await directory.remove_integration(acme.id, created.id)

    assert removed == Removed(disabled_events=[], disabled_schedules=[using, mixed])
    current = await schedules.all_of(acme.id)
    assert [schedule.enabled for schedule in current] == [False, False, True, False]
    assert [schedule.due_at for schedule in current] == [None, None, others.due_at, None]


async def test_a_removed_repository_can_be_connected_again(acme: Tenant) -> None:
    directory = acme.stores.directory
    triggers = acme.stores.triggers
    assert await directory.remove_integration(acme.id, acme.integration.id)
    again = an_integration(acme.id, (1, "acme/lighthouse"), at=later(seconds=1))

    assert await directory.add_integration(again, "new")

    assert await directory.integrations(acme.id) == [again]
    found = existing(await acme.stores.deliveries.configuration(evolve(acme.address, integration_id=again.id), START))
    assert (found.secrets, found.repository) == (("new",), Belonging.THIS_INTEGRATION)
    # Pending runs are performed or skipped, as their trigger demands.
    assert [trigger.enabled for trigger in await triggers.all_of(acme.id)] == [False, False]


def a_call(acme: Tenant, **changes: object) -> LogEntry:
    entry = an_entry(
        id=IDS.new_id("log_"),
        organization_id=acme.id,
        integration_id=acme.integration.id,
        title="Webhook creation",
        direction=Direction.OUTGOING,
        status=LogStatus.PENDING,
        status_code=None,
        detail={"operation": "create_hook", "repository": "acme/lighthouse"},
    )
    return evolve(entry, **changes)


async def test_a_pending_entry_is_finished_in_its_place(acme: Tenant) -> None:
    journal = acme.stores.journal
    entry, older = a_call(acme), a_call(acme, created_at=later(seconds=-1))
    await journal.append(older)
    await journal.append(entry)
    ended = evolve(entry, status=LogStatus.FAILED, status_code=403, error_message="forbidden", reason="of that")

    await journal.finish(ended)
    # Repeated after an unknown outcome; only the result of the call changes.
    await journal.finish(evolve(ended, title="another", detail=None))
    # A deleted entry stays deleted.
    await journal.finish(a_call(acme, status=LogStatus.SUCCESS))
    with pytest.raises(Unstorable):
        await journal.finish(evolve(ended, error_message="\ud800"))

    assert await journal.entries(acme.id) == [ended, older]


async def test_answered_deliveries_are_found_and_unanswered_ones_are_not(acme: Tenant) -> None:
    journal, stores = acme.stores.journal, acme.stores
    zenith = await tenant(stores, "zenith")
    for delivery_id, at in (("old", START), ("heard", later(seconds=10))):
        assert await stores.deliveries.settle(await acme.processed(delivery_id, at=at)) is Settled.AS_DECIDED
    await stores.deliveries.settle(await zenith.processed("theirs", at=later(seconds=10)))
    refused = a_call(
        acme,
        reference_id="refused",
        direction=Direction.INCOMING,
        status=LogStatus.FAILED,
        status_code=500,
        created_at=later(seconds=10),
    )
    call = a_call(acme, reference_id="asked", status=LogStatus.SUCCESS, created_at=later(seconds=10))
    for entry in (refused, call):
        await journal.append(entry)

    named = ["old", "heard", "theirs", "refused", "asked", "unknown"]
    since = later(seconds=10)

    assert await journal.answered(acme.id, acme.integration.id, named, since=since) == {"heard"}
    assert await journal.answered(acme.id, acme.integration.id, named, since=START) == {"old", "heard"}
    assert await journal.answered(acme.id, acme.integration.id, ["old"], since=START) == {"old"}
    assert await journal.answered(zenith.id, acme.integration.id, named, since=START) == set()
