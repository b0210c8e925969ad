from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar, final

from contentsvc_adapters.memory.state import MemoryStore, of_organization, own
from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.wire import event_to_json
from contentsvc_core.journal import ListedEntry, LogEntry, ResultingPost, listed_entry
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.pagination import how_many_fit
from contentsvc_core.lists.terms import Term
from contentsvc_core.read_model import LogCount, LogSearch, folded, refuse_uncounted, stretch_at
from contentsvc_core.search.documents import post_words, record_words
from contentsvc_core.search.questions import ContextSearch, Hits, PostSearch
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.runs import ListedRun, RunState, RunStatus, WorkflowRun, listed_run

_Item = TypeVar("_Item", ContextRecord, Post)


@final
class MemoryReadModel(MemoryStore):
    async def log(
        self,
        organization_id: str,
        search: LogSearch,
        *,
        limit: int,
        before: Cursor | None = None,
        after: Cursor | None = None,
    ) -> Sequence[ListedEntry]:
        entries = [
            entry
            for entry in of_organization(self._state.log.values(), organization_id)
            if (before is None or Cursor.of(entry) < before)
            and (after is None or Cursor.of(entry) > after)
            and search.finds(entry)
        ]
        return [self._listed(entry) for entry in entries[:limit]]

    async def entry(self, organization_id: str, log_id: str) -> ListedEntry | None:
        entry = self._state.log.get((organization_id, log_id))
        return None if entry is None else self._listed(entry)

    async def newest_entries(self, organization_id: str) -> Mapping[str, ListedEntry]:
        oldest_first = of_organization(self._state.log.values(), organization_id, newest_first=False)
        return {entry.integration_id: self._listed(entry) for entry in oldest_first}

    async def log_counts(self, organization_id: str, *, since: datetime, span: timedelta) -> Sequence[LogCount]:
        refuse_uncounted(span)
        entries = of_organization(self._state.log.values(), organization_id)
        counted = Counter((stretch_at(each.created_at, span), each.integration_id, each.status) for each in entries)
        counts = [
            LogCount(starts_at=starts_at, integration_id=integration_id, status=status, number=number)
            for (starts_at, integration_id, status), number in counted.items()
            if starts_at >= since
        ]
        return sorted(counts, key=lambda count: (count.starts_at, count.integration_id, count.status.value))

    def _listed(self, entry: LogEntry) -> ListedEntry:
        runs = of_organization(self._state.runs.values(), entry.organization_id, newest_first=False)
        own = [run for run in sorted(runs, key=lambda run: run.id) if _is_of_entry(run, entry)]
        posts = (self._state.posts[run.post_id] for run in own if run.post_id in self._state.posts)
        post = next((ResultingPost(post.id, post.title) for post in posts), None)
        errors = (run.error for run in own if post is None and run.post_id is None and run.error is not None)
        return listed_entry(entry, post, next(errors, None))


@final
class MemoryRunLists(MemoryStore):
    async def runs(
        self,
        organization_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        limit: int,
        before: Cursor | None = None,
    ) -> Sequence[ListedRun]:
        runs = [
            run
            for run in of_organization(self._state.runs.values(), organization_id)
            if (not statuses or run.status in statuses) and (before is None or Cursor.of(run) < before)
        ]
        return [listed_run(run) for run in runs[:limit]]

    async def run(self, organization_id: str, run_id: str) -> ListedRun | None:
        run = own(self._state.runs, organization_id, run_id)
        return None if run is None else listed_run(run)

    async def event_of(self, organization_id: str, run_id: str, *, max_bytes: int) -> Event | None:
        run = own(self._state.runs, organization_id, run_id)
        if run is None or not isinstance(run.cause, Delivered):
            return None
        return run.cause.event if len(event_to_json(run.cause.event)) <= max_bytes else None

    async def runs_of(self, organization_id: str, log_id: str) -> Sequence[ListedRun]:
        entry = self._state.log.get((organization_id, log_id))
        if entry is None:
            return []
        runs = of_organization(self._state.runs.values(), organization_id, newest_first=False)
        return [listed_run(run) for run in runs if _is_of_entry(run, entry)]

    async def run_counts(self, organization_id: str, *, since: datetime) -> Mapping[RunStatus, int]:
        runs = of_organization(self._state.runs.values(), organization_id)
        return dict(Counter(run.status for run in runs if run.created_at >= since))

    async def log_of(self, organization_id: str, run: RunState) -> str | None:
        stored = own(self._state.runs, organization_id, run.id)
        entries = of_organization(self._state.log.values(), organization_id)
        return next((entry.id for entry in entries if stored is not None and _is_of_entry(stored, entry)), None)

    async def post_titles(self, organization_id: str, post_ids: Collection[str]) -> Mapping[str, str]:
        posts = of_organization(self._state.posts.values(), organization_id)
        return {post.id: post.title for post in posts if post.id in post_ids}


def _is_of_entry(run: WorkflowRun, entry: LogEntry) -> bool:
    cause = run.cause
    return (
        isinstance(cause, Delivered)
        and isinstance(entry.detail, Event)
        and run.created_at == entry.created_at
        and (cause.provider, cause.repository_id, cause.delivery_id)
        == (entry.integration_type, entry.repository_id, entry.reference_id)
    )


@final
class MemorySearch(MemoryStore):
    async def records(
        self, organization_id: str, search: ContextSearch, *, limit: int, max_bytes: int, before: Cursor | None = None
    ) -> Hits[ContextRecord]:
        records = [
            record
            for record in _older(of_organization(self._state.contexts.values(), organization_id), before)
            if (not search.repository or folded(record.repository) == search.repository)
            and (not search.event_types or record.event.type in search.event_types)
            and (search.since is None or record.created_at >= search.since)
            and _matches(search.terms, record_words(record))
        ]
        sizes = (len(event_to_json(record.event)) for record in records[:limit])
        fitting = how_many_fit(sizes, max_bytes)
        return Hits(found=records[:fitting], has_more=len(records) > fitting)

    async def posts(
        self, organization_id: str, search: PostSearch, *, limit: int, before: Cursor | None = None
    ) -> Hits[Post]:
        posts = [
            post
            for post in _older(of_organization(self._state.posts.values(), organization_id), before)
            if (not search.statuses or post.status in search.statuses)
            and (not search.content_types or post.content_type in search.content_types)
            and (search.since is None or post.created_at >= search.since)
            and _matches(search.terms, post_words(post))
        ]
        return Hits(found=posts[:limit], has_more=len(posts) > limit)

    async def catch_up(self, *, limit: int) -> int:
        _ = limit
        return 0


def _older(items: Sequence[_Item], before: Cursor | None) -> list[_Item]:
    return [item for item in items if before is None or Cursor.of(item) < before]


def _matches(terms: Sequence[Term], words: Sequence[str]) -> bool:
    having = frozenset(words)
    return all(term.matches(having) for term in terms)
