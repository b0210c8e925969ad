from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.journal import ListedEntry
from contentsvc_core.ports import ContextLibrary, PostLibrary, ReadModel, RunLists, Triggers
from contentsvc_core.read_model import LogSearch
from contentsvc_core.workflows.context import custom_id, is_custom_id
from contentsvc_core.workflows.runs import UNENDED, ListedRun

#: The most runs shown for a delivery; the list of runs has the others.
_MOST_RUNS: Final = 50
#: The most log entries of one delivery: each repetition of the delivery adds one.
_MOST_ENTRIES: Final = 50


@final
@frozen(kw_only=True)
class RecordTrail:
    """The runs and posts of a delivery."""

    custom_id: str
    repository: str | None
    #: The first runs, each with its trigger's name and its post, if they exist.
    runs: tuple[tuple[ListedRun, str, Post | None], ...] = field(
        converter=tuple[tuple[ListedRun, str, Post | None], ...]
    )
    number: int

    @property
    def is_under_way(self) -> bool:
        return any(run.status in UNENDED for run, _, _ in self.runs)


@final
@frozen(eq=False, repr=False)
class DeliveryTrails:
    """Finds the log entries of a delivery, and its runs and posts."""

    _read_model: ReadModel
    _run_lists: RunLists
    _contexts: ContextLibrary
    _triggers: Triggers
    _posts: PostLibrary

    async def entries(self, organization_id: str, named: str) -> tuple[ListedEntry, ...]:
        """Return at most 50 log entries of a delivery, newest first, by an entry's id, a delivery id or a custom id."""
        entry = await self._read_model.entry(organization_id, named)
        if entry is not None:
            return (entry,)
        provider, repository_id, reference = named.split(":", 2) if is_custom_id(named) else ("", "", named)
        entries = await self._read_model.log(organization_id, LogSearch(text=reference), limit=_MOST_ENTRIES)
        return tuple(
            entry
            for entry in entries
            if entry.reference_id == reference
            and (not provider or (entry.integration_type, str(entry.repository_id)) == (provider, repository_id))
        )

    async def record_trail(self, entry: ListedEntry) -> RecordTrail | None:
        if entry.event is None or entry.reference_id is None:
            return None
        organization_id = entry.organization_id
        key = custom_id(entry.integration_type, entry.repository_id, entry.reference_id)
        repository = await self._contexts.repository(organization_id, key)
        runs = await self._run_lists.runs_of(organization_id, entry.id)
        triggers = {trigger.id: trigger for trigger in (await self._triggers.all_of(organization_id) if runs else ())}
        found: list[tuple[ListedRun, str, Post | None]] = []
        for run in runs[:_MOST_RUNS]:
            trigger = triggers.get(run.cause.started_by)
            name = "" if trigger is None else trigger.name or f"{trigger.output_type.value} for each event"
            written = None if run.post_id is None else await self._posts.post(organization_id, run.post_id)
            found.append((run, name, written))
        return RecordTrail(custom_id=key, repository=repository, runs=found, number=len(runs))
