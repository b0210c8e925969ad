from collections.abc import Awaitable, Callable
from copy import deepcopy
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import msgspec
from attrs import evolve
from litestar import Request, Response, Router
from litestar.di import Provide
from litestar.handlers import route
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
from contentsvc_core.usecases.publicize import labels_in
from contentsvc_core.usecases.receive import UNAVAILABLE
from contentsvc_http.changelog.answers import (
    FRAMED,
    FRESH_S,
    NAMED_PICTURE_S,
    PAGE,
    SHARED,
    PublicPage,
    answer,
    known_tags,
)
from contentsvc_http.changelog.assets import asset_route
from contentsvc_http.changelog.pages import HTML, front_page, missing, next_part, own_address, render
from contentsvc_http.changelog.reading import (
    READ,
    SHOWN,
    ChangelogMoved,
    ChangelogRequest,
    PublicReading,
    View,
    not_here,
    public,
    shown,
)
from contentsvc_http.changelog.subscribing import subscribe_routes
from contentsvc_http.errors import refusal
from contentsvc_http.routing import OwnRouter

#: The number of whole posts on a page, of releases in a list, and of posts in a frame.
PAGE_LENGTH: Final = 20
RELEASES_LENGTH: Final = 50
EMBED_LENGTH: Final = 5
#: The number of pushes that a release's page links to, newest first. More would make the page longer than its text.
CONTAINED_LENGTH: Final = 100
_TITLES: Final = {404: "Page not found", 405: "Method not allowed", 503: "Not available now"}
#: In place of the words for programs.
_AWAY: Final = "The changelog cannot be read at the moment. Wait a minute, then load this page again."
SCRIPT: Final = files("contentsvc_http.changelog").joinpath("static", "widget.js").read_bytes()
_DIGEST: Final = sha256(SCRIPT).hexdigest()[:16]
_SVG: Final = "image/svg+xml"
_SCRIPT_TYPE: Final = "text/javascript"


@public("")
async def home(view: View) -> Response[Any]:
    words = view.words()
    if words:
        return await _results(view, words)
    before, label = view.before(), view.label()
    named = PublicPage(part=f"home?label={label.value}" if label else "home", media_type=HTML, headers=PAGE)

    async def read() -> Callable[[], bytes]:
        part, months = (
            await view.part(PAGE_LENGTH, before, label=label),
            await view.changelogs.months(view.changelog, view.zone),
        )
        labels = await labels_in(view.changelogs, view.changelog)
        return lambda: front_page(view, part, months, labels, label=label)

    return await answer(view, _from(named, before), read)


@public("/posts/{post_id:str}")
async def post(view: View, post_id: FromPath[str]) -> Response[Any]:

    async def find() -> Post:
        its = await view.post(post_id)
        if its.path is not None:
            raise ChangelogMoved(view.links.post(its))
        return its

    return await _of_post(view, f"posts/{post_id}", find)


@public("/releases/{name:str}")
async def release(view: View, name: FromPath[str]) -> Response[Any]:
    path = f"releases/{name}"
    return await _of_post(view, path, lambda: view.at(path))


# Where anything may follow, nothing that is read goes before it: not at the place of slugs.
@public("/{written:str}/{rest:path}")
async def by_path(view: View, written: FromPath[str], rest: FromPath[str]) -> Response[Any]:
    path = f"{written}/{rest.strip('/')}"
    month = Month.read(path.replace("/", "-"))
    if month is not None:
        raise ChangelogMoved(view.links.month(month))
    return await _of_post(view, path, lambda: view.at(path))


async def _of_post(view: ChangelogRequest, part: str, find: Callable[[], Awaitable[Post]]) -> Response[Any]:
    async def read() -> Callable[[], bytes]:
        its = await find()
        release, contained = await view.release_of(its), await view.contained(its, CONTAINED_LENGTH)
        older, newer = await view.changelogs.beside(view.changelog, its)
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


