"""Following a delivery: what came, what was kept of it, which runs it started, and what they have written."""

from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.insights import LogSearch
from contentsvc_core.journal import ListedEntry
from contentsvc_core.ports import ContextLibrary, Directory, Insights, PostLibrary
from contentsvc_core.workflows.context import custom_id, is_custom_id
from contentsvc_core.workflows.runs import ListedRun, RunStatus

#: Of a delivery that has started more, the others are among the runs.
_MOST_RUNS: Final = 50
#: How many log entries of one delivery are looked through: whoever sends it again leaves one each time.
_MOST_ENTRIES: Final = 50
_UNENDED: Final = frozenset({RunStatus.PENDING, RunStatus.RUNNING})


@final
@frozen(kw_only=True)
class Led:
    """What a processed delivery has led to."""

    #: Of the context record that it has left.
    custom_id: str
    #: The record's repository; ``None``: there is no record.
    repository: str | None
    #: The first ones, each with its trigger's name and its post, if they are there.
    runs: tuple[tuple[ListedRun, str, Post | None], ...] = field(converter=tuple)
    number: int

    @property
    def is_under_way(self) -> bool:
        """Tell whether something is still to come."""
        return any(run.status in _UNENDED for run, _, _ in self.runs)


@final
class Trails:
    """Follows deliveries."""

    def __init__(
        self,
        insights: Insights,
        contexts: ContextLibrary,
        directory: Directory,
        posts: PostLibrary,
    ) -> None:
        """Take the ports."""
        self._insights = insights
        self._contexts = contexts
        self._directory = directory
        self._posts = posts

    async def entries(self, organization_id: str, named: str) -> tuple[ListedEntry, ...]:
        """Find the log entries of a delivery by whatever names it; newest first, at most 50.

        Args:
            organization_id: Whose.
            named: The id of a log entry, which is then the only one; a delivery id; or the custom id of the context
                record that it has left.
        """
        if is_own_id(named):
            entry = await self._insights.entry(organization_id, named)
            if entry is not None:
                return (entry,)
        provider, _, rest = named.partition(":") if is_custom_id(named) else ("", "", "")
        repository_id, _, delivery_id = rest.partition(":")
        wanted = delivery_id or named
        found = await self._insights.log(organization_id, LogSearch(text=wanted), limit=_MOST_ENTRIES)
        return tuple(
            entry
            for entry in found
            if entry.reference_id == wanted
            and (not provider or (entry.integration_type, str(entry.repository_id)) == (provider, repository_id))
        )

    async def led(self, entry: ListedEntry) -> Led | None:
        """Return what an entry's delivery has led to; ``None``: it was not processed, and led to nothing."""
        if entry.event is None or entry.reference_id is None:
            return None
        mine = entry.organization_id
        key = custom_id(entry.integration_type, entry.repository_id, entry.reference_id)
        repository = await self._contexts.repository(mine, key)
        runs = await self._insights.runs_of(mine, entry.id)
        triggers = {trigger.id: trigger for trigger in (await self._directory.triggers(mine) if runs else ())}
        found: list[tuple[ListedRun, str, Post | None]] = []
        for run in runs[:_MOST_RUNS]:
            trigger = triggers.get(run.cause.started_by)
            name = "" if trigger is None else trigger.name or f"{trigger.output_type.value} for each event"
            written = None if run.post_id is None else await self._posts.post(mine, run.post_id)
            found.append((run, name, written))
        return Led(custom_id=key, repository=repository, runs=found, number=len(runs))
