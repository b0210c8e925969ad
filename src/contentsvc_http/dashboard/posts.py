from collections.abc import Mapping, Sequence
from typing import Any, Final, cast
from urllib.parse import urlencode

import msgspec
from attrs import evolve
from litestar import Response, get, post
from litestar.params import FromPath

from contentsvc_core.content.editing import ChangePost, entity_tag
from contentsvc_core.content.posts import Label, Post, PostStatus, post_text
from contentsvc_core.content.public.facets import labels_of
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.queries import PostQuery, read_post_query
from contentsvc_core.lists.pagination import PageRequest, Pagination
from contentsvc_core.lists.parameters import listed
from contentsvc_core.outgoing.letters import plain as plain_text
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.edit import MAX_BULK, BulkAction
from contentsvc_core.workflows.causes import sources_of
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.post_editing import EDITING, post_of
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.dashboard.social import social_card
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.v1.posts import unknown_brands
from contentsvc_http.words import CONTENT, ORDERS, sentence

_PER_PAGE: Final = 20
_CHANGED: Final = "This post was changed since you opened it. The page shows the current version."
#: Fields of a post's source metadata that its page has words for, or leaves out. It shows the others unchanged.
_TEXTS: Final = ("triggerId", "jobId", "scheduleId", "brandIdentityId", "runId", "writer")
_LISTS: Final = ("repositories", "eventTypes", "deliveryIds", "warnings")
_SHOWN: Final = frozenset({*_TEXTS, *_LISTS, "occurredAt"})
_DOING: Final = ("POST", "/v1/posts/bulk")
FILTERS: Final = ("query", "status", "contentType", "label", "repository", "brandIdentityId", "since", "until")
_NOTICES: Final = {
    BulkAction.PUBLISH: "all-published",
    BulkAction.UNPUBLISH: "all-unpublished",
    BulkAction.DELETE: "all-deleted",
}
#: The maximum size of the form, in bytes: 500 ids of 41 characters, and the filter.
_MAX_FORM: Final = 64 * 1024


def read_origin(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read a post's source metadata, which older versions may have written in other forms."""
    values = metadata or {}
    return {
        **{name: values.get(name) if isinstance(values.get(name), str) else "" for name in _TEXTS},
        **{name: _texts(values.get(name)) for name in _LISTS},
        "more": [(name, msgspec.json.encode(value).decode()) for name, value in values.items() if name not in _SHOWN],
    }


def _texts(value: object) -> list[str]:
    return [text for text in cast("list[object]", value) if isinstance(text, str)] if isinstance(value, list) else []


@post(f"{ROOT}/posts/bulk", request_max_body_size=_MAX_FORM)
async def several(session: Visitor, form: SentForm) -> Response[Any]:
    action = _action(form)
    chosen = {name: value for name in (*FILTERS, "orderBy") if (value := form.text(name))}
    back = "/posts" + (f"?{urlencode(chosen)}" if chosen else "")
    titles, total = await _posts(session, form, chosen)
    context: dict[str, Any] = {"action": action.value, "back": back, "chosen": chosen}
    context |= {"posts": titles, "more": total - len(titles)}
    if not titles:
        return pages.page(session, "posts_bulk.html", context, title="Posts", section="posts", status=422)
    # Ticked posts are in sight; all posts of a filter are not.
    asks = action is not BulkAction.PUBLISH or form.is_on("all")
    if asks and not form.is_on("confirmed"):
        return pages.page(session, "posts_bulk.html", context, title="Posts", section="posts")
    try:
        await counting.count(session, *_DOING)
    except Unsaved as unsaved:
        visit = evolve(session, unsaved=unsaved)
        return pages.page(visit, "posts_bulk.html", context, title="Posts", section="posts")
    result = await session.app.post_editor.bulk(
        session.organization_id, action, [post_id for post_id, _ in titles], author=session.signed_in.key.prefix
    )
    if not result.failed and total == len(titles):
        return go(back, notice=_NOTICES[action])
    names = dict(titles)
    context |= {
        "done": len(result.done),
        "failed": [(names[post_id], sentence(refusal.message())) for post_id, refusal in result.failed],
        "remaining": total - len(titles),
    }
    return pages.page(session, "posts_bulk_done.html", context, title="Posts", section="posts")


def _action(form: Form) -> BulkAction:
    try:
        return BulkAction(form.text("action"))
    except ValueError:
        raise Refused(400, {"error": "Choose what to do with the posts."}) from None


async def _posts(
    session: DashboardSession, form: Form, chosen: dict[str, str]
) -> tuple[Sequence[tuple[str, str]], int]:
    if form.is_on("all"):
        query = read_post_query(chosen, session.organization.time_zone)
        if isinstance(query, PostQuery):
            return await session.app.post_editor.chosen(session.organization_id, query)
        raise Refused(400, {"error": sentence(query.message())})
    ticked = (listed(form.text("ids")) or form.texts("post"))[:MAX_BULK]
    library = session.app.stores.posts
    # A post that was deleted meanwhile keeps its id as its name, and fails by itself.
    read = [(post_id, await library.post(session.organization_id, post_id)) for post_id in dict.fromkeys(ticked)]
    titles = [(post_id, post_id if post is None else post.title) for post_id, post in read]
    return titles, len(titles)


@get(f"{ROOT}/posts")
async def list_posts(session: Visitor) -> Response[Any]:
    brands = await session.app.stores.brands.identities(session.organization_id)
    chosen = {name: session.query.get(name, "") for name in (*FILTERS, "orderBy")}
    query = read_post_query(chosen, session.organization.time_zone)
    if isinstance(query, PostQuery):
        unknown = await unknown_brands(session.app.stores.brands, session.organization_id, query.brand_identity_ids)
        query = unknown or query
    page: tuple[Sequence[Post], Pagination] | Refusal | None = None
    if isinstance(query, PostQuery):
        page_request = PageRequest.read(limit=str(_PER_PAGE), page=session.query.get("page"))
        organization_id, filters = session.organization_id, query
        page = await session.lists(lambda: session.app.stores.posts.page(organization_id, filters, page_request))
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
        "repositories": await _repositories(session),
        "brands": brands,
        "error": query.message() if isinstance(query, Refusal) else None,
    }
    return pages.page(
        session, "posts.html", context, title="Posts", section="posts", status=400 if context["error"] else 200
    )


