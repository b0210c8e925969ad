from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypedDict, final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from contentsvc_core.content.posts import Label
from contentsvc_core.content.queries import read_post_query, unknown_brand
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import BrandIdentities
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.edit import MAX_BULK, BulkAction, PostEditor
from contentsvc_http.errors import accepted, refuse_request
from contentsvc_http.v1.bodies import read_body
from contentsvc_http.v1.gate import Caller, Gate
from contentsvc_http.v1.operations import Described, Operations

_LABELS: Final = ", ".join(f"`{label.value}`" for label in Label)
FILTERS: Final[Mapping[str, Described]] = {
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

    action: str
    done: list[str]
    failed: list[FailedPostBody]
    remaining: int


def several_routes(gate: Gate, editor: PostEditor, brands: BrandIdentities) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")

    @operation(
        "POST /v1/posts/bulk",
        "updatePosts",
        "Publish, unpublish or delete several posts",
        description=f"Send `ids`, or a `filter`. One request changes at most {MAX_BULK} posts. "
        "A post that cannot be changed is listed in `failed`, and the other posts are changed.",
        body=SeveralPosts,
    )
    async def change_posts(request: Request[Any, Any, Any], key: Caller) -> Response[SeveralPostsBody]:
        action = await read_body(request, SeveralPosts)
        if (action.ids is None) is (action.filter is None):
            refuse_request("send either ids or filter")
        if action.action is BulkAction.DELETE and action.filter == PostFilter():
            refuse_request("filter: choose the posts to delete by at least one field")
        ids, remaining = action.ids or (), 0
        if action.filter is not None:
            named = zip(action.filter.__struct_encode_fields__, action.filter.__struct_fields__, strict=True)
            query = accepted(read_post_query({wire: getattr(action.filter, name) for wire, name in named}))
            accepted(await unknown_brands(brands, key.organization_id, query.brand_identity_ids))
            posts, total = await editor.chosen(key.organization_id, query)
            ids, remaining = [post_id for post_id, _ in posts], total - len(posts)
        result = await editor.bulk(key.organization_id, action.action, ids, author=key.prefix)
        return await gate.answer(
            key,
            {
                "action": action.action.value,
                "done": list(result.done),
                "failed": [{"id": post_id, "error": refusal.message()} for post_id, refusal in result.failed],
                "remaining": remaining,
            },
        )

    return operation.routes


async def unknown_brands(brands: BrandIdentities, organization_id: str, brand_ids: Sequence[str]) -> Refusal | None:
    for brand_id in brand_ids:
        if not is_own_id(brand_id) or await brands.identity(organization_id, brand_id) is None:
            return unknown_brand(brand_id)
    return None
