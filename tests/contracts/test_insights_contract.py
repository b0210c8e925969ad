"""``ReadModel`` and ``RunLists``: parts of the log, counts, runs and their relations, of one organization."""

import re
from collections import Counter
from datetime import timedelta

import pytest
from attrs import evolve
from contract_values import CHECKING, IDS, Tenant, a_post, in_batches, later, push, release, take, tenant
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import an_entry
from tests.refusals import existing

from contentsvc_core.journal import (
    Direction,
    ListedEntry,
    LogEntry,
    LogOutcome,
    LogStatus,
    ResultingPost,
    listed_entry,
)
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.read_model import LogCount, LogSearch
from contentsvc_core.timestamps import to_ms
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.causes import SiteReading
from contentsvc_core.workflows.jobs import Job
from contentsvc_core.workflows.runs import ListedRun, RunStatus, WorkflowRun, listed_run

#: The fixture is built once for all examples, which only read.
_reading = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_TITLES = (
    "Processed push event",
    "Filtered release event",
    "Duplicate push delivery",
    "Webhook ping received",
    "pushed by hand",
    "50% of_a\\b",
    # Each database lowers capitals outside of ASCII in its own way; the Kelvin sign becomes an ASCII letter.
    "ÄRGER ärger İi \N{KELVIN SIGN} \N{LATIN SMALL LETTER LONG S}s ẞ",
    "Ignored push_release event",
)


