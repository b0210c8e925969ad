from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import MAX_SLUGS, Exposure, PublicChangelog
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import Image, ImageKind
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import PostLine
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.refusals import Refusal
from contentsvc_core.zones import DEFAULT_ZONE


class Changelogs(Protocol):
    """The public changelogs of organizations, and the posts that they show, public now or not.

    A call reads a limited number of posts. :meth:`exposure` reads all of them, and so does :meth:`months` of a
    changelog that shows only some repositories or scopes.
    """

    async def of(self, organization_id: str) -> PublicChangelog | None:
        """Return the first changelog of an organization; ``None``: it is not set up."""
        ...

    async def all_of(self, organization_id: str) -> Sequence[PublicChangelog]:
        """List the changelogs of an organization that are set up, oldest first."""
        ...

    async def named(self, slug: str) -> PublicChangelog | None:
        """Return the changelog that has a slug, or had it while it was public; the caller compares the slug."""
        ...

    async def save(self, changelog: PublicChangelog, *, at_most: int = MAX_SLUGS) -> Refusal | None:
        """Store a changelog in place of the one with its id. With an answer, nothing was written.

        A slug that is or was public is held by its organization for good. ``SLUG_TAKEN``: another organization holds
        the slug, has it now, or is itself called so. ``SLUG_USED``: another changelog of the organization has the slug,
        or had it while it was public. Of any number of requests for a slug at once, one gets it. An organization holds
        ``at_most`` slugs, and has at most ``MAX_CHANGELOGS`` changelogs. ``Unstorable``: there is no such organization.
        """
        ...

    async def remove(self, changelog: PublicChangelog) -> None:
        """Delete a changelog and its pictures; its slugs stay its organization's, and lead nowhere."""
        ...

    async def put_image(self, changelog: PublicChangelog, kind: ImageKind, image: Image | None, at: datetime) -> None:
        """Store a picture of a stored changelog, in place of the picture of its kind; ``None``: delete the picture."""
        ...

    async def image(self, changelog: PublicChangelog, kind: ImageKind) -> Image | None: ...

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
        """List the newest posts of a changelog, at most ``limit``, by the times of their events, then by id.

        Posts that the post of a release contains are left out. By label, repository or scope, only the newest 5,000 of
        each type from ``before`` on are searched. ``before``: only posts after this cursor.
        """
        ...

    async def post(self, changelog: PublicChangelog, post_id: str) -> Post | None:
        """Return a post that a changelog shows, listed or contained in the post of a release."""
        ...

    async def at_path(self, changelog: PublicChangelog, path: str) -> Post | None:
        """Return the post that a changelog shows and that has a path, or had it before its title changed."""
        ...

    async def beside(self, changelog: PublicChangelog, post: Post) -> tuple[PostLine | None, PostLine | None]:
        """Return the listed posts before and after a post: the next older one, and the next newer one."""
        ...

    async def contained(self, changelog: PublicChangelog, post_id: str, *, limit: int) -> Sequence[PostLine]:
        """List the posts that a changelog shows and the post of a release contains, at most ``limit``, newest first."""
        ...

    async def months(self, changelog: PublicChangelog, zone: ZoneInfo = DEFAULT_ZONE) -> Sequence[Month]:
        """List the months in which the events of listed posts happened, the newest first."""
        ...

    async def exposure(self, changelog: PublicChangelog) -> Exposure:
        """Count the posts that a changelog shows, in total and by repository; the cost grows with their number."""
        ...

    async def last_change(self, changelog: PublicChangelog) -> datetime:
        """Return the last change of a changelog, or of posts of any type that it shows or has shown."""
        ...
