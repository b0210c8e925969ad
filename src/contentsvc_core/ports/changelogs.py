"""What everybody may read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import MAX_SLUGS, Exposure, InvalidChangelog, PublicChangelog
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import PostLine


class Changelogs(Protocol):
    """The public changelogs, at most one of each organization, and the posts that they show.

    A changelog says itself whose it is: what is asked by it shows that organization's posts, and those alone that
    :meth:`~contentsvc_core.content.public.changelogs.PublicChangelog.shows` allows. Whether it is public now is not
    asked here. What a call reads does not grow with the number of posts, but for :meth:`exposure`.
    """

    async def of(self, organization_id: str) -> PublicChangelog | None:
        """Find an organization's changelog; ``None``: it has set up none."""
        ...

    async def named(self, slug: str) -> PublicChangelog | None:
        """Find the changelog that has a slug, or whose organization holds it from before; public or not.

        The caller compares the slug: a changelog with another slug has moved there.
        """
        ...

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> InvalidChangelog | None:
        """Store an organization's changelog in place of the one that it has. With an answer, nothing was written.

        A slug that is or was public is held by its organization for good. ``SLUG_TAKEN``: another organization holds
        the slug, has it now, or is itself called so. Of any number of organizations that ask for a slug at once, one
        gets it. An organization holds ``at_most`` slugs.

        Raises:
            Unstorable: There is no such organization.
        """
        ...

    async def posts(
        self,
        changelog: PublicChangelog,
        *,
        limit: int,
        month: Month | None = None,
        released: bool = False,
        before: PublishedPlace | None = None,
    ) -> Sequence[Post]:
        """List the newest posts of a changelog, at most ``limit``, newest first.

        Posts that the post of a release contains are left out
        (:meth:`~contentsvc_core.content.public.changelogs.PublicChangelog.lists`).

        The list is sorted by the time of the posts' events and then by id.

        Args:
            changelog: The changelog.
            limit: The largest number of posts.
            month: Only posts whose events happened in this month.
            released: Only posts that announce a release.
            before: Only posts behind this place: the next part of a list that ended there.
        """
        ...

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Return a post that a changelog shows, listed or contained in the post of a release."""
        ...

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        """List the posts that a changelog shows and the post of a release contains, at most ``limit``, newest first."""
        ...

    async def months(self, changelog: PublicChangelog) -> Sequence[Month]:
        """List the months in which the events of listed posts happened, the newest first."""
        ...

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count the posts that a changelog shows, and by repository those that name it.

        The one question whose cost grows with the number of posts: it is for the moment before all of them become
        public.
        """
        ...

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        """Give when anything has changed last of what a changelog shows, and of what it showed.

        It is never earlier than its own last change, and takes in posts of all types of content: what is shown did
        not change later than that.
        """
        ...
