from functools import partial
from typing import Final, final

from attrs import evolve, frozen

from contentsvc_core.content.forms import write_content
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.writing import Brief, Chapter, Draft, Silence
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.ports import Offload, Search
from contentsvc_core.search.questions import ContextSearch
from contentsvc_core.usecases.briefs import Briefs
from contentsvc_core.workflows.context import ContextRecord

#: Pushes of a preview without a release: about as many as one release has.
_PUSHES: Final = 50
#: The limit of the stored events of those pushes together, in bytes: half a second of reading.
_BYTES: Final = 4 * 1024 * 1024


@final
@frozen(kw_only=True)
class StylePreview:
    """A changelog in a house style, which is not stored."""

    repository: str
    release_tag: str | None
    pushes: int
    written: Draft | Silence


@final
class StylePreviews:
    """Writes the changelog of the newest release, else of the newest pushes."""

    def __init__(self, briefs: Briefs, search: Search, offload: Offload) -> None:
        self._briefs = briefs
        self._search = search
        self._offload = offload

    async def write(
        self,
        organization_id: str,
        options: ChangelogOptions,
        *,
        repository: str = "",
        brand_identity_id: str | None = None,
    ) -> StylePreview | None:
        brief = await self._release(organization_id, repository) or await self._pushes(organization_id, repository)
        if brief is None:
            return None
        brief = evolve(brief, options=options, brand=await self._briefs.brand(organization_id, brand_identity_id))
        return StylePreview(
            repository=brief.repository,
            release_tag=None if brief.release is None else brief.release.tag_name,
            pushes=len(brief.events),
            written=await self._offload(partial(write_content, brief)),
        )

    async def _release(self, organization_id: str, repository: str) -> Brief | None:
        for record in await self._newest(organization_id, Release.type, repository, limit=1):
            if isinstance(record.event, Release):
                return await self._briefs.build_for_release(record, record.event)
        return None

    async def _pushes(self, organization_id: str, repository: str) -> Brief | None:
        records = await self._newest(organization_id, Push.type, repository, limit=_PUSHES)
        if not records:
            return None
        newest = records[0]
        key = newest.provider, newest.repository_id
        events = [each.event for each in records if (each.provider, each.repository_id) == key]
        return Brief(chapters=(Chapter(repository=newest.repository, events=reversed(events)),))

    async def _newest(
        self, organization_id: str, event_type: str, repository: str, *, limit: int
    ) -> list[ContextRecord]:
        query = ContextSearch(event_types=(event_type,), repository=repository)
        return list((await self._search.records(organization_id, query, limit=limit, max_bytes=_BYTES)).found)
