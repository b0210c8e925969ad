"""Whose changelog a request is for, and what each page reads of it: a bounded number of posts."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, final

from attrs import field, frozen
from litestar import Request

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import SLUG_LIMIT, PublicChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.identifiers import is_own_id, is_slug
from contentsvc_core.ports import Changelogs
from contentsvc_http.errors import Refused

_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?", re.ASCII)
#: Said of what is not there, of what is not shown, and of changelogs that are off: nobody can tell which.
NOT_HERE: Final = "There is no such page. Its address may have changed, or what stood here is not public any more."


@final
@frozen(kw_only=True)
class PublicReading:
    """What public pages are made from."""

    changelogs: Changelogs
    #: Where readers reach this service, without a slash at the end; empty: as each request says.
    base_url: str = ""


@final
@frozen(kw_only=True)
class Shown:
    """A changelog that is public, and who asks for it."""

    request: Request[Any, Any, Any]
    changelogs: Changelogs
    changelog: PublicChangelog
    #: With a host.
    links: ChangelogLinks
    last_change: datetime

    async def part(self, length: int, *, month: Month | None = None, released: bool = False) -> "Part":
        """Read as many posts as a page shows, from the place on that its address names.

        Raises:
            Refused: 404: the address names none.
        """
        written = self.request.query_params.get("before")
        before = None if written is None else PublishedPlace.read(written)
        if written is not None and before is None:
            raise not_here()
        found = await self.changelogs.posts(
            self.changelog, limit=length + 1, month=month, released=released, before=before
        )
        posts = found[:length]
        return Part(posts=posts, goes_on=PublishedPlace.of(posts[-1]) if len(found) > length else None, before=before)

    async def post(self, post_id: str) -> Post:
        """Find a post.

        Raises:
            Refused: 404: there is none, or it is not shown.
        """
        found = await self.changelogs.post(self.changelog, post_id) if is_own_id(post_id) else None
        if found is None:
            raise not_here()
        return found

    async def months(self) -> Sequence[Month]:
        """Read which months have anything."""
        return await self.changelogs.months(self.changelog)


@final
@frozen(kw_only=True)
class Part:
    """A part of a list of posts."""

    posts: tuple[Post, ...] = field(converter=tuple)
    #: Where the next part begins; ``None``: there is none.
    goes_on: PublishedPlace | None
    #: Where this one begins; ``None``: with the newest.
    before: PublishedPlace | None


async def shown(reading: PublicReading, request: Request[Any, Any, Any], slug: str) -> Shown:
    """Find the public changelog of a slug.

    Raises:
        Refused: 404: there is none, or it is off.
    """
    is_one = is_slug(slug) and len(slug) <= SLUG_LIMIT
    changelog = await reading.changelogs.named(slug) if is_one else None
    if changelog is None or not changelog.is_public:
        raise not_here()
    return Shown(
        request=request,
        changelogs=reading.changelogs,
        changelog=changelog,
        links=ChangelogLinks(base_url=reading.base_url or _base_url(request), slug=slug),
        last_change=await reading.changelogs.last_change(changelog),
    )


def not_here() -> Refused:
    """Give the one answer to whatever is not there for the public."""
    return Refused(404, {"error": NOT_HERE})


def _base_url(request: Request[Any, Any, Any]) -> str:
    """Give the address that the client has used, as far as the request tells; a proxy's own is not known here."""
    host = request.headers.get("Host", "")
    return f"{request.url.scheme}://{host}" if _HOST.fullmatch(host) else ""