async def _results(view: ChangelogRequest, words: str) -> Response[Any]:
    async def read() -> Callable[[], bytes]:
        posts, has_more = await view.having(words, PAGE_LENGTH)
        labels = await labels_in(view.changelogs, view.changelog)
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


@public("/{written:str}")
async def month(view: View, written: FromPath[str]) -> Response[Any]:
    chosen, before = Month.read(written, view.zone), view.before()
    if chosen is None:
        raise not_here()
    here = view.links.month(chosen)

    async def read() -> Callable[[], bytes]:
        part = await view.part(PAGE_LENGTH, before, month=chosen)
        if not part.posts:
            raise not_here()
        months = await view.changelogs.months(view.changelog, view.zone)
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


@public("/releases")
async def releases(view: View) -> Response[Any]:
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


async def _feed(view: ChangelogRequest, page: PublicPage, document: Callable[[Feed], bytes]) -> Response[Any]:
    label = view.label()

    async def read() -> Callable[[], bytes]:
        posts = await view.changelogs.posts(view.changelog, limit=FEED_LENGTH, label=label)
        return lambda: document(
            feed_of(view.changelog, posts, links=view.links, updated_at=view.last_change, label=label)
        )

    return await answer(view, evolve(page, part=view.links.labelled(page.part, label)), read)


@public("/feed.atom")
async def atom(view: View) -> Response[Any]:
    page = PublicPage(part="feed.atom", media_type=f"{ATOM_TYPE}; charset=utf-8", headers=SHARED)
    return await _feed(view, page, atom_document)


@public("/feed.json")
async def json_feed(view: View) -> Response[Any]:
    page = PublicPage(part="feed.json", media_type=JSON_FEED_TYPE, headers=SHARED)
    return await _feed(view, page, json_feed_document)


@public("/images/{name:str}")
async def image(view: View, name: FromPath[str]) -> Response[Any]:
    mark = next((mark for mark in view.changelog.images if mark.kind.value == name), None)
    if mark is None:
        raise not_here()
    # Pages include the digest: another picture has another address.
    is_named = view.request.query_params.get("v") == mark.digest
    headers = {
        **PAGE,
        "X-Content-Type-Options": "nosniff",
        "ETag": f'"{mark.digest}"',
        "Cache-Control": f"public, max-age={NAMED_PICTURE_S if is_named else FRESH_S}",
    }
    tags = known_tags(view.request)
    if tags is not None and tags.match_weakly(headers["ETag"]):
        return Response(None, status_code=304, headers=headers)
    picture = await view.changelogs.image(view.changelog, mark.kind)
    if picture is None:
        raise not_here()
    return Response(picture.content, media_type=mark.media_type, headers=headers)


async def _newest(view: ChangelogRequest, page: PublicPage) -> Response[Any]:
    async def read() -> Callable[[], bytes]:
        posts = await view.changelogs.posts(view.changelog, limit=EMBED_LENGTH)
        return lambda: render(f"{page.part}.html", view, title="", here=view.links.home, posts=posts)

    return await answer(view, page, read)


@public("/embed")
async def embed(view: View) -> Response[Any]:
    page = PublicPage(part="embed", media_type=HTML, headers=FRAMED)
    return await _newest(view, page)


@public("/embed/fragment")
async def fragment(view: View) -> Response[Any]:
    page = PublicPage(part="fragment", media_type=HTML, headers=PAGE | SHARED)
    return await _newest(view, page)


def _for_its_reader(response: Response[Any]) -> Response[Any]:
    """Keep an answer out of shared caches: its addresses contain the ``Host`` of one request."""
    # OPTIONS is answered without the header.
    if (cache_control := response.headers.get("Cache-Control")) is not None:
        response.headers["Cache-Control"] = cache_control.replace("public", "private")
    return response


def _page(name: str, before: Cursor | None = None) -> PublicPage:
    return _from(PublicPage(part=name, media_type=HTML, headers=PAGE), before)


