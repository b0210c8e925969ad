"""Every page and feed of public changelogs."""

from typing import Any, Final

from litestar import Request, Response, Router
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.public.atom import ATOM_TYPE, atom_document
from contentsvc_core.content.public.feeds import FEED_LENGTH, Feed, feed_of
from contentsvc_core.content.public.html import excerpt
from contentsvc_core.content.public.json_feed import JSON_FEED_TYPE, json_feed_document
from contentsvc_core.content.public.links import ROOT
from contentsvc_core.content.public.months import Month, by_month, by_year
from contentsvc_core.content.public.releases import by_release
from contentsvc_http.changelog.answers import FRAMED, PAGE, SHARED, answer
from contentsvc_http.changelog.assets import asset_route
from contentsvc_http.changelog.pages import HTML, missing, next_part, own_address, render
from contentsvc_http.changelog.reading import PublicReading, Shown, not_here, shown
from contentsvc_http.errors import refusal
from contentsvc_http.routing import OwnRouter

#: How many posts a page shows, whole; how many releases a list of them names; how many posts are in a frame.
PAGE_LENGTH: Final = 20
RELEASES_LENGTH: Final = 50
EMBED_LENGTH: Final = 5
_READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
_TITLES: Final = {404: "Not here", 405: "Not like this"}


def changelog_routes(reading: PublicReading) -> Router:
    """Give the routes. What is spelled out in a path goes before what is read: no month is called ``releases``."""

    # Where anything may follow, nothing that is read goes before it: not at the places of slugs and months.
    @route(
        [ROOT, f"{ROOT}/-", f"{ROOT}/{{slug:str}}/{{written:str}}/{{rest:path}}"],
        http_method=_READ,
        name="changelog_unknown",
    )
    async def unknown() -> Response[Any]:
        raise not_here()

    return OwnRouter(
        "/",
        route_handlers=[
            asset_route(),
            *_pages(reading),
            *_lists(reading),
            *_feeds(reading),
            *_embeds(reading),
            unknown,
        ],
        include_in_schema=False,
        exception_handlers={Exception: _refuse},
        after_request=None if reading.base_url else _for_its_reader,
    )


def _pages(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}", http_method=_READ, name="changelog")
    async def home(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        here = found.links.home
        part = await found.part(PAGE_LENGTH)
        body = render(
            "home.html",
            found,
            title="" if part.before is None else "Older posts",
            here=own_address(here, part),
            months=by_month(part.posts),
            goes_on=next_part(here, part),
            archive=by_year(await found.months()),
        )
        return _page(found, body)

    @route(f"{ROOT}/{{slug:str}}/posts/{{post_id:str}}", http_method=_READ, name="changelog_post")
    async def post(request: Request[Any, Any, Any], slug: FromPath[str], post_id: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        its = await found.post(post_id)
        assert its.published_at is not None  # for the type checker: others are not shown
        body = render(
            "post.html",
            found,
            title=its.title,
            here=found.links.post(its),
            description=excerpt(its.content),
            kind="article",
            post=its,
            month=Month.of(its.published_at),
        )
        return _page(found, body)

    return [home, post]


def _lists(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}/{{written:str}}", http_method=_READ, name="changelog_month")
    async def month(request: Request[Any, Any, Any], slug: FromPath[str], written: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        asked = Month.read(written)
        if asked is None:
            raise not_here()
        part = await found.part(PAGE_LENGTH, month=asked)
        if not part.posts:
            raise not_here()
        here = found.links.month(asked)
        months = await found.months()
        body = render(
            "month.html",
            found,
            title=asked.name,
            here=own_address(here, part),
            month=asked,
            posts=part.posts,
            goes_on=next_part(here, part),
            # The newest come first.
            later=next((each for each in reversed(months) if each > asked), None),
            earlier=next((each for each in months if each < asked), None),
            archive=by_year(months),
        )
        return _page(found, body)

    @route(f"{ROOT}/{{slug:str}}/releases", http_method=_READ, name="changelog_releases")
    async def releases(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        here = found.links.releases
        part = await found.part(RELEASES_LENGTH, released=True)
        known = by_release(part.posts)
        body = render(
            "releases.html",
            found,
            title="Releases",
            here=own_address(here, part),
            releases=known,
            # Of one repository, its name says nothing.
            several=len({each.repository for each in known}) > 1,
            goes_on=next_part(here, part),
        )
        return _page(found, body)

    return [month, releases]


def _feeds(reading: PublicReading) -> list[HTTPRouteHandler]:
    async def feed(found: Shown) -> Feed:
        posts = await found.changelogs.posts(found.changelog, limit=FEED_LENGTH)
        return feed_of(found.changelog, posts, links=found.links, updated_at=found.last_change)

    @route(f"{ROOT}/{{slug:str}}/feed.atom", http_method=_READ, name="changelog_atom")
    async def atom(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        body = atom_document(await feed(found))
        kind = f"{ATOM_TYPE}; charset=utf-8"
        return answer(request, body, kind, last_change=found.last_change, headers=SHARED)

    @route(f"{ROOT}/{{slug:str}}/feed.json", http_method=_READ, name="changelog_json_feed")
    async def json_feed(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        body = json_feed_document(await feed(found))
        return answer(request, body, JSON_FEED_TYPE, last_change=found.last_change, headers=SHARED)

    return [atom, json_feed]


def _embeds(reading: PublicReading) -> list[HTTPRouteHandler]:
    async def made(template: str, found: Shown) -> bytes:
        posts = await found.changelogs.posts(found.changelog, limit=EMBED_LENGTH)
        return render(template, found, title="", here=found.links.home, posts=posts)

    @route(f"{ROOT}/{{slug:str}}/embed", http_method=_READ, name="changelog_embed")
    async def embed(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        body = await made("embed.html", found)
        return answer(request, body, HTML, last_change=found.last_change, headers=FRAMED)

    @route(f"{ROOT}/{{slug:str}}/embed/fragment", http_method=_READ, name="changelog_fragment")
    async def fragment(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        found = await shown(reading, request, slug)
        body = await made("fragment.html", found)
        return answer(request, body, HTML, last_change=found.last_change, headers=PAGE | SHARED)

    return [embed, fragment]


def _for_its_reader(response: Response[Any]) -> Response[Any]:
    """Keep an answer out of shared caches: its addresses are made from the ``Host`` that one reader has sent."""
    kept = response.headers.get("Cache-Control", "")
    response.headers["Cache-Control"] = kept.replace("public", "private")
    return response


def _page(found: Shown, body: bytes) -> Response[Any]:
    return answer(found.request, body, HTML, last_change=found.last_change, headers=PAGE)


def _refuse(_request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    """Answer what went wrong, for people; nothing keeps it, so that what is switched on is there at once."""
    refused = refusal(exc)
    body = missing(_TITLES.get(refused.status, "Something went wrong"), str(refused.body["error"]))
    headers = {**PAGE, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **refused.headers}
    return Response(body, status_code=refused.status, media_type=HTML, headers=headers)