def _entry(organization_id: str, number: int) -> LogEntry:
    return an_entry(
        # Several entries of the same time, over some days, of which some have no entries.
        later(hours=7 * (number // 3), days=3 * (number // 24)),
        id=IDS.new_id("log_"),
        organization_id=organization_id,
        integration_id=f"int_{number % 3}",
        reference_id=f"D-{number}" if number % 2 else None,
        title=_TITLES[number % 8],
        direction=Direction.OUTGOING if number % 11 == 0 else Direction.INCOMING,
        status=list(LogStatus)[number // 2 % 3],
        status_code=None,
        error_message="Connection REFUSED by ÉCOLE" if number % 5 == 0 else None,
        reason="not the Default branch" if number % 7 == 0 else None,
        detail=push(f"feat: {number}") if number % 4 == 0 else {"event": "ping"},
    )


@pytest.fixture
async def log(acme: Tenant) -> list[LogEntry]:
    """Entries of every kind, newest first; and another organization's."""
    zenith = await tenant(acme.stores, "zenith")
    entries = [_entry(acme.id, number) for number in range(48)]
    for entry in (*entries, *(_entry(zenith.id, number) for number in range(9))):
        await acme.stores.journal.append(entry)
    return sorted(entries, key=lambda entry: (entry.created_at, entry.id), reverse=True)


def _plainly(search: LogSearch, entry: LogEntry) -> bool:
    """Check whether an entry matches, independently of the core."""
    texts = [entry.title, entry.reference_id or "", entry.error_message or "", entry.reason or ""]
    text = re.compile(re.escape(search.text), re.IGNORECASE | re.ASCII)
    return (
        (not search.integration_ids or entry.integration_id in search.integration_ids)
        and (not search.statuses or entry.status in search.statuses)
        and (not search.outcomes or entry.outcome in search.outcomes)
        and (search.direction is None or entry.direction is search.direction)
        and (search.since is None or entry.created_at >= search.since)
        and (search.until is None or entry.created_at < search.until)
        and (not search.event or f" {search.event} " in entry.title)
        and any(text.search(each) for each in texts)
    )


_SEARCHES = st.builds(
    LogSearch,
    integration_ids=st.lists(st.sampled_from(["int_0", "int_1", "int_2", "int_unknown"]), unique=True, max_size=2),
    statuses=st.lists(st.sampled_from(LogStatus), unique=True),
    outcomes=st.one_of(st.just([]), st.lists(st.sampled_from(LogOutcome), unique=True)),
    direction=st.sampled_from([None, *Direction]),
    since=st.one_of(st.none(), st.integers(0, 300).map(lambda hours: later(hours=hours))),
    until=st.one_of(st.none(), st.integers(0, 300).map(lambda hours: later(hours=hours))),
    event=st.sampled_from(["", "", "", "push", "release", "PUSH", "ping", "pus", "push_release", " "]),
    text=st.one_of(
        st.just(""),
        st.sampled_from([*_TITLES, "50% OF_A\\B", "ärger", "Ärger", "é", "École", "ÉCole", "İ", "i̇", "ß", "d-1", "\0"]),
        st.text(alphabet="pushPUSHkKs%_ \\äÄ\N{KELVIN SIGN}'\"", max_size=3),
    ),
)


@pytest.mark.slow("a short campaign over generated examples")
@_reading
@given(search=_SEARCHES, limit=st.integers(1, 20), start=st.integers(0, 47), end=st.integers(0, 47))
async def test_a_page_of_the_log_equals_a_plain_filter(
    acme: Tenant, log: list[LogEntry], search: LogSearch, limit: int, start: int, end: int
) -> None:
    found = [entry for entry in log if _plainly(search, entry)]
    assert [entry for entry in log if search.finds(entry)] == found

    expected = [listed_entry(entry) for entry in found]
    assert list(await acme.stores.read_model.log(acme.id, search, limit=limit)) == expected[:limit]
    before, after = Cursor.of(log[start]), Cursor.of(log[end])
    older = [listed_entry(entry) for entry in found if log.index(entry) > start]
    newer = [listed_entry(entry) for entry in found if log.index(entry) < end]
    assert list(await acme.stores.read_model.log(acme.id, search, limit=limit, before=before)) == older[:limit]
    assert list(await acme.stores.read_model.log(acme.id, search, limit=limit, after=after)) == newer[:limit]
    both = [entry for entry in older if entry in newer]
    between = await acme.stores.read_model.log(acme.id, search, limit=limit, before=before, after=after)
    assert list(between) == both[:limit]


@pytest.mark.slow("walks through a log page by page")
@pytest.mark.parametrize("search", [LogSearch(), LogSearch(text="push"), LogSearch(outcomes=LogOutcome)])
async def test_cursors_lead_through_the_whole_log(acme: Tenant, log: list[LogEntry], search: LogSearch) -> None:
    read: list[ListedEntry] = []
    cursor: Cursor | None = None
    while part := await acme.stores.read_model.log(acme.id, search, limit=5, before=cursor):
        read += part
        cursor = Cursor.of(part[-1])
        # Entries that arrive between two pages do not move them.
        entry = evolve(_entry(acme.id, 2), created_at=later(days=99), status=LogStatus.FAILED)
        await acme.stores.journal.append(entry)

    assert read == [listed_entry(entry) for entry in log if search.finds(entry)]
    # A cursor need not point to an entry.
    nowhere = Cursor(at=later(days=98), id="")
    assert len(await acme.stores.read_model.log(acme.id, search, limit=99, after=nowhere)) > 0
    assert list(await acme.stores.read_model.log(acme.id, search, limit=99, before=nowhere)) == read


@pytest.mark.slow("a short campaign over generated changes")
@settings(_reading, max_examples=25)
@given(
    data=st.data(),
    limit=st.integers(1, 9),
    search=st.sampled_from([LogSearch(), LogSearch(integration_ids=["int_0", "int_1"]), LogSearch(text="push")]),
)
async def test_cursors_neither_miss_nor_repeat_an_entry_that_exists_throughout(
    acme: Tenant, data: st.DataObject, limit: int, search: LogSearch
) -> None:
    """Between two pages, entries are added at any time and swept. Each entry that stays is read once."""
    acme = await tenant(acme.stores, IDS.new_id("walked"))
    there = [_entry(acme.id, number) for number in range(30)]
    await in_batches(map(acme.stores.journal.append, there))
    read: list[ListedEntry] = []
    cursor: Cursor | None = None
    while part := await acme.stores.read_model.log(acme.id, search, limit=limit, before=cursor):
        read += part
        cursor = Cursor.of(part[-1])
        for hours in data.draw(st.lists(st.integers(-5, 100), max_size=3)):
            added = evolve(_entry(acme.id, hours % 30), created_at=later(hours=hours))
            # A walk that never ends would prove nothing.
            if len(read) < 60:
                await acme.stores.journal.append(added)
        if data.draw(st.booleans()):
            swept = later(hours=data.draw(st.integers(-5, 40)))
            await acme.stores.journal.sweep(acme.id, before=swept, limit=data.draw(st.integers(1, 9)))

    kept = {entry.id for entry in await acme.stores.journal.entries(acme.id)}
    expected = sorted((each for each in there if each.id in kept and search.finds(each)), key=Cursor.of, reverse=True)
    ids = [entry.id for entry in read]
    assert len(ids) == len(set(ids))
    assert [id_ for id_ in ids if id_ in {each.id for each in expected}] == [each.id for each in expected]


async def test_the_newest_entry_of_each_integration_is_found(acme: Tenant, log: list[LogEntry]) -> None:
    read_model = acme.stores.read_model
    expected = {entry.integration_id: listed_entry(entry) for entry in reversed(log)}
    assert dict(await read_model.newest_entries(acme.id)) == expected
    assert await read_model.newest_entries("org_unknown") == {}

    # An integration without recent entries, and one whose only entries are swept.
    silent = evolve(_entry(acme.id, 0), integration_id="int_silent", created_at=later(days=-20))
    await acme.stores.journal.append(silent)
    assert dict(await read_model.newest_entries(acme.id)) == {**expected, "int_silent": listed_entry(silent)}
    assert await acme.stores.journal.sweep(acme.id, before=later(days=-19), limit=9) == 1
    assert dict(await read_model.newest_entries(acme.id)) == expected


@pytest.mark.parametrize("span", [timedelta(hours=1), timedelta(days=1)])
async def test_entries_are_counted_by_stretches(acme: Tenant, log: list[LogEntry], span: timedelta) -> None:
    length = span // timedelta(milliseconds=1)

    def starts(entry: LogEntry) -> int:
        return to_ms(entry.created_at) // length

    async def counts(hours: int) -> list[tuple[int, str, LogStatus, int]]:
        found = await acme.stores.read_model.log_counts(acme.id, since=later(hours=hours), span=span)
        assert all(isinstance(each, LogCount) for each in found)
        return [(to_ms(each.starts_at) // length, each.integration_id, each.status, each.number) for each in found]

    def expected(entries: list[LogEntry], hours: int) -> list[tuple[int, str, LogStatus, int]]:
        counted = Counter((starts(entry), entry.integration_id, entry.status) for entry in entries)
        found = [(*key, number) for key, number in counted.items() if key[0] * length >= to_ms(later(hours=hours))]
        return sorted(found, key=lambda each: (each[0], each[1], each[2].value))

    for hours in (-99, 0, 30, 48, 49, 9999):
        assert await counts(hours) == expected(log, hours)
    # An entry counts for its current status; a swept entry does not count.
    last = next(entry for entry in log if entry.status is LogStatus.PENDING)
    finished = evolve(last, status=LogStatus.FAILED)
    await acme.stores.journal.finish(finished)
    changed = [finished if entry == last else entry for entry in log]
    assert await counts(-99) == expected(changed, -99)
    assert await acme.stores.journal.sweep(acme.id, before=later(hours=30), limit=99) > 0
    assert await counts(-99) == expected([entry for entry in changed if entry.created_at >= later(hours=30)], -99)


@pytest.mark.parametrize("span", [timedelta(), timedelta(minutes=1), timedelta(hours=2), timedelta(days=30)])
async def test_nothing_is_counted_by_other_stretches(acme: Tenant, span: timedelta) -> None:
    with pytest.raises(ValueError, match="by the hour and by the day"):
        await acme.stores.read_model.log_counts(acme.id, since=later(), span=span)


async def _runs(acme: Tenant, *hours: int) -> list[ListedRun]:
    """Settle a delivery for each hour, which starts two runs; return all runs as lists show them, newest first."""
    for hour in hours:
        await acme.stores.deliveries.settle(await acme.processed(IDS.new_id("d-"), at=later(hours=hour)))
    return [listed_run(run) for run in await acme.stores.ledger.runs(acme.id)]


async def test_runs_are_listed_newest_first_by_status_and_cursor(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    await _runs(zenith, 0, 5)
    runs, run_lists = await _runs(acme, 3, 1, 2, 1), acme.stores.run_lists
    await acme.stores.ledger.cancel(acme.id, runs[1].id, "not wanted")
    await take(acme.stores, [runs[6].id])
    stored = [listed_run(run) for run in await acme.stores.ledger.runs(acme.id)]

    assert list(await run_lists.runs(acme.id, limit=99)) == stored
    assert list(await run_lists.runs(acme.id, limit=3)) == stored[:3]
    for number, run in enumerate(stored):
        assert list(await run_lists.runs(acme.id, limit=4, before=Cursor.of(run))) == stored[number + 1 :][:4]
        assert await run_lists.run(acme.id, run.id) == run
        assert await run_lists.run(zenith.id, run.id) is None
    for statuses in (
        [RunStatus.PENDING],
        {RunStatus.CANCELLED, RunStatus.RUNNING},
        (RunStatus.FAILED,),
        list(RunStatus),
    ):
        expected = [run for run in stored if run.status in statuses]
        assert list(await run_lists.runs(acme.id, statuses=statuses, limit=99)) == expected
        older = [run for run in expected if stored.index(run) > 2]
        assert list(await run_lists.runs(acme.id, statuses=statuses, limit=2, before=Cursor.of(stored[2]))) == older[:2]
    assert list(await run_lists.runs("org_unknown", limit=99)) == []
    assert await run_lists.run(acme.id, "run_unknown") is None


async def test_runs_are_counted_by_status(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    await _runs(zenith, 1)
    runs, run_lists = await _runs(acme, 0, 1, 2), acme.stores.run_lists
    await acme.stores.ledger.cancel(acme.id, runs[0].id, "not wanted")
    await take(acme.stores, [runs[5].id])

    assert dict(await run_lists.run_counts(acme.id, since=later())) == {
        RunStatus.PENDING: 4,
        RunStatus.CANCELLED: 1,
        RunStatus.RUNNING: 1,
    }
    assert dict(await run_lists.run_counts(acme.id, since=later(hours=2))) == {
        RunStatus.PENDING: 1,
        RunStatus.CANCELLED: 1,
    }
    assert await run_lists.run_counts(acme.id, since=later(hours=2, milliseconds=1)) == {}


async def _replayed(acme: Tenant, original: Settlement, hours: int) -> Settlement:
    """Settle what a replay settles: the same event, as a delivery of its own."""
    detail = original.log.detail
    assert original.context is not None
    settling = await acme.processed(IDS.new_id("d-"), original.context.event, at=later(hours=hours))
    assert settling.context is not None
    settling = evolve(settling, context_at=original.context.created_at)
    assert settling.log.detail == detail
    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    return settling


async def test_runs_and_the_entry_that_they_came_with_lead_to_each_other(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith", repository_id=acme.repository.id)
    run_lists = acme.stores.run_lists
    # Of the same time, with the same event; another organization has the same delivery id.
    first, second = await acme.processed("d-1", push()), await acme.processed("d-2", push())
    foreign, other = await zenith.processed("d-1", push()), await acme.processed("d-3", release())
    for settling in (first, second, foreign, other):
        assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED
    copy = await acme.processed("d-1", push())
    assert await acme.stores.deliveries.settle(copy) is Settled.ALREADY_CLAIMED
    replay = await _replayed(acme, first, 5)
    settled = ((acme, first), (acme, second), (zenith, foreign), (acme, other), (acme, replay))

    for owner, settling in settled:
        assert len(settling.runs) == 2
        assert list(await run_lists.runs_of(owner.id, settling.log.id)) == [
            listed_run(run) for run in sorted(settling.runs, key=lambda run: (run.created_at, run.id))
        ]
        stranger = zenith if owner is acme else acme
        assert list(await run_lists.runs_of(stranger.id, settling.log.id)) == []
        for run in settling.runs:
            assert await run_lists.log_of(owner.id, run) == settling.log.id
            assert await run_lists.log_of(stranger.id, run) is None
    # Duplicates and other deliveries that were not processed have started no runs.
    assert list(await run_lists.runs_of(acme.id, copy.log.id)) == []
    for outcome in CHECKING:
        settling = await acme.decided(outcome)
        await acme.stores.deliveries.settle(settling)
        assert list(await run_lists.runs_of(acme.id, settling.log.id)) == []
    assert list(await run_lists.runs_of(acme.id, "log_unknown")) == []


async def test_a_run_is_found_by_its_log_entry_in_its_current_state(acme: Tenant) -> None:
    run = await acme.taken(at=later(hours=1))
    log_id = existing(await acme.stores.run_lists.log_of(acme.id, run))

    assert listed_run(run) in await acme.stores.run_lists.runs_of(acme.id, log_id)
    # After a retry, days later, it is still the run of that delivery.
    await acme.stores.ledger.end(run, RunStatus.FAILED, "the writer was away")
    assert await acme.stores.ledger.restart(acme.id, run.id, due_at=later(days=3))
    stored = existing(await acme.stores.run_lists.run(acme.id, run.id))
    assert stored.status is RunStatus.PENDING
    assert stored in await acme.stores.run_lists.runs_of(acme.id, log_id)
    assert await acme.stores.run_lists.log_of(acme.id, stored) == log_id


async def test_an_entry_that_was_swept_leads_nowhere(acme: Tenant) -> None:
    settling = await acme.processed("d-1")
    await acme.stores.deliveries.settle(settling)
    assert await acme.stores.journal.sweep(acme.id, before=later(days=1), limit=9) == 1

    assert list(await acme.stores.run_lists.runs_of(acme.id, settling.log.id)) == []
    assert await acme.stores.run_lists.log_of(acme.id, settling.runs[0]) is None
    # The run exists.
    assert await acme.stores.run_lists.run(acme.id, settling.runs[0].id) == listed_run(settling.runs[0])


async def test_a_run_without_a_delivery_has_no_log_entry(acme: Tenant) -> None:
    job_id = IDS.new_id("job_")
    reading = SiteReading(job_id=job_id, name=None, website_url="https://acme.example/")
    run = WorkflowRun(id=IDS.new_id(""), organization_id=acme.id, cause=reading, created_at=later(), due_at=later())
    await acme.stores.jobs.start(Job(id=job_id, run=run))

    assert await acme.stores.run_lists.run(acme.id, run.id) == listed_run(run)
    assert list(await acme.stores.run_lists.runs(acme.id, limit=9)) == [listed_run(run)]
    assert await acme.stores.run_lists.log_of(acme.id, run) is None
    assert list(await acme.stores.run_lists.runs_of(acme.id, run.id)) == []


async def test_posts_have_titles(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    run, post = await acme.taken(), a_post(acme.id)
    await acme.stores.ledger.complete(run, post, once=None)

    assert await acme.stores.run_lists.post_titles(acme.id, {post.id, "post_unknown"}) == {post.id: post.title}
    assert await acme.stores.run_lists.post_titles(zenith.id, {post.id}) == {}
    await acme.stores.posts.remove(acme.id, post.id)
    assert await acme.stores.run_lists.post_titles(acme.id, {post.id}) == {}


async def test_a_row_of_the_log_has_the_first_post_of_its_delivery(acme: Tenant) -> None:
    settling = await acme.processed("d-1", at=later())
    await acme.stores.deliveries.settle(settling)
    await acme.stores.deliveries.settle(await acme.processed("d-2", at=later()))
    posts = [evolve(a_post(acme.id), title=f"{name} post") for name in ("first", "second")]
    runs = await take(acme.stores, sorted(run.id for run in settling.runs))
    for run, post in zip(sorted(runs, key=lambda run: run.id), posts, strict=True):
        await acme.stores.ledger.complete(run, post, once=None)

    async def found() -> dict[str | None, ResultingPost | None]:
        return {
            each.reference_id: each.post for each in await acme.stores.read_model.log(acme.id, LogSearch(), limit=9)
        }

    assert await found() == {"d-1": ResultingPost(posts[0].id, "first post"), "d-2": None}
    listed = existing(await acme.stores.read_model.entry(acme.id, settling.log.id))
    assert listed.post == ResultingPost(posts[0].id, "first post")
    await acme.stores.posts.remove(acme.id, posts[0].id)
    assert (await found())["d-1"] == ResultingPost(posts[1].id, "second post")


async def test_a_row_of_the_log_has_the_reason_why_its_delivery_led_to_no_post(acme: Tenant) -> None:
    settling = await acme.processed("d-1", at=later())
    await acme.stores.deliveries.settle(settling)
    await acme.stores.deliveries.settle(await acme.processed("d-2", at=later()))
    first, second = sorted(await take(acme.stores, [run.id for run in settling.runs]), key=lambda run: run.id)

    async def found() -> dict[str | None, str | None]:
        return {
            each.reference_id: each.no_post for each in await acme.stores.read_model.log(acme.id, LogSearch(), limit=9)
        }

    assert await found() == {"d-1": None, "d-2": None}
    await acme.stores.ledger.end(first, RunStatus.SKIPPED, "nothing to report: only upkeep")
    assert await found() == {"d-1": "nothing to report: only upkeep", "d-2": None}
    post = a_post(acme.id)
    await acme.stores.ledger.complete(second, post, once=None)
    assert await found() == {"d-1": None, "d-2": None}
    await acme.stores.posts.remove(acme.id, post.id)
    assert (await found())["d-1"] == "nothing to report: only upkeep"
