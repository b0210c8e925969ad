from collections.abc import Callable, Sequence
from typing import Final, assert_never, final

from attrs import evolve, field, frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Commit, Event, Push, Release
from contentsvc_core.ports import BrandIdentities, ContextLibrary
from contentsvc_core.usecases.release_history import ReleaseHistory, RevertHistory
from contentsvc_core.workflows.causes import Delivered, Generation, Source
from contentsvc_core.workflows.context import ContextRecord, custom_id
from contentsvc_core.workflows.packages import ReleaseRun

#: The maximum number of context records that a release or a window reads; they are read in steps.
_LOOK_BACK: Final = 2000
_STEP: Final = 100
#: The maximum size of these records in bytes, as stored: an event may have 25 MiB, and a process performs many runs.
_MOST: Final = 16 * 1024 * 1024
_STEP_BYTES: Final = 4 * 1024 * 1024
#: The number of further steps for finding the release that contained a reverted change: 500 records.
_REVERT_STEPS: Final = 5
_LEAST: Final = 256 * 1024
#: The maximum number of deliveries that a post names, the newest ones: lists of posts include them.
_NAMED: Final = 100
#: The approximate size of a commit apart from its message, in bytes.
_COMMIT: Final = 300


def _of_default_branch(event: Event) -> bool:
    return not (isinstance(event, Push) and event.off_default)


@final
@frozen(kw_only=True)
class BriefSources:
    """A brief, and the deliveries and repositories that it is about."""

    brief: Brief
    delivery_ids: tuple[str, ...]
    sources: tuple[Source, ...] = field(converter=tuple[Source, ...])
    #: The pushes that a release contains, by the custom ids of their context records.
    pushes: tuple[str, ...] = ()


@final
class Briefs:
    """Gathers the briefs of runs from context records and brand identities."""

    def __init__(self, library: ContextLibrary, brands: BrandIdentities) -> None:
        self.library = library
        self._brands = brands

    async def brand(self, organization_id: str, brand_identity_id: str | None) -> BrandIdentity | None:
        """Return the named identity, else the organization's default; ``None``: the organization has no identity."""
        brand = None
        if brand_identity_id is not None:
            brand = await self._brands.identity(organization_id, brand_identity_id)
        return brand or await self._brands.default(organization_id)

    async def build_for_delivery(
        self,
        organization_id: str,
        cause: Delivered,
        content_type: ContentType,
        brand: BrandIdentity | None,
        *,
        companions: Sequence[ReleaseRun],
    ) -> BriefSources:
        """Return the brief of one event: a push alone, or a release with the pushes since the previous release."""
        source = Source(provider=cause.provider, repository_id=cause.repository_id, full_name=cause.repository)
        key = custom_id(cause.provider, cause.repository_id, cause.delivery_id)
        match cause.event:
            case Push():
                delivery_ids, since = (cause.delivery_id,), None
                reverts = RevertHistory()
                reverts.add(cause.event, finds_reverts=True)
                if reverts.is_open:
                    await self._search_targets(await self.library.record(organization_id, key), reverts)
                chapter = Chapter(repository=cause.repository, events=(cause.event,), undone=reverts.found)
                brief = Brief(chapters=(chapter,))
            case Release():
                since = ReleaseHistory(cause.event, {each.delivery_id: each.tag for each in companions})
                await self._search_back(await self.library.record(organization_id, key), since)
                delivery_ids = (*(each.delivery_id for each in companions), cause.delivery_id)
                brief = since.brief(cause.repository)
            case _:
                assert_never(cause.event)
        return BriefSources(
            brief=evolve(brief, content_type=content_type, brand=brand),
            delivery_ids=delivery_ids[-_NAMED:],
            sources=(source,),
            pushes=() if since is None else since.contained,
        )

    async def build_for_release(self, record: ContextRecord, release: Release) -> Brief:
        since = ReleaseHistory(release)
        await self._search_back(record, since)
        return since.brief(record.repository)

    async def build_for_window(
        self,
        organization_id: str,
        cause: Generation,
        brand: BrandIdentity | None,
        selects: Callable[[Event], bool] = _of_default_branch,
    ) -> BriefSources | None:
        """Return the brief of the wanted events that arrived in a window; ``None``: no wanted event arrived."""
        chapters: list[Chapter] = []
        sources: list[Source] = []
        delivery_ids: list[str] = []
        omitted = 0
        for source in cause.sources:
            arrived, more = await self._arrived(organization_id, cause, source)
            records = [record for record in arrived if selects(record.event)]
            omitted += more
            if records:
                delivery_ids += [record.delivery_id for record in records]
                name = records[-1].repository
                events = tuple(record.event for record in records)
                reverts = RevertHistory()
                for event in reversed(events):
                    reverts.add(event, finds_reverts=True)
                await self._search_targets(records[0], reverts)
                chapters.append(Chapter(repository=name, events=events, undone=reverts.found))
                sources.append(source)
        if not chapters:
            return None
        brief = Brief(
            content_type=cause.content_type,
            chapters=tuple(chapters),
            left_out=omitted,
            window=cause.window,
            brand=brand,
        )
        return BriefSources(brief=brief, delivery_ids=tuple(delivery_ids[-_NAMED:]), sources=sources)

    async def _arrived(
        self, organization_id: str, cause: Generation, source: Source
    ) -> tuple[list[ContextRecord], int]:
        records, omitted = await self.library.within(
            organization_id,
            provider=source.provider,
            repository_id=source.repository_id,
            window=cause.window,
            limit=_LOOK_BACK,
            max_bytes=max(_MOST // len(cause.sources), _LEAST),
        )
        included = {Push: cause.include_commits, Release: cause.include_releases}
        return [record for record in reversed(records) if included[type(record.event)]], omitted

    async def _search_back(self, record: ContextRecord | None, since: ReleaseHistory) -> None:
        count = weight = 0
        while record is not None and (
            since.is_missing or (not since.is_closed and count < _LOOK_BACK and weight < _MOST)
        ):
            step = await self.library.before(record, limit=_STEP, max_bytes=_STEP_BYTES)
            for each in step:
                since.add(each)
            count += len(step)
            weight += sum(_weight(each.event) for each in step)
            record = step[-1] if step else None
        await self._search_targets(record, since.reverts)

    async def _search_targets(self, record: ContextRecord | None, reverts: RevertHistory) -> None:
        for _ in range(_REVERT_STEPS):
            if record is None or not reverts.is_open:
                break
            step = await self.library.before(record, limit=_STEP, max_bytes=_STEP_BYTES)
            for each in step:
                reverts.add(each.event)
            record = step[-1] if step else None


def _weight(event: Event) -> int:
    match event:
        case Push():
            return sum(_COMMIT + len(commit.message) + _paths(commit) for commit in event.commits)
        case Release():
            return len(event.body or "")
        case _:
            assert_never(event)


def _paths(commit: Commit) -> int:
    return sum(len(path) for paths in (commit.added, commit.modified, commit.removed) for path in paths)