@get(f"{ROOT}/posts/{{post_id:str}}")
async def shown(session: Visitor, post_id: FromPath[str]) -> Response[Any]:
    stored = await post_of(session, post_id)
    origin = read_origin(stored.source_metadata)
    context = {
        "post": stored,
        "seen": entity_tag(stored),
        "public": await _public(session, stored),
        "kind": CONTENT[stored.content_type],
        "labels": labels_of(stored),
        "text": post_text(stored) or plain_text(stored.content),
        "social": social_card(stored.content_type, stored.markdown),
        "origin": origin,
        **await _named(session, origin),
    }
    return pages.page(session, "post.html", context, title=stored.title, section="posts")


@sent([f"{ROOT}/posts/{{post_id:str}}/{verb}" for verb in ("publish", "unpublish")], page=shown)
async def set_status(session: Visitor, form: SentForm, post_id: FromPath[str]) -> Response[Any]:
    await counting.count(session, *EDITING)
    seen = form.text("seen")
    publishes = session.request.scope["path"].endswith("/publish")
    done = await session.app.post_editor.change(
        session.organization_id,
        post_id,
        ChangePost(status=PostStatus.PUBLISHED if publishes else PostStatus.DRAFT),
        if_=lambda post: entity_tag(post) == seen,
        author=session.signed_in.key.prefix,
    )
    if not isinstance(done, Post):
        raise Unsaved(error=_CHANGED, status=409)
    return go(f"/posts/{done.id}", notice="published" if publishes else "unpublished")


@sent(f"{ROOT}/posts/{{post_id:str}}/delete", page=shown)
async def delete(session: Visitor, form: SentForm, post_id: FromPath[str]) -> Response[Any]:
    seen = form.text("seen")
    fault = await session.app.post_editor.remove(
        session.organization_id, post_id, if_=lambda post: entity_tag(post) == seen
    )
    if fault is not None:
        raise Unsaved(error=_CHANGED, status=409)
    return go("/posts", notice="deleted")


async def _repositories(session: DashboardSession) -> list[str]:
    integrations = await session.app.stores.directory.integrations(session.organization_id)
    return sorted({source.full_name for source in sources_of(integrations)})


async def _public(session: DashboardSession, post: Post) -> list[tuple[str, str]]:
    # On this server, independent of the public base URL.
    return [
        (changelog.title, ChangelogLinks(slug=changelog.slug).post(post))
        for changelog in await session.app.changelog_editor.all_of(session.organization)
        if changelog.is_public and changelog.shows(post)
    ]


async def _named(session: DashboardSession, origin: Mapping[str, Any]) -> dict[str, Any]:
    organization_id, stores = session.organization_id, session.app.stores
    return {
        "trigger": await stores.triggers.find(organization_id, origin["triggerId"]),
        "schedule": await stores.schedules.find(organization_id, origin["scheduleId"]),
        "brand": await stores.brands.identity(organization_id, origin["brandIdentityId"]),
        "job": await stores.jobs.job(organization_id, origin["jobId"]),
    }
