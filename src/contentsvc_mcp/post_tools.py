import asyncio
from typing import Annotated, Any, Final, Literal, TypedDict

from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.rates import SEARCHING
from contentsvc_core.application import Application
from contentsvc_core.content.editing import entity_tag
from contentsvc_core.content.posts import ContentType, Post, PostStatus, post_body
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_core.lists.pagination import MAX_PAGE, PageRequest, PaginationBody
from contentsvc_core.search.excerpts import ExcerptBody, post_hit_body
from contentsvc_core.search.questions import read_post_search
from contentsvc_mcp.context_tools import (
    Before,
    Limit,
    Next,
    NextOffset,
    Notice,
    Offset,
    Query,
    Since,
    Unindexed,
    read_before,
)
from contentsvc_mcp.toolbox import ToolAnswer, ToolRefused, accepted, chosen, tool
from contentsvc_mcp.untrusted import SLICE, bounded, part_of

NO_SUCH_POST: Final = "Post not found. Use search_posts or list_posts to find the id of a post"

PostId = Annotated[str, Meta(min_length=1, max_length=64, description="Id of the post (post_…).")]
Statuses = Annotated[list[PostStatus], Meta(max_length=2, description="Only posts with these statuses; empty: all.")]
ContentTypes = Annotated[list[ContentType], Meta(max_length=5, description="Only these content types; empty: all.")]
Version = Annotated[
    str,
    Meta(description="The current version of the post. Send it to edit_post and publish_post."),
]


class SearchPosts(Struct, forbid_unknown_fields=True, rename="camel"):
    query: Query = ""
    statuses: Statuses = []
    content_types: ContentTypes = []
    since: Since = ""
    limit: Limit = 10
    before: Before = ""


class ListPosts(Struct, forbid_unknown_fields=True, rename="camel"):
    statuses: Statuses = []
    content_types: ContentTypes = []
    sort: Annotated[Literal["asc", "desc"], Meta(description="Order by creation; desc: newest first.")] = "desc"
    limit: Limit = 10
    page: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Page number, starting at 1.")] = 1


class ReadPost(Struct, forbid_unknown_fields=True, rename="camel"):
    post_id: PostId
    offset: Offset = 0


class PostHitBody(TypedDict):
    """A matching post, without its text."""

    id: str
    title: str
    contentType: str
    status: str
    excerpts: list[ExcerptBody]
    createdAt: str
    updatedAt: str


class PostHitsBody(TypedDict):
    """The matching posts."""

    posts: list[PostHitBody]


class SearchedPosts(TypedDict):
    notice: Notice
    next: Next
    behind: Unindexed
    untrusted: PostHitsBody


class PostLineBody(TypedDict):
    """A post in the list, without its text."""

    id: str
    title: str
    contentType: str
    status: str
    createdAt: str
    updatedAt: str


class PostLinesBody(TypedDict):
    """The posts of a page."""

    posts: list[PostLineBody]


class ListedPosts(TypedDict):
    notice: Notice
    pagination: PaginationBody
    untrusted: PostLinesBody


class PostTextBody(TypedDict):
    """The text of a post, and its source."""

    title: str
    markdown: Annotated[str, Meta(description="The text, starting at 'offset'.")]
    sourceMetadata: dict[str, Any] | None


class PostPart(TypedDict):
    notice: Notice
    id: str
    contentType: str
    status: str
    version: Version
    createdAt: str
    updatedAt: str
    offset: int
    nextOffset: NextOffset
    totalChars: int
    sourceMetadataCut: Annotated[bool, Meta(description="Whether long lists in sourceMetadata were cut.")]
    untrusted: PostTextBody


def version_of(post: Post) -> str:
    return entity_tag(post).strip('"')


@tool(
    "Search posts",
    "Find posts (changelogs, blog posts and others) by the words of their title and text, newest first, with "
    "the matching lines. Use it to check whether a post about a topic already exists.",
    returns=SearchedPosts,
    rate=SEARCHING,
)
async def search_posts(app: Application, key: ApiKey, arguments: SearchPosts) -> ToolAnswer:
    post_search = accepted(
        read_post_search(
            {
                "query": arguments.query,
                "status": ",".join(status.value for status in arguments.statuses),
                "contentType": ",".join(content_type.value for content_type in arguments.content_types),
                "since": arguments.since,
            }
        )
    )
    before = read_before(arguments.before)

    async def read_hits() -> ToolAnswer:
        hits = await app.stores.search.posts(key.organization_id, post_search, limit=arguments.limit, before=before)
        bodies = await asyncio.to_thread(
            lambda: [post_hit_body(post_body(post), post_search.terms) for post in hits.found]
        )
        return ToolAnswer(
            facts={"next": written_cursor(Cursor.of(hits.found[-1])) if hits.has_more else None, "behind": hits.behind},
            untrusted={"posts": bodies},
        )

    return await app.shares.heavy(key.organization_id, read_hits)


@tool(
    "List posts",
    "List posts in order of creation, without their text. Use it for an overview, such as all drafts. To find "
    "a post by its words, use search_posts.",
    returns=ListedPosts,
)
async def list_posts(app: Application, key: ApiKey, arguments: ListPosts) -> ToolAnswer:
    query = PostQuery(
        ascending=arguments.sort == "asc",
        statuses=tuple(arguments.statuses),
        content_types=tuple(arguments.content_types),
    )
    page_request = PageRequest(limit=arguments.limit, page=arguments.page)
    organization_id = key.organization_id
    posts, pagination = accepted(
        await app.shares.lists(organization_id, lambda: app.stores.posts.page(organization_id, query, page_request))
    )
    lines = [chosen(post_body(post), PostLineBody) for post in posts]
    return ToolAnswer(facts={"pagination": pagination.body}, untrusted={"posts": lines})


@tool(
    "Read a post",
    f"Read a post: title, Markdown, status, source, and the version that edit_post and publish_post require. "
    f"A long text comes in parts of {SLICE:,} characters: continue with 'offset' until 'nextOffset' is null.",
    returns=PostPart,
)
async def read_post(app: Application, key: ApiKey, arguments: ReadPost) -> ToolAnswer:
    post = await app.stores.posts.post(key.organization_id, arguments.post_id)
    if post is None:
        raise ToolRefused(NO_SUCH_POST)
    markdown, where = part_of(post.markdown, arguments.offset)
    metadata, is_cut = bounded(post.source_metadata)
    facts = {
        **chosen(post_body(post), PostPart),
        "version": version_of(post),
        **where,
        "sourceMetadataCut": is_cut,
    }
    return ToolAnswer(facts=facts, untrusted={"title": post.title, "markdown": markdown, "sourceMetadata": metadata})
