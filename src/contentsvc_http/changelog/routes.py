from collections.abc import Awaitable, Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from attrs import evolve
from litestar import Request, Response, Router
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, route
from litestar.params import FromPath

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.atom import ATOM_TYPE, atom_document
from contentsvc_core.content.public.feeds import FEED_LENGTH, Feed, feed_of
from contentsvc_core.content.public.html import shown_in_full, summary_of
from contentsvc_core.content.public.json_feed import JSON_FEED_TYPE, json_feed_document
from contentsvc_core.content.public.links import ROOT
from contentsvc_core.content.public.months import Month, by_year
from contentsvc_core.content.public.releases import by_release
from contentsvc_core.content.public.trimming import shown_content
from contentsvc_core.content.public.widget import WIDGET_LENGTH, badge_svg, badge_value, widget_data
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_http.changelog.answers import FRAMED, FRESH_S, KEPT_S, PAGE, SHARED, PublicPage, answer, known_tags
from contentsvc_http.changelog.assets import asset_route
from contentsvc_http.changelog.pages import HTML, front, missing, next_part, own_address, render
from contentsvc_http.changelog.reading import SHOWN, Moved, PublicReading, Shown, not_here, shown
from contentsvc_http.changelog.subscribing import subscribe_routes
from contentsvc_http.errors import refusal
from contentsvc_http.routing import OwnRouter

#: The number of whole posts on a page, of releases in a list, and of posts in a frame.
PAGE_LENGTH: Final = 20
RELEASES_LENGTH: Final = 50
EMBED_LENGTH: Final = 5
#: The number of pushes that a release's page links to, newest first. More would make the page longer than its text.
CONTAINED_LENGTH: Final = 100
_READ: Final = [HttpMethod.GET, HttpMethod.HEAD]
_TITLES: Final = {404: "Page not found", 405: "Method not allowed"}
SCRIPT: Final = files("contentsvc_http.changelog").joinpath("static", "widget.js").read_bytes()
_DIGEST: Final = sha256(SCRIPT).hexdigest()[:16]
_SVG: Final = "image/svg+xml"
_SCRIPT_TYPE: Final = "text/javascript"


def changelog_routes(reading: PublicReading) -> Router:
    """Return the routes. Fixed parts of a path come before parameters: no month is called ``releases``."""

    @route([ROOT, f"{ROOT}/-"], http_method=_READ)
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
            *subscribe_routes(reading),
            *widget_routes(reading),
            unknown,
        ],
        include_in_schema=False,
        exception_handlers={Exception: refuse_page if reading.base_url else _refuse_to_its_reader},
        after_request=None if reading.base_url else _for_its_reader,
    )


