import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias, final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from attrs import evolve, field, frozen
from litestar import Request
from litestar.di import NamedDependency
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import SkipValidation

from contentsvc_core.application import Application
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.public.changelogs import SLUG_LIMIT, PublicChangelog
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.html import text_of
from contentsvc_core.content.public.links import ROOT, ChangelogLinks
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.paths import is_post_path
from contentsvc_core.content.public.releases import PostLine
from contentsvc_core.content.public.trimming import shown_content
from contentsvc_core.identifiers import is_slug
from contentsvc_core.lists.cursors import Cursor, read_cursor
from contentsvc_core.lists.terms import Term
from contentsvc_core.lists.words import words_of
from contentsvc_core.ports import Changelogs, Search, Share
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.questions import read_post_search
from contentsvc_core.text import one_line
from contentsvc_core.usecases.zones import zone_of
from contentsvc_http.changelog.page_cache import RenderedPages
from contentsvc_http.errors import Refused
from contentsvc_http.rate_limiting import RateLimits

_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?", re.ASCII)
#: The characters of a query apart from letters and digits (RFC 3986, section 3.4).
_QUERY: Final = "/?:@!$&'()*+,;=%-._~"
#: The maximum length of a search, in characters: a sentence.
WORDS_LIMIT: Final = 100
#: The maximum number of further searches if the changelog shows no post of a search.
_SEARCHES: Final = 4
#: The same answer for unknown pages, hidden posts and changelogs that are not public.
NOT_HERE: Final = "There is no such page. Its address may have changed, or the page is no longer public."
SHOWN: Final = "shown"
READ: Final = [HttpMethod.GET, HttpMethod.HEAD]


@final
@frozen(kw_only=True)
class PublicReading:
    app: Application
    limits: RateLimits
    pages: RenderedPages
    #: Where readers reach this service, without a slash at the end; empty: as each request says.
    base_url: str = ""
    sends_mail: bool = False


@final
@frozen(kw_only=True)
class ChangelogRequest:
    request: Request[Any, Any, Any]
    changelogs: Changelogs
    search: Search
    #: The share of searches, so that they do not hold up other pages.
    share: Share
    pages: RenderedPages
    changelog: PublicChangelog
    links: ChangelogLinks
    last_change: datetime
    zone: ZoneInfo

    def before(self) -> Cursor | None:
        written = self.request.query_params.get("before")
        before = None if written is None else read_cursor(written)
        if written is not None and before is None:
            raise not_here()
        return before

    def label(self) -> Label | None:
        written = self.request.query_params.get("label")
        try:
            return Label(written) if written else None
        except ValueError as exc:
            raise not_here() from exc

    def words(self) -> str:
        return one_line(self.request.query_params.get("q", ""), WORDS_LIMIT)

    async def having(self, words: str, length: int) -> tuple[Sequence[Post], bool]:
        """Search the shown posts by what readers see of them; return the newest, and whether there may be more.

        The index has whole posts: it proposes them, so that a search does not reveal what the changelog omits.
        """
        post_search = read_post_search({"query": words})
        if isinstance(post_search, Refusal) or not post_search.terms:
            return (), False
        terms = post_search.terms
        post_search = evolve(
            post_search,
            # A word that a post has only where readers do not see it excludes nothing.
            terms=[term for term in terms if not term.is_excluded],
            statuses=(PostStatus.PUBLISHED,),
            content_types=self.changelog.content_types,
        )
        posts: list[Post] = []
        before: Cursor | None = None
        for _ in range(_SEARCHES):
            hits = await self.search.posts(self.changelog.organization_id, post_search, limit=length, before=before)
            posts += await asyncio.to_thread(self._matching, hits.found, terms)
            if len(posts) > length or not hits.has_more:
                return posts[:length], len(posts) > length
            before = Cursor.of(hits.found[-1])
        return posts[:length], True

    def _matching(self, posts: Iterable[Post], terms: Sequence[Term]) -> list[Post]:
        return [post for post in posts if self.changelog.lists(post) and self._matches(post, terms)]

    def _matches(self, post: Post, terms: Sequence[Term]) -> bool:
        words = frozenset(words_of((post.title, text_of(shown_content(post, self.changelog)))))
        return all(term.matches(words) for term in terms)

    async def part(
        self,
        length: int,
        before: Cursor | None,
        *,
        label: Label | None = None,
        month: Month | None = None,
        released: bool = False,
    ) -> "ListPart":
        listed = await self.changelogs.posts(
            self.changelog, limit=length + 1, label=label, month=month, released=released, before=before
        )
        posts = listed[:length]
        return ListPart(posts=posts, next=posts[-1].cursor if len(listed) > length else None, before=before)

    async def post(self, post_id: str) -> Post:
        """Return a post; unknown and hidden posts have the same 404."""
        own_post = await self.changelogs.post(self.changelog, post_id)
        if own_post is None:
            raise not_here()
        return own_post

    async def at(self, path: str) -> Post:
        """Return a post by its path; raise :class:`ChangelogMoved` if it has another path now."""
        post = await self.changelogs.at_path(self.changelog, path) if is_post_path(path) else None
        if post is None:
            raise not_here()
        if post.path != path:
            raise ChangelogMoved(self.links.post(post))
        return post

    async def release_of(self, post: Post) -> Post | None:
        return None if post.contained_in is None else await self.changelogs.post(self.changelog, post.contained_in)

    async def contained(self, post: Post, limit: int) -> Sequence[PostLine]:
        if post.release_tag is None:
            return ()
        return await self.changelogs.contained(self.changelog, post.id, limit=limit)


