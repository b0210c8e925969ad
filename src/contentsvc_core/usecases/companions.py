from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, final

from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.ports import ContextLibrary, RunLedger
from contentsvc_core.workflows.causes import Delivered, ListedDelivery, once_key
from contentsvc_core.workflows.context import ContextRecord, custom_id
from contentsvc_core.workflows.packages import PACKAGE_GAP, PACKAGE_SPAN, Arrival, ReleaseRun, companions, reporting_run
from contentsvc_core.workflows.runs import ALREADY_REPORTED, REPORTED_TOGETHER, ListedRun, WorkflowRun

#: The stretch of time before and after a run to search: the longest time that one post covers, and one release more.
_SEARCH_SPAN: Final = PACKAGE_SPAN + PACKAGE_GAP
_STEP: Final = 20
_STEP_BYTES: Final = 4 * 1024 * 1024
_RUNS: Final = 1_000
_MOMENT: Final = timedelta(milliseconds=1)


@final
class Companions:
    """Finds the runs whose releases one post reports; reads no more than needed: an import has thousands."""

    def __init__(self, ledger: RunLedger, library: ContextLibrary) -> None:
        self._ledger = ledger
        self._library = library

    async def find(self, run: WorkflowRun, cause: Delivered) -> tuple[ReleaseRun, ...] | str:
        """Return the runs whose releases a run reports beside its own, or the reason why it reports none."""
        own = cause.once_key if cause.shares_a_post else None
        if own is None:
            return ()
        if await self._ledger.reported(run.organization_id, [own]):
            return ALREADY_REPORTED
        key = custom_id(cause.provider, cause.repository_id, cause.delivery_id)
        record = await self._library.record(run.organization_id, key)
        if record is None or record.created_at != run.created_at:
            # A redelivery after a day: the record keeps the arrival time of the first delivery.
            return ()
        after, runs = await self._after(run, record)
        before = await self._before(record)
        runs += await self._ledger.of_releases(
            run, since=before[-1].created_at, until=run.created_at + _MOMENT, limit=_RUNS
        )
        arrivals = _arrivals([*reversed(before), *after[1:]], runs, cause)
        if not any(each.run is not None and each.run.id == run.id for each in arrivals):
            return ()
        other = reporting_run(arrivals, run.id)
        if other is not None:
            return REPORTED_TOGETHER.format(run=other.id, tag=other.tag)
        own_releases = companions(arrivals, run.id)
        reported = await self._ledger.reported(run.organization_id, [each.key for each in own_releases])
        return tuple(each for each in own_releases if each.key not in reported)

    async def _before(self, record: ContextRecord) -> list[ContextRecord]:
        read = [record]
        while not _is_over(read):
            step = await self._library.before(read[-1], limit=_STEP, max_bytes=_STEP_BYTES)
            if not step:
                break
            _extend(read, step)
        return read

    async def _after(self, run: WorkflowRun, record: ContextRecord) -> tuple[list[ContextRecord], list[ListedRun]]:
        read, runs, limit = [record], list[ListedRun](), 2
        until = run.created_at + _SEARCH_SPAN
        while not _is_over(read):
            since = runs[-1].created_at if runs else run.created_at
            page = await self._ledger.of_releases(run, since=since, until=until, limit=limit)
            runs += page
            if page:
                _extend(read, await self._between(read[-1], runs[-1]))
            if len(page) < limit:
                break
            # Most records have at most one neighbour; for the others, the size of a read doubles.
            limit *= 2
        return read, runs

    async def _between(self, record: ContextRecord, run: ListedRun) -> Sequence[ContextRecord]:
        records, remaining = await self._library.within(
            record.organization_id,
            provider=record.provider,
            repository_id=record.repository_id,
            window=LookbackWindow(since=record.created_at, until=run.created_at + _MOMENT),
            limit=_STEP,
            max_bytes=_STEP_BYTES,
        )
        read = list(records)
        while remaining > 0 and read:
            step = await self._library.before(read[-1], limit=_STEP, max_bytes=_STEP_BYTES)
            read += step
            remaining -= len(step)
        sort_key = record.created_at, record.id
        return [each for each in reversed(read) if (each.created_at, each.id) > sort_key]


def _extend(read: list[ContextRecord], more: Iterable[ContextRecord]) -> None:
    for record in more:
        if _is_over(read):
            return
        read.append(record)


def _is_over(read: Sequence[ContextRecord]) -> bool:
    last = first = read[0].created_at
    pushed = has_commit = False
    for record in read:
        if isinstance(record.event, Push):
            pushed = True
        elif package_tag(record.event.tag_name) is not None:
            last, pushed, has_commit = record.created_at, False, has_commit or bool(record.event.commit)
    end = read[-1].created_at
    return abs(end - last) > PACKAGE_GAP or abs(end - first) > _SEARCH_SPAN or (pushed and not has_commit)


def _arrivals(records: Iterable[ContextRecord], runs: Iterable[ListedRun], cause: Delivered) -> list[Arrival]:
    started: Mapping[str, ListedRun] = {
        each.cause.delivery_id: each for each in runs if isinstance(each.cause, ListedDelivery)
    }
    arrivals: list[Arrival] = []
    for record in records:
        event, run = record.event, started.get(record.delivery_id)
        if not isinstance(event, Release):
            arrivals.append(Arrival(at=record.created_at))
            continue
        key = once_key(cause.trigger_id, cause.repository_id, event)
        if run is not None and key is not None and package_tag(event.tag_name) is not None:
            release_run = ReleaseRun(
                id=run.id, status=run.status, tag=event.tag_name, delivery_id=record.delivery_id, key=key
            )
            arrivals.append(Arrival(at=record.created_at, run=release_run, commit=event.commit))
    return arrivals