def _pages(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}", http_method=_READ)
    async def home(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        words = view.words()
        if words:
            return await _results(view, words)
        before, label = view.before(), view.label()
        named = PublicPage(part=f"home?label={label.value}" if label else "home", media_type=HTML, headers=PAGE)

        async def read() -> Callable[[], bytes]:
            part, months = await view.part(PAGE_LENGTH, before, label=label), await view.months()
            labels = await view.labels()
            return lambda: front(view, part, months, labels, label=label)

        return await answer(view, _from(named, before), read)

    @route(f"{ROOT}/{{slug:str}}/posts/{{post_id:str}}", http_method=_READ)
    async def post(request: Request[Any, Any, Any], slug: FromPath[str], post_id: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def find() -> Post:
            its = await view.post(post_id)
            if its.path is not None:
                raise Moved(view.links.post(its))
            return its

        return await _of_post(view, f"posts/{post_id}", find)

    @route(f"{ROOT}/{{slug:str}}/releases/{{name:str}}", http_method=_READ)
    async def release(request: Request[Any, Any, Any], slug: FromPath[str], name: FromPath[str]) -> Response[Any]:
        view, path = await shown(reading, request, slug), f"releases/{name}"
        return await _of_post(view, path, lambda: view.at(path))

    # Where anything may follow, nothing that is read goes before it: not at the place of slugs.
    @route(f"{ROOT}/{{slug:str}}/{{written:str}}/{{rest:path}}", http_method=_READ)
    async def by_path(
        request: Request[Any, Any, Any], slug: FromPath[str], written: FromPath[str], rest: FromPath[str]
    ) -> Response[Any]:
        view, path = await shown(reading, request, slug), f"{written}/{rest.strip('/')}"
        month = Month.read(path.replace("/", "-"))
        if month is not None:
            raise Moved(view.links.month(month))
        return await _of_post(view, path, lambda: view.at(path))

    return [home, post, release, by_path]


async def _of_post(view: Shown, part: str, find: Callable[[], Awaitable[Post]]) -> Response[Any]:
    async def read() -> Callable[[], bytes]:
        its = await find()
        release, contained = await view.release_of(its), await view.contained(its, CONTAINED_LENGTH)
        older, newer = await view.beside(its)
        return lambda: render(
            "post.html",
            view,
            title=its.title,
            here=view.links.post(its),
            description=summary_of(its, shown_content(its, view.changelog)),
            kind="article",
            post=its,
            release=release,
            contained=contained,
            older=older,
            newer=newer,
        )

    return await answer(view, evolve(_page(part), is_sure=False), read)


async def _results(view: Shown, words: str) -> Response[Any]:
    async def read() -> Callable[[], bytes]:
        posts, has_more = await view.having(words, PAGE_LENGTH)
        labels = await view.labels()
        return lambda: render(
            "search.html",
            view,
            title=f"Search: {words}",
            here=view.links.having(words),
            words=words,
            offered=labels,
            posts=posts,
            more=has_more,
        )

    # No path of a post begins with a slash, so that none is answered with a search.
    page = evolve(_page(f"/search/{words}"), is_sure=False)
    return await view.share(view.changelog.organization_id, lambda: answer(view, page, read))


def _lists(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}/{{written:str}}", http_method=_READ)
    async def month(request: Request[Any, Any, Any], slug: FromPath[str], written: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        chosen, before = Month.read(written, view.zone), view.before()
        if chosen is None:
            raise not_here()
        here = view.links.month(chosen)

        async def read() -> Callable[[], bytes]:
            part = await view.part(PAGE_LENGTH, before, month=chosen)
            if not part.posts:
                raise not_here()
            months = await view.months()
            return lambda: render(
                "month.html",
                view,
                title=chosen.name,
                here=own_address(here, part),
                month=chosen,
                posts=part.posts,
                in_full=shown_in_full(part.posts),
                next=next_part(here, part),
                later=next((other for other in reversed(months) if other > chosen), None),
                earlier=next((other for other in months if other < chosen), None),
                archive=by_year(months),
            )

        return await answer(view, evolve(_page(chosen.written, before), is_sure=False), read)

    @route(f"{ROOT}/{{slug:str}}/releases", http_method=_READ)
    async def releases(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        before = view.before()
        here = view.links.releases

        async def read() -> Callable[[], bytes]:
            part = await view.part(RELEASES_LENGTH, before, released=True)
            releases = by_release(part.posts)
            return lambda: render(
                "releases.html",
                view,
                title="Releases",
                here=own_address(here, part),
                releases=releases,
                several=len({release.repository for release in releases}) > 1,
                next=next_part(here, part),
            )

        return await answer(view, _page("releases", before), read)

    return [month, releases]


def _feeds(reading: PublicReading) -> list[HTTPRouteHandler]:
    async def feed(view: Shown, page: PublicPage, document: Callable[[Feed], bytes]) -> Response[Any]:
        label = view.label()

        async def read() -> Callable[[], bytes]:
            posts = await view.changelogs.posts(view.changelog, limit=FEED_LENGTH, label=label)
            return lambda: document(
                feed_of(view.changelog, posts, links=view.links, updated_at=view.last_change, label=label)
            )

        return await answer(view, evolve(page, part=view.links.labelled(page.part, label)), read)

    @route(f"{ROOT}/{{slug:str}}/feed.atom", http_method=_READ)
    async def atom(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        page = PublicPage(part="feed.atom", media_type=f"{ATOM_TYPE}; charset=utf-8", headers=SHARED)
        return await feed(await shown(reading, request, slug), page, atom_document)

    @route(f"{ROOT}/{{slug:str}}/feed.json", http_method=_READ)
    async def json_feed(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        page = PublicPage(part="feed.json", media_type=JSON_FEED_TYPE, headers=SHARED)
        return await feed(await shown(reading, request, slug), page, json_feed_document)

    @route(f"{ROOT}/{{slug:str}}/images/{{name:str}}", http_method=_READ)
    async def image(request: Request[Any, Any, Any], slug: FromPath[str], name: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)
        mark = next((mark for mark in view.changelog.images if mark.kind.value == name), None)
        if mark is None:
            raise not_here()
        # Pages include the digest: another picture has another address.
        is_named = request.query_params.get("v") == mark.digest
        headers = {
            **PAGE,
            "X-Content-Type-Options": "nosniff",
            "ETag": f'"{mark.digest}"',
            "Cache-Control": f"public, max-age={KEPT_S if is_named else FRESH_S}",
        }
        tags = known_tags(request)
        if tags is not None and tags.match_weakly(headers["ETag"]):
            return Response(None, status_code=304, headers=headers)
        picture = await view.changelogs.image(view.changelog, mark.kind)
        if picture is None:
            raise not_here()
        return Response(picture.content, media_type=mark.media_type, headers=headers)

    return [atom, json_feed, image]


def _embeds(reading: PublicReading) -> list[HTTPRouteHandler]:
    async def newest(view: Shown, page: PublicPage) -> Response[Any]:
        async def read() -> Callable[[], bytes]:
            posts = await view.changelogs.posts(view.changelog, limit=EMBED_LENGTH)
            return lambda: render(f"{page.part}.html", view, title="", here=view.links.home, posts=posts)

        return await answer(view, page, read)

    @route(f"{ROOT}/{{slug:str}}/embed", http_method=_READ)
    async def embed(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        page = PublicPage(part="embed", media_type=HTML, headers=FRAMED)
        return await newest(await shown(reading, request, slug), page)

    @route(f"{ROOT}/{{slug:str}}/embed/fragment", http_method=_READ)
    async def fragment(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        page = PublicPage(part="fragment", media_type=HTML, headers=PAGE | SHARED)
        return await newest(await shown(reading, request, slug), page)

    return [embed, fragment]


def _for_its_reader(response: Response[Any]) -> Response[Any]:
    """Keep an answer out of shared caches: its addresses contain the ``Host`` of one request."""
    # OPTIONS is answered without the header.
    if (kept := response.headers.get("Cache-Control")) is not None:
        response.headers["Cache-Control"] = kept.replace("public", "private")
    return response


def _page(name: str, before: Cursor | None = None) -> PublicPage:
    return _from(PublicPage(part=name, media_type=HTML, headers=PAGE), before)


def _from(page: PublicPage, before: Cursor | None) -> PublicPage:
    return page if before is None else evolve(page, part=f"{page.part}?before={written_cursor(before)}")


def refuse_page(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    """Return the page of an error. It is not cached: a changelog may become public at any time."""
    if isinstance(exc, Moved):
        # Cached no longer than a page: the changelog may return to an earlier slug.
        headers = {**SHARED, "Location": exc.location, "Cache-Control": f"public, max-age={FRESH_S}"}
        return Response(b"", status_code=301, media_type=HTML, headers=headers)
    refused = refusal(exc)
    title = _TITLES.get(refused.status, "Something went wrong")
    body = missing(title, str(refused.body["error"]), request.state.get(SHOWN))
    headers = {**PAGE, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **refused.headers}
    return Response(body, status_code=refused.status, media_type=HTML, headers=headers)


def _refuse_to_its_reader(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    # The framework's hook after a request is not called for errors, and a redirect is one.
    return _for_its_reader(refuse_page(request, exc))


def widget_routes(reading: PublicReading) -> list[HTTPRouteHandler]:
    @route(f"{ROOT}/{{slug:str}}/widget.js", http_method=_READ)
    async def script(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            return lambda: SCRIPT

        # The digest is part of the page's name, and so of its entity tag.
        page = PublicPage(part=f"widget.js?v={_DIGEST}", media_type=_SCRIPT_TYPE, headers=SHARED)
        return await answer(view, page, read)

    @route(f"{ROOT}/{{slug:str}}/widget.json", http_method=_READ)
    async def data(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            posts = await view.changelogs.posts(view.changelog, limit=WIDGET_LENGTH)
            return lambda: msgspec.json.encode(widget_data(view.changelog, posts, view.links))

        return await answer(view, PublicPage(part="widget.json", media_type="application/json", headers=SHARED), read)

    @route(f"{ROOT}/{{slug:str}}/badge.svg", http_method=_READ)
    async def badge(request: Request[Any, Any, Any], slug: FromPath[str]) -> Response[Any]:
        view = await shown(reading, request, slug)

        async def read() -> Callable[[], bytes]:
            releases = await view.changelogs.posts(view.changelog, limit=1, released=True)
            newest = releases or await view.changelogs.posts(view.changelog, limit=1)
            value = badge_value(releases[0] if releases else None, newest[0] if newest else None, view.zone)
            return lambda: badge_svg(view.changelog, value)

        return await answer(view, PublicPage(part="badge.svg", media_type=_SVG, headers=PAGE | SHARED), read)

    return [script, data, badge]
