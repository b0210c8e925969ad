from collections.abc import Sequence
from typing import Final, final
from zoneinfo import ZoneInfo

from attrs import field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import SLUG_USED, Exposure, PublicChangelog, first_id
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog, changed_changelog
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import ImageKind, read_image
from contentsvc_core.content.public.months import Month
from contentsvc_core.organizations import Organization
from contentsvc_core.ports import Changelogs, Clock, IdSource, Share
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.edit import unshared

#: The number of posts in a preview: enough to recognize the selection, and few enough for a terminal.
PREVIEW_LENGTH: Final = 10
#: In the order in which readers choose.
_LABELS: Final = (Label.NEW, Label.IMPROVED, Label.FIXED, Label.SECURITY, Label.BREAKING)


async def labels_in(changelogs: Changelogs, changelog: PublicChangelog) -> Sequence[Label]:
    """Return the labels that listed posts have."""
    return [label for label in _LABELS if await changelogs.posts(changelog, limit=1, label=label)]


@final
@frozen(eq=False, repr=False)
class ChangelogEditor:
    """``share`` bounds the previews: each reads the metadata of all posts."""

    _changelogs: Changelogs
    _clock: Clock
    _ids: IdSource
    _share: Share = field(default=unshared, kw_only=True, alias="share")

    async def first(self, organization: Organization) -> PublicChangelog:
        """Return an organization's first changelog; before it is set up, it is not public."""
        changelog = await self._changelogs.of(organization.id)
        return PublicChangelog.first(organization, self._clock.now()) if changelog is None else changelog

    async def all_of(self, organization: Organization) -> Sequence[PublicChangelog]:
        changelogs = await self._changelogs.all_of(organization.id)
        first = next((each for each in changelogs if each.is_first), None) or await self.first(organization)
        return [first, *(each for each in changelogs if not each.is_first)]

    async def find(self, organization: Organization, name: str | None) -> PublicChangelog | None:
        if name in {None, first_id(organization.id)}:
            return await self.first(organization)
        return next((each for each in await self.all_of(organization) if name in {each.id, each.slug}), None)

    async def create(self, organization: Organization, command: CreateChangelog) -> PublicChangelog | Refusal:
        now = self._clock.now()
        new = PublicChangelog(
            id=self._ids.new_id("chl_"),
            organization_id=organization.id,
            slug="",
            title="",
            created_at=now,
            updated_at=now,
        )
        return await self._change(organization, new, command)

    async def preview(
        self, organization: Organization, chosen: PublicChangelog | None = None
    ) -> tuple[Exposure, Sequence[Post]]:
        changelog = await self.first(organization) if chosen is None else chosen
        exposure = await self._share(organization.id, lambda: self._changelogs.exposure(changelog))
        return exposure, await self._changelogs.posts(changelog, limit=PREVIEW_LENGTH)

    async def change(
        self, organization: Organization, command: ChangeChangelog, chosen: PublicChangelog | None = None
    ) -> PublicChangelog | Refusal:
        """Change a changelog by a ``ChangeChangelog``; without ``chosen``, the first one."""
        changelog = await self.first(organization) if chosen is None else chosen
        return await self._change(organization, changelog, command)

    async def set_image(
        self, changelog: PublicChangelog, kind: ImageKind, content: bytes | None
    ) -> PublicChangelog | Refusal:
        image = None if content is None else read_image(kind, content)
        if isinstance(image, Refusal):
            return image
        ids = {each.id for each in await self._changelogs.all_of(changelog.organization_id)}
        refused = None if changelog.id in ids else await self._changelogs.save(changelog)
        if refused is not None:
            return refused
        await self._changelogs.put_image(changelog, kind, image, self._clock.now())
        changelogs = await self._changelogs.all_of(changelog.organization_id)
        return next((each for each in changelogs if each.id == changelog.id), changelog)

    async def page(
        self, changelog: PublicChangelog, length: int, zone: ZoneInfo
    ) -> tuple[Sequence[Post], Sequence[Month], Sequence[Label]]:
        posts, months = (
            await self._changelogs.posts(changelog, limit=length),
            await self._changelogs.months(changelog, zone),
        )
        return posts, months, await labels_in(self._changelogs, changelog)

    async def remove(self, changelog: PublicChangelog) -> Refusal | None:
        if changelog.is_first:
            return Refusal(RefusalKind.UNSUITABLE, "The first changelog cannot be deleted: hide it")
        await self._changelogs.remove(changelog)
        return None

    async def _change(
        self, organization: Organization, changelog: PublicChangelog, command: CreateChangelog | ChangeChangelog
    ) -> PublicChangelog | Refusal:
        changed = changed_changelog(changelog, command, at=self._clock.now())
        if isinstance(changed, Refusal):
            return changed
        first = await self.first(organization)
        if changed.id != first.id and changed.slug == first.slug:
            # The store does not know the slug of the first one before it is set up.
            return SLUG_USED
        return await self._changelogs.save(changed) or changed