@final
@frozen(kw_only=True)
class ListPart:
    posts: tuple[Post, ...] = field(converter=tuple)
    next: Cursor | None
    before: Cursor | None


@final
class ChangelogMoved(Exception):
    def __init__(self, location: str) -> None:
        self.location = location
        super().__init__(location)


#: The public changelog of a request, and what all requests share.
View: TypeAlias = NamedDependency[SkipValidation[ChangelogRequest]]
Public: TypeAlias = NamedDependency[SkipValidation[PublicReading]]


def public(path: str) -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
    """Declare the handler of a page of a public changelog; ``path`` comes after the slug."""
    return route(f"{ROOT}/{{slug:str}}{path}", http_method=READ)


async def shown(reading: PublicReading, request: Request[Any, Any, Any], slug: str) -> ChangelogRequest:
    """Return the public changelog of a slug; raise :class:`ChangelogMoved` if it has another slug now."""
    changelogs = reading.app.stores.changelogs
    is_one = is_slug(slug) and len(slug) <= SLUG_LIMIT
    changelog = await changelogs.named(slug) if is_one else None
    if changelog is None or not changelog.is_public:
        raise not_here()
    links = ChangelogLinks(base_url=reading.base_url or _base_url(request), slug=changelog.slug)
    if changelog.slug != slug:
        rest, query = request.scope["path"].removeprefix(f"{ROOT}/{slug}"), request.scope["query_string"]
        location = f"{links.home}{quote(rest)}{'?' if query else ''}{quote(query, safe=_QUERY)}"
        raise ChangelogMoved(location)
    view = ChangelogRequest(
        request=request,
        changelogs=changelogs,
        search=reading.app.stores.search,
        share=reading.app.shares.public,
        pages=reading.pages,
        changelog=changelog,
        links=links,
        # Read after the revision and before the posts: a page may be newer than its tag, and never older.
        last_change=await changelogs.last_change(changelog),
        zone=await zone_of(reading.app.stores.directory, changelog.organization_id),
    )
    request.state[SHOWN] = view
    return view


def not_here() -> Refused:
    return Refused(404, {"error": NOT_HERE})


def _base_url(request: Request[Any, Any, Any]) -> str:
    host = request.headers.get("Host", "")
    return f"{request.scope['scheme']}://{host}" if _HOST.fullmatch(host) else ""
