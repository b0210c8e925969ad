from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.editing import ChangePost, entity_tag
from contentsvc_core.content.posts import Label, Post, PostStatus, post_text
from contentsvc_core.content.public.facets import labels_of
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.queries import PostQuery, read_post_query, unknown_brand
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.outgoing.letters import plain as plain_text
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.causes import sources_of
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.origins import Origin, read_origin
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.post_editing import EDITING, editing_routes, no_post
from contentsvc_http.dashboard.post_versions import version_routes
from contentsvc_http.dashboard.post_writing import writing_routes
from contentsvc_http.dashboard.session import ROOT, DashboardSession, change, visit
from contentsvc_http.dashboard.several_posts import FILTERS, several_routes
from contentsvc_http.dashboard.social import social_card
from contentsvc_http.words import CONTENT, ORDERS

_PER_PAGE: Final = 20
_CHANGED: Final = "This post was changed since you opened it. The page shows the current version."


def post_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    counting = Counting(dashboard)
    return [
        *writing_routes(dashboard, pages, counting),
        *editing_routes(dashboard, pages, counting),
        *several_routes(dashboard, pages, counting),
        *version_routes(dashboard, pages, counting),
        *_reading(dashboard, pages),
        *_doing(dashboard, pages, counting),
    ]


def _reading(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    @get(f"{ROOT}/posts")
    async def listed(request: Request[Any, Any, Any]) -> Response[Any]:
        session = await visit(dashboard, request)
        brands = await dashboard.app.stores.brands.identities(session.organization_id)
        chosen = {name: session.query.get(name, "") for name in (*FILTERS, "orderBy")}
        query = _query(chosen, brands, session.organization.time_zone)
        page: tuple[Sequence[Post], Pagination] | Refusal | None = None
        if isinstance(query, PostQuery):
            page_request = PageRequest.read(limit=str(_PER_PAGE), page=session.query.get("page"))
            organization_id, filters = session.organization_id, query
            page = await dashboard.app.shares.lists(
                organization_id, lambda: dashboard.app.stores.posts.page(organization_id, filters, page_request)
            )
        link = "/posts?" + urlencode({name: value for name, value in chosen.items() if value} | {"page": ""})
        if isinstance(page, Refusal):
            # The posts of this page were deleted, or no longer match the filters.
            return go(f"{link}{page.details['totalPages']}")
        context = {
            "posts": page[0] if page else (),
            "pagination": page[1].body if page else None,
            "chosen": chosen,
            "is_filtered": any(chosen[name] for name in FILTERS),
            "orders": ORDERS,
            "link": link,
            "content_types": CONTENT,
            "statuses": [status.value for status in PostStatus],
            "labels": tuple(Label),
            "labels_of": labels_of,
            "repositories": await _repositories(dashboard, session),
            "brands": brands,
            "error": query.message() if isinstance(query, Refusal) else None,
        }
        return pages.page(
            session, "posts.html", context, title="Posts", section="posts", status=400 if context["error"] else 200
        )

    @get(f"{ROOT}/posts/{{post_id:str}}")
    async def shown(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        session = await visit(dashboard, request)
        return await _show(dashboard, pages, session, post_id)

    return [listed, shown]


def _doing(dashboard: Dashboard, pages: Pages, counting: Counting) -> list[HTTPRouteHandler]:
    async def set_status(request: Request[Any, Any, Any], post_id: str, status: PostStatus) -> Response[Any]:
        session, form = await change(dashboard, request)
        if (refused := await counting.refusal(session, *EDITING)) is not None:
            return await _show(dashboard, pages, session, post_id, error=refused, status=429)
        seen = form.text("seen")
        done = await dashboard.app.post_editor.change(
            session.organization_id,
            post_id,
            ChangePost(status=status),
            if_=lambda post: entity_tag(post) == seen,
            author=session.signed_in.key.prefix,
        )
        if not isinstance(done, Post):
            return await _show(dashboard, pages, session, post_id, error=_CHANGED, status=409)
        return go(f"/posts/{done.id}", notice="published" if status is PostStatus.PUBLISHED else "unpublished")

    @post(f"{ROOT}/posts/{{post_id:str}}/publish")
    async def publish(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        return await set_status(request, post_id, PostStatus.PUBLISHED)

    @post(f"{ROOT}/posts/{{post_id:str}}/unpublish")
    async def unpublish(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        return await set_status(request, post_id, PostStatus.DRAFT)

    @post(f"{ROOT}/posts/{{post_id:str}}/delete")
    async def delete(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        session, form = await change(dashboard, request)
        seen = form.text("seen")
        fault = await dashboard.app.post_editor.remove(
            session.organization_id, post_id, if_=lambda post: entity_tag(post) == seen
        )
        if fault is not None:
            return await _show(dashboard, pages, session, post_id, error=_CHANGED, status=409)
        return go("/posts", notice="deleted")

    return [publish, unpublish, delete]


async def _repositories(dashboard: Dashboard, session: DashboardSession) -> list[str]:
    integrations = await dashboard.app.stores.directory.integrations(session.organization_id)
    return sorted({source.full_name for source in sources_of(integrations)})


def _query(chosen: dict[str, str], brands: Sequence[BrandIdentity], zone: ZoneInfo) -> PostQuery | Refusal:
    query = read_post_query(chosen, zone)
    if isinstance(query, Refusal):
        return query
    known_ids = {brand.id for brand in brands}
    unknown = [brand_id for brand_id in query.brand_identity_ids if brand_id not in known_ids]
    return unknown_brand(unknown[0]) if unknown else query


async def _show(
    dashboard: Dashboard,
    pages: Pages,
    session: DashboardSession,
    post_id: str,
    *,
    error: str | None = None,
    status: int = 200,
) -> Response[Any]:
    is_valid_id = is_own_id(post_id)
    shown = await dashboard.app.stores.posts.post(session.organization_id, post_id) if is_valid_id else None
    if shown is None:
        raise no_post()
    origin = read_origin(shown.source_metadata)
    context = {
        "post": shown,
        "seen": entity_tag(shown),
        "public": await _public(dashboard, session, shown),
        "kind": CONTENT[shown.content_type],
        "labels": labels_of(shown),
        "text": post_text(shown) or plain_text(shown.content),
        "social": social_card(shown.content_type, shown.markdown),
        "origin": origin,
        "run_id": await dashboard.app.stores.run_lists.run_of_post(session.organization_id, shown.id),
        **await _named(dashboard, session, origin),
        "error": error,
    }
    return pages.page(session, "post.html", context, title=shown.title, section="posts", status=status)


async def _public(dashboard: Dashboard, session: DashboardSession, post: Post) -> list[tuple[str, str]]:
    # On this server, independent of the public base URL.
    return [
        (changelog.title, ChangelogLinks(slug=changelog.slug).post(post))
        for changelog in await dashboard.app.changelog_editor.all_of(session.organization)
        if changelog.is_public and changelog.shows(post)
    ]


async def _named(dashboard: Dashboard, session: DashboardSession, origin: Origin) -> dict[str, Any]:
    organization_id, stores = session.organization_id, dashboard.app.stores
    return {
        "trigger": await stores.directory.trigger(organization_id, origin.trigger_id)
        if is_own_id(origin.trigger_id)
        else None,
        "schedule": await stores.schedules.schedule(organization_id, origin.schedule_id)
        if is_own_id(origin.schedule_id)
        else None,
        "brand": await stores.brands.identity(organization_id, origin.brand_id) if is_own_id(origin.brand_id) else None,
        "job": await stores.jobs.job(organization_id, origin.job_id) if is_own_id(origin.job_id) else None,
    }
