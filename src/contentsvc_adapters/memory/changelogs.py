from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import final
from zoneinfo import ZoneInfo

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import (
    MAX_SLUGS,
    Exposure,
    PublicChangelog,
    first_id,
    public_slugs,
    refuse_changelog,
)
from contentsvc_core.content.public.facets import Label, labels_of
from contentsvc_core.content.public.images import Image, ImageKind
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import PostLine, repositories_in
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.refusals import Refusal
from contentsvc_core.zones import DEFAULT_ZONE


@final
class MemoryChangelogs(MemoryStore):
    async def of(self, organization_id: str) -> PublicChangelog | None:
        return self._state.changelogs.get(first_id(organization_id))

    async def all_of(self, organization_id: str) -> Sequence[PublicChangelog]:
        return self._state.changelogs_of(organization_id)

    async def named(self, slug: str) -> PublicChangelog | None:
        now = next((each for each in self._state.changelogs.values() if each.slug == slug), None)
        return now or self._state.changelogs.get(self._state.slugs.get(slug, ("", ""))[1])

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> Refusal | None:
        refuse_unstorable(changelog)
        owner = changelog.organization_id
        self._state.refuse_stranger(owner)
        stored = self._state.changelogs.get(changelog.id)
        own = {each.id: each.slug for each in self._state.changelogs_of(owner)}
        holders = {slug: of for slug, (holder, of) in self._state.slugs.items() if holder == owner}
        others = {each.slug for each in self._state.organizations.values() if each.id != owner}
        others -= {*holders, *own.values()}
        others |= {each.slug for each in self._state.changelogs.values() if each.organization_id != owner}
        others |= self._state.slugs.keys() - holders.keys()
        taken = changelog.slug in others
        refused = refuse_changelog(stored, changelog, own=own, holders=holders, is_anothers=taken, at_most=at_most)
        if refused is not None:
            return refused
        for slug in public_slugs(stored, changelog):
            self._state.slugs[slug] = (owner, changelog.id)
        revision, images = (0, ()) if stored is None else (stored.revision + 1, stored.images)
        self._state.changelogs[changelog.id] = evolve(changelog, revision=revision, images=images)
        return None

    async def remove(self, changelog: PublicChangelog) -> None:
        self._state.changelogs.pop(changelog.id, None)
        for subscriber in [
            subscriber for subscriber in self._state.subscribers.values() if subscriber.changelog_id == changelog.id
        ]:
            self._state.forget_subscriber(subscriber.id)
        for kind in ImageKind:
            self._state.images.pop((changelog.id, kind), None)

    async def put_image(self, changelog: PublicChangelog, kind: ImageKind, image: Image | None, at: datetime) -> None:
        stored = self._state.changelogs.get(changelog.id)
        if stored is None:
            return
        marks = [mark for mark in stored.images if mark.kind is not kind]
        if image is None:
            self._state.images.pop((changelog.id, kind), None)
        else:
            marks.append(image.mark)
            self._state.images[changelog.id, kind] = image
        self._state.changelogs[changelog.id] = evolve(
            stored, images=tuple(marks), updated_at=max(at, stored.updated_at), revision=stored.revision + 1
        )

    async def image(self, changelog: PublicChangelog, kind: ImageKind) -> Image | None:
        return self._state.images.get((changelog.id, kind))

    async def posts(
        self,
        changelog: PublicChangelog,
        *,
        limit: int,
        label: Label | None = None,
        month: Month | None = None,
        released: bool = False,
        before: Cursor | None = None,
    ) -> Sequence[Post]:
        listed = [
            post
            for post in self._listed(changelog)
            if (month is None or month.since <= post.occurred_at < month.until)
            and (label is None or label in labels_of(post))
            and (not released or post.release_tag is not None)
            and (before is None or post.cursor < before)
        ]
        return sorted(listed, key=attrgetter("cursor"), reverse=True)[:limit]

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        post = self._state.posts.get(post_id)
        return post if post is not None and changelog.shows(post) else None

    async def at_path(self, changelog: PublicChangelog, path: str) -> Post | None:
        return await self.post(changelog, self._state.paths.get((changelog.organization_id, path), ""))

    async def beside(self, changelog: PublicChangelog, post: Post) -> tuple[PostLine | None, PostLine | None]:
        listed = sorted(self._listed(changelog), key=attrgetter("cursor"))
        older = [PostLine.of(each) for each in listed if each.cursor < post.cursor]
        newer = [PostLine.of(each) for each in listed if each.cursor > post.cursor]
        return (older[-1] if older else None), (newer[0] if newer else None)

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        posts = [post for post in self._shown(changelog) if post.contained_in == post_id]
        posts.sort(key=attrgetter("cursor"), reverse=True)
        return [PostLine.of(post) for post in posts[:limit]]

    async def months(self, changelog: PublicChangelog, zone: ZoneInfo = DEFAULT_ZONE) -> Sequence[Month]:
        return sorted({Month.of(post.occurred_at, zone) for post in self._listed(changelog)}, reverse=True)

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        repository_names = [repositories_in(post.source_metadata) for post in self._shown(changelog)]
        return Exposure(
            posts=len(repository_names), repositories=Counter(name for names in repository_names for name in names)
        )

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        ever = [
            post.updated_at
            for post in self._state.posts.values()
            if post.organization_id == changelog.organization_id and post.published_at is not None
        ]
        return max([changelog.updated_at, *ever])

    def _shown(self, changelog: PublicChangelog) -> list[Post]:
        return [post for post in self._state.posts.values() if changelog.shows(post)]

    def _listed(self, changelog: PublicChangelog) -> list[Post]:
        return [post for post in self._shown(changelog) if changelog.lists(post)]
