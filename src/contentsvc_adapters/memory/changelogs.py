"""The public changelogs."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import State, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import Exposure, PublicChangelog
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import repositories_in


@final
class MemoryChangelogs:
    """The public changelogs."""

    def __init__(self, state: State) -> None:
        """Take the shared state."""
        self._state = state

    async def of(self, organization_id: str) -> PublicChangelog | None:
        """Find an organization's changelog."""
        return self._state.changelogs.get(organization_id)

    async def named(self, slug: str) -> PublicChangelog | None:
        """Find the changelog of a slug."""
        return next((each for each in self._state.changelogs.values() if each.slug == slug), None)

    async def save(self, changelog: PublicChangelog) -> bool:
        """Store a changelog, unless another organization has its slug."""
        refuse_unstorable(changelog)
        self._state.refuse_stranger(changelog.organization_id)
        holder = await self.named(changelog.slug)
        if holder is not None and holder.organization_id != changelog.organization_id:
            return False
        self._state.changelogs[changelog.organization_id] = changelog
        return True

    async def posts(
        self,
        changelog: PublicChangelog,
        *,
        limit: int,
        month: Month | None = None,
        released: bool = False,
        before: PublishedPlace | None = None,
    ) -> Sequence[Post]:
        """List the newest posts that are shown."""
        found = [
            (place, post)
            for post, place in self._shown(changelog)
            if (month is None or Month.of(place.published_at) == month)
            and (not released or post.release_tag is not None)
            and (before is None or _order(place) < _order(before))
        ]
        found.sort(key=lambda each: _order(each[0]), reverse=True)
        return [post for _, post in found[:limit]]

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Find a post that is shown."""
        post = self._state.posts.get(post_id)
        return post if post is not None and changelog.shows(post) else None

    async def months(self, changelog: PublicChangelog) -> Sequence[Month]:
        """List the months that have anything."""
        return sorted({Month.of(place.published_at) for _, place in self._shown(changelog)}, reverse=True)

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count what is shown."""
        named = [repositories_in(post.source_metadata) for post, _ in self._shown(changelog)]
        return Exposure(posts=len(named), repositories=Counter(name for names in named for name in names))

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        """Find the last change of what is or was shown."""
        ever = [
            post.updated_at
            for post in self._state.posts.values()
            if post.organization_id == changelog.organization_id and post.published_at is not None
        ]
        return max([changelog.updated_at, *ever])

    def _shown(self, changelog: PublicChangelog) -> list[tuple[Post, PublishedPlace]]:
        return [(post, PublishedPlace.of(post)) for post in self._state.posts.values() if changelog.shows(post)]


def _order(place: PublishedPlace) -> tuple[datetime, str]:
    return place.published_at, place.id
