"""An organization's public changelog: what it is called, what it shows, and whether it is there (decision 0023)."""

from collections.abc import Mapping
from typing import Any, final

from contentsvc_core.content.public.changelogs import SLUG_TAKEN, InvalidChangelog, PublicChangelog, changed_changelog
from contentsvc_core.organizations import Organization
from contentsvc_core.ports import Changelogs, Clock


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

    async def change(self, organization: Organization, given: Mapping[str, Any]) -> PublicChangelog | InvalidChangelog:
        """Change fields, named as :class:`~contentsvc_core.content.public.changelogs.PublicChangelog` names them.

        What is not given stays as it is.
        """
        standing = await self.standing(organization)
        changed = changed_changelog(standing, given, at=self._clock.now())
        if isinstance(changed, InvalidChangelog):
            return changed
        return changed if await self._changelogs.save(changed) else SLUG_TAKEN
