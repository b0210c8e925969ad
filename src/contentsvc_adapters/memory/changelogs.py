"""The public changelogs."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import State, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import (
    MAX_SLUGS,
    SLUG_TAKEN,
    Exposure,
    InvalidChangelog,
    PublicChangelog,
    public_slugs,
    too_many_slugs,
)
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import PostLine, repositories_in


@final
class MemoryChangelogs:
    """The public changelogs."""

    def __init__(self, state: State) -> None:
        """Create it over the state that all memory stores share."""
        self._state = state

    async def of(self, organization_id: str) -> PublicChangelog | None:
        """Find an organization's changelog."""
        return self._state.changelogs.get(organization_id)

    async def named(self, slug: str) -> PublicChangelog | None:
        """Find the changelog that has a slug, or whose organization holds it."""
        now = next((each for each in self._state.changelogs.values() if each.slug == slug), None)
        return now or self._state.changelogs.get(self._state.slugs.get(slug, ""))

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> InvalidChangelog | None:
        """Store a changelog, unless another organization has its slug."""
        refuse_unstorable(changelog)
        owner = changelog.organization_id
        self._state.refuse_stranger(owner)
        standing = self._state.changelogs.get(owner)
        holder = await self.named(changelog.slug)
        held = {slug for slug, holds in self._state.slugs.items() if holds == owner}
        mine = held if standing is None else held | {standing.slug}
        others = {each.slug for each in self._state.organizations.values() if each.id != owner}
        if (holder is not None and holder.organization_id != owner) or changelog.slug in others - mine:
            return SLUG_TAKEN
        new = public_slugs(standing, changelog) - held
        if new and len(held | new) > at_most:
            return too_many_slugs(at_most)
        self._state.slugs.update(dict.fromkeys(new, owner))
        revision = 0 if standing is None else standing.revision + 1
        self._state.changelogs[owner] = evolve(changelog, revision=revision)
        return None

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
            for post, place in self._listed(changelog)
            if (month is None or Month.of(place.occurred_at) == month)
            and (not released or post.release_tag is not None)
            and (before is None or _order(place) < _order(before))
        ]
        found.sort(key=lambda each: _order(each[0]), reverse=True)
        return [post for _, post in found[:limit]]

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Find a post that is shown."""
        post = self._state.posts.get(post_id)
        return post if post is not None and changelog.shows(post) else None

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        """List the posts that the post of a release contains."""
        found = [post for post in self._shown(changelog) if post.contained_in == post_id]
        found.sort(key=lambda post: _order(PublishedPlace.of(post)), reverse=True)
        return [PostLine.of(post) for post in found[:limit]]

    async def months(self, changelog: PublicChangelog) -> Sequence[Month]:
        """List the months that have anything."""
        return sorted({Month.of(place.occurred_at) for _, place in self._listed(changelog)}, reverse=True)

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count what is shown."""
        named = [repositories_in(post.source_metadata) for post in self._shown(changelog)]
        return Exposure(posts=len(named), repositories=Counter(name for names in named for name in names))

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        """Find the last change of what is or was shown."""
        ever = [
            post.updated_at
            for post in self._state.posts.values()
            if post.organization_id == changelog.organization_id and post.published_at is not None
        ]
        return max([changelog.updated_at, *ever])

    def _shown(self, changelog: PublicChangelog) -> list[Post]:
        return [post for post in self._state.posts.values() if changelog.shows(post)]

    def _listed(self, changelog: PublicChangelog) -> list[tuple[Post, PublishedPlace]]:
        return [(post, PublishedPlace.of(post)) for post in self._shown(changelog) if changelog.lists(post)]


def _order(place: PublishedPlace) -> tuple[datetime, str]:
    return place.occurred_at, place.id
