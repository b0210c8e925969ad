import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypedDict, final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from msgspec import Meta, Struct

from contentsvc_core.commands import changes_of, values_of
from contentsvc_core.content.editing import (
    POST_CHANGED,
    POST_CLEARS,
    UNKNOWN_POST,
    ChangePost,
    CreatePost,
    PostSettings,
    entity_tag,
)
from contentsvc_core.content.posts import ContentType, Label, Post, PostBody, PostStatus
from contentsvc_core.content.queries import PostOrder, PostQuery, read_post_query, unknown_brand
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.lists.parameters import listed
from contentsvc_core.ports import BrandIdentities, PostLibrary
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.edit import MAX_BULK, BulkAction
from contentsvc_http.body_budget import MAX_POST_BODY
from contentsvc_http.errors import accepted, refuse_request, refused
from contentsvc_http.responses import PostListBody
from contentsvc_http.v1.bodies import encoded, read_body
from contentsvc_http.v1.conditions import changeable, if_none_match, wanted
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, TAGGED, Operations, Query
from contentsvc_http.v1.pages import INVALID_LIST, PAGE, read_parameters
from contentsvc_http.v1.post_versions import version_routes

_CONTENT_TYPES: Final = frozenset(content_type.value for content_type in ContentType)
_Id = Annotated[str, Parameter(description="Id of the post.")]
_LABELS: Final = ", ".join(f"`{label.value}`" for label in Label)
FILTERS: Final[Mapping[str, Query]] = {
    "label": (
        list[Label],
        f"Only posts with one of these labels: a comma-separated list of {_LABELS}.",
    ),
    "repository": (list[str], "Only posts about one of these repositories: a comma-separated list of `owner/name`."),
    "query": "Only posts whose title or text has all these words. Use `word*` for a prefix, `-word` to exclude.",
    "since": "Only posts from this date or time on, by the time that the list is sorted by.",
    "until": "Only posts before this date or time.",
}
LISTS: Final = ("status", "contentType", "brandIdentityId", "label", "repository")


class HostedPostSettings(PostSettings, frozen=True, kw_only=True):
    """The fields of a post for hosted clients."""

    #: Accepted and ignored: posts have no slug here.
    slug: Annotated[str | None, Meta(description="Accepted and ignored.")] = None


class OnePostBody(TypedDict):
    """A post."""

    post: PostBody


class PostRemovedBody(TypedDict):
    """The id of the deleted post."""

    id: str


def post_routes(gate: Gate) -> list[HTTPRouteHandler]:
    return [*_reading(gate), *_changing(gate), *several_routes(gate), *version_routes(gate)]