def _from(page: PublicPage, before: Cursor | None) -> PublicPage:
    return page if before is None else evolve(page, part=f"{page.part}?before={written_cursor(before)}")


def refuse_page(request: Request[Any, Any, Any], exc: Exception, base_url: str = "") -> Response[Any]:
    """Return the page of an error. It is not cached: a changelog may become public at any time."""
    if isinstance(exc, ChangelogMoved):
        # Cached no longer than a page: the changelog may return to an earlier slug.
        headers = {**SHARED, "Location": exc.location, "Cache-Control": f"public, max-age={FRESH_S}"}
        return Response(b"", status_code=301, media_type=HTML, headers=headers)
    refused = refusal(exc)
    title = _TITLES.get(refused.status, "Something went wrong")
    text = str(refused.body["error"])
    body = missing(title, _AWAY if text == UNAVAILABLE else text, request.state.get(SHOWN), base_url=base_url)
    headers = {**PAGE, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", **refused.headers}
    return Response(body, status_code=refused.status, media_type=HTML, headers=headers)


def _refuse_to_its_reader(request: Request[Any, Any, Any], exc: Exception) -> Response[Any]:
    # The framework's hook after a request is not called for errors, and a redirect is one.
    return _for_its_reader(refuse_page(request, exc))


@public("/widget.js")
async def script(view: View) -> Response[Any]:

    async def read() -> Callable[[], bytes]:
        return lambda: SCRIPT

    # The digest is part of the page's name, and so of its entity tag.
    page = PublicPage(part=f"widget.js?v={_DIGEST}", media_type=_SCRIPT_TYPE, headers=SHARED)
    return await answer(view, page, read)


@public("/widget.json")
async def data(view: View) -> Response[Any]:

    async def read() -> Callable[[], bytes]:
        posts = await view.changelogs.posts(view.changelog, limit=WIDGET_LENGTH)
        return lambda: msgspec.json.encode(widget_data(view.changelog, posts, view.links))

    return await answer(view, PublicPage(part="widget.json", media_type="application/json", headers=SHARED), read)


@public("/badge.svg")
async def badge(view: View) -> Response[Any]:

    async def read() -> Callable[[], bytes]:
        releases = await view.changelogs.posts(view.changelog, limit=1, released=True)
        newest = releases or await view.changelogs.posts(view.changelog, limit=1)
        value = badge_value(releases[0] if releases else None, newest[0] if newest else None, view.zone)
        return lambda: badge_svg(view.changelog, value)

    return await answer(view, PublicPage(part="badge.svg", media_type=_SVG, headers=PAGE | SHARED), read)


_PAGES: Final = (
    *(home, post, release, by_path, month, releases, atom, json_feed, image, embed, fragment, script, data, badge),
)


def changelog_routes(reading: PublicReading) -> Router:
    """Return the routes. Fixed parts of a path come before parameters: no month is called ``releases``."""

    @route([ROOT, f"{ROOT}/-"], http_method=READ)
    async def unknown() -> Response[Any]:
        raise not_here()

    async def view(request: Request[Any, Any, Any], slug: FromPath[str]) -> ChangelogRequest:
        return await shown(reading, request, slug)

    async def of_all_requests() -> PublicReading:
        return reading

    handler = partial(refuse_page, base_url=reading.base_url) if reading.base_url else _refuse_to_its_reader
    # Copies: the framework caches the hooks of the first application in a handler.
    pages = map(deepcopy, (*_PAGES, *subscribe_routes(sends_mail=reading.sends_mail)))
    return OwnRouter(
        "/",
        route_handlers=[asset_route(), *pages, unknown],
        dependencies={"view": Provide(view), "reading": Provide(of_all_requests)},
        include_in_schema=False,
        exception_handlers={Exception: handler},
        after_request=None if reading.base_url else _for_its_reader,
    )
