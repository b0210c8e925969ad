"""An organization's public changelog: what it is called, what it shows, and whether it is there (decision 0023)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import Exposure, InvalidChangelog, PublicChangelog, changed_changelog
from contentsvc_core.organizations import Organization
from contentsvc_core.ports import Changelogs, Clock

#: How many posts a preview shows: enough to recognize whose they are, on a terminal as well.
PREVIEW_LENGTH: Final = 5


@final
class ChangelogEditor:
    """Changes public changelogs."""

    def __init__(self, changelogs: Changelogs, clock: Clock) -> None:
        """Take the ports."""
        self._changelogs = changelogs
        self._clock = clock

    async def standing(self, organization: Organization) -> PublicChangelog:
        """Give how an organization's changelog stands; one that was never set up is off."""
        found = await self._changelogs.of(organization.id)
        return PublicChangelog.first(organization, self._clock.now()) if found is None else found

    async def preview(self, organization: Organization) -> tuple[Exposure, Sequence[Post]]:
        """Return what becomes public when the changelog is switched on: the counts, and the newest posts."""
        standing = await self.standing(organization)
        newest = await self._changelogs.posts(standing, limit=PREVIEW_LENGTH)
        return await self._changelogs.exposure(standing), newest

    async def change(self, organization: Organization, given: Mapping[str, Any]) -> PublicChangelog | InvalidChangelog:
        """Change fields, named as :class:`~contentsvc_core.content.public.changelogs.PublicChangelog` names them.

        What is not given stays as it is.
        """
        standing = await self.standing(organization)
        changed = changed_changelog(standing, given, at=self._clock.now())
        if isinstance(changed, InvalidChangelog):
            return changed
        return await self._changelogs.save(changed) or changed