def _reading(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    library, brands, shares = gate.app.stores.posts, gate.app.stores.brands, gate.app.shares

    @operation(
        "GET /v1/posts",
        "listPosts",
        "List posts",
        query={
            **PAGE,
            "sort": (
                Literal["asc", "desc"],
                "Sort order: `asc` or `desc`. Default: `desc`. With `asc`, new posts move no post to another page.",
            ),
            "orderBy": (
                PostOrder,
                "Sort by `createdAt`, or by `occurredAt`, the time of a post's events. Default: `createdAt`.",
            ),
            "status": (
                list[PostStatus],
                "Only posts with these statuses: a comma-separated list of `draft`, `published`. Default: "
                + ("`published`." if gate.hosted else "all."),
            ),
            "contentType": (list[ContentType], "Only these content types, as a comma-separated list."),
            "brandIdentityId": (
                list[str],
                "Only posts of these brand identities: a comma-separated list of ids.",
            ),
            **FILTERS,
        },
        responses={400: INVALID_LIST},
    )
    async def list_posts(request: Request[Any, Any, Any], key: Caller) -> Response[PostListBody]:
        parameters = read_parameters(request, *LISTS)
        found_none = gate.hosted and _narrow_as_hosted(parameters)
        query = accepted(read_post_query(parameters))
        accepted(await unknown_brands(brands, key.organization_id, query.brand_identity_ids))
        page_request = PageRequest.read(limit=parameters.get("limit"), page=parameters.get("page"))
        organization_id = key.organization_id

        async def read_page() -> PostListBody:
            posts, pagination = accepted(
                _none(page_request) if found_none else await library.page(organization_id, query, page_request)
            )
            # Off the event loop: a hundred posts may have 200 MiB. The thread releases the GIL between two posts.
            bodies = await asyncio.to_thread(lambda: [encoded(gate.answers.post(post)) for post in posts])
            return {"posts": bodies, "pagination": pagination.body}

        return await gate.answer(key, await shares.lists(organization_id, read_page))

    @operation(
        "GET /v1/posts/{post_id:str}",
        "getPost",
        "Get a post",
        conditions=["If-Match", "If-None-Match"],
        headers=[TAGGED],
        responses={304: ResponseSpec(None, description="The post has not changed (`If-None-Match`).")},
    )
    async def get_post(request: Request[Any, Any, Any], key: Caller, post_id: _Id) -> Response[OnePostBody]:
        known_tags = if_none_match(request)
        post = await _post_of_version(library, key.organization_id, post_id, wanted(request))
        tag = entity_tag(post)
        if known_tags is not None and known_tags.match_weakly(tag):
            return Response(None, status_code=304, headers={"ETag": tag})  # pyright: ignore[reportReturnType]
        return await gate.answer(key, {"post": gate.answers.post(post)}, headers={"ETag": tag})

    return operation.routes


def _changing(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    library, editor = gate.app.stores.posts, gate.app.post_editor
    shape = changes_of(HostedPostSettings, "PostFields", clears=(*POST_CLEARS, "slug")) if gate.hosted else ChangePost

    @operation(
        "POST /v1/posts",
        "createPost",
        "Create a post",
        description="Creates a post with your own text. Send `publishAt` to publish the draft later.",
        body=CreatePost,
        body_limit=MAX_POST_BODY,
        status=201,
        headers=[TAGGED, LOCATED],
    )
    async def create_post(key: Caller, command: Sent[CreatePost]) -> Response[OnePostBody]:
        created = accepted(await editor.create(key.organization_id, command, author=key.prefix))
        headers = {"ETag": entity_tag(created)}
        body: OnePostBody = {"post": gate.answers.post(created)}
        return await gate.answer(key, body, headers=headers, location=f"/v1/posts/{created.id}")

    @operation(
        "PATCH /v1/posts/{post_id:str}",
        "updatePost",
        "Update a post",
        description="If you change the Markdown, the HTML is rendered again. Send `If-Match` to change the post only "
        "if it is still the version you read.",
        conditions=["If-Match", "If-None-Match"],
        body=shape,
        body_limit=MAX_POST_BODY,
        headers=[TAGGED],
    )
    async def change_post(request: Request[Any, Any, Any], key: Caller, post_id: _Id) -> Response[OnePostBody]:
        is_wanted = changeable(request)
        fields = await read_body(request, shape)
        values = values_of(fields)
        if "slug" in values and len(values) == 1:
            # Nothing to change: the response shows that the post has no slug.
            post = await _post_of_version(library, key.organization_id, post_id, is_wanted)
            return await gate.answer(key, {"post": gate.answers.post(post)}, headers={"ETag": entity_tag(post)})
        values.pop("slug", None)
        done = await editor.change(key.organization_id, post_id, ChangePost(**values), if_=is_wanted, author=key.prefix)
        changed = accepted(done)
        return await gate.answer(key, {"post": gate.answers.post(changed)}, headers={"ETag": entity_tag(changed)})

    @operation(
        "DELETE /v1/posts/{post_id:str}",
        "deletePost",
        "Delete a post",
        description="Send `If-Match` to delete the post only if it is still the version you read.",
        conditions=["If-Match", "If-None-Match"],
    )
    async def delete_post(request: Request[Any, Any, Any], key: Caller, post_id: _Id) -> Response[PostRemovedBody]:
        accepted(await editor.remove(key.organization_id, post_id, if_=changeable(request)))
        return await gate.answer(key, {"id": post_id})

    return operation.routes


def _narrow_as_hosted(parameters: dict[str, str]) -> bool:
    if not listed(parameters.get("status", "")):
        parameters["status"] = PostStatus.PUBLISHED.value
    content_types = listed(parameters.get("contentType", ""))
    known_types = [value for value in content_types if value in _CONTENT_TYPES]
    parameters["contentType"] = ",".join(known_types)
    return bool(content_types) and not known_types


def _none(page_request: PageRequest) -> tuple[tuple[Post, ...], Pagination] | Refusal:
    page = paginate(page_request, 0)
    return page if isinstance(page, Refusal) else ((), page)


async def _post_of_version(
    library: PostLibrary, organization_id: str, post_id: str, is_wanted: Callable[[Post], bool]
) -> Post:
    post = await library.post(organization_id, post_id)
    if post is None:
        raise refused(UNKNOWN_POST)
    if not is_wanted(post):
        raise refused(POST_CHANGED)
    return post


@final
class PostFilter(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """Filters of the list of posts, with the same meaning as its query parameters."""

    status: str = ""
    content_type: str = ""
    brand_identity_id: str = ""
    label: str = ""
    repository: str = ""
    query: str = ""
    order_by: str = ""
    since: str = ""
    until: str = ""


@final
class SeveralPosts(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """An action, and the posts: either `ids` or `filter`."""

    action: BulkAction
    ids: Annotated[Sequence[str], Meta(max_length=MAX_BULK)] | None = None
    filter: PostFilter | None = None


class FailedPostBody(TypedDict):
    """A post that was not changed, and why."""

    id: str
    error: str


class SeveralPostsBody(TypedDict):
    """The outcome of an action on several posts."""

    action: BulkAction
    done: list[str]
    failed: list[FailedPostBody]
    remaining: int


def several_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    editor, brands = gate.app.post_editor, gate.app.stores.brands

    @operation(
        "POST /v1/posts/bulk",
        "updatePosts",
        "Publish, unpublish or delete several posts",
        description=f"Send `ids`, or a `filter`. One request changes at most {MAX_BULK} posts. "
        "A post that cannot be changed is listed in `failed`, and the other posts are changed.",
        body=SeveralPosts,
    )
    async def change_posts(key: Caller, command: Sent[SeveralPosts]) -> Response[SeveralPostsBody]:
        if (command.ids is None) is (command.filter is None):
            refuse_request("send either ids or filter")
        ids, remaining = command.ids or (), 0
        if command.filter is not None:
            named = zip(command.filter.__struct_encode_fields__, command.filter.__struct_fields__, strict=True)
            query = accepted(read_post_query({wire: getattr(command.filter, name) for wire, name in named}))
            # Not the filter itself: ",", blanks and an order choose every post.
            if command.action is BulkAction.DELETE and query == PostQuery(order_by=query.order_by):
                refuse_request("filter: choose the posts to delete by at least one field")
            accepted(await unknown_brands(brands, key.organization_id, query.brand_identity_ids))
            posts, total = await editor.chosen(key.organization_id, query)
            ids, remaining = [post_id for post_id, _ in posts], total - len(posts)
        result = await editor.bulk(key.organization_id, command.action, ids, author=key.prefix)
        return await gate.answer(
            key,
            {
                "action": command.action,
                "done": list(result.done),
                "failed": [{"id": post_id, "error": refusal.message()} for post_id, refusal in result.failed],
                "remaining": remaining,
            },
        )

    return operation.routes


async def unknown_brands(brands: BrandIdentities, organization_id: str, brand_ids: Sequence[str]) -> Refusal | None:
    for brand_id in brand_ids:
        if await brands.identity(organization_id, brand_id) is None:
            return unknown_brand(brand_id)
    return None
