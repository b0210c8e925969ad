from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.content.queries import PostQuery, read_post_query
from contentsvc_core.lists.parameters import listed
from contentsvc_core.usecases.edit import MAX_BULK, BulkAction
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.session import ROOT, DashboardSession, change
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import sentence

_DOING: Final = ("POST", "/v1/posts/bulk")
FILTERS: Final = ("query", "status", "contentType", "label", "repository", "brandIdentityId", "since", "until")
_NOTICES: Final = {
    BulkAction.PUBLISH: "all-published",
    BulkAction.UNPUBLISH: "all-unpublished",
    BulkAction.DELETE: "all-deleted",
}
#: The maximum size of the form, in bytes: 500 ids of 41 characters, and the filter.
_MAX_FORM: Final = 64 * 1024


def several_routes(dashboard: Dashboard, pages: Pages, counting: Counting) -> list[HTTPRouteHandler]:
    @post(f"{ROOT}/posts/bulk", request_max_body_size=_MAX_FORM)
    async def several(request: Request[Any, Any, Any]) -> Response[Any]:
        session, form = await change(dashboard, request)
        action = _action(form)
        chosen = {name: value for name in (*FILTERS, "orderBy") if (value := form.text(name))}
        back = "/posts" + (f"?{urlencode(chosen)}" if chosen else "")
        titles, total = await _posts(dashboard, session, form, chosen)
        context: dict[str, Any] = {"action": action.value, "back": back, "chosen": chosen}
        if not titles:
            context |= {"posts": (), "more": 0}
            return pages.page(session, "posts_bulk.html", context, title="Posts", section="posts", status=422)
        # Ticked posts are in sight; all posts of a filter are not.
        asks = action is not BulkAction.PUBLISH or form.is_on("all")
        if asks and not form.is_on("confirmed"):
            context |= {"posts": titles, "more": total - len(titles)}
            return pages.page(session, "posts_bulk.html", context, title="Posts", section="posts")
        if (refused := await counting.refusal(session, *_DOING)) is not None:
            context |= {"posts": titles, "more": total - len(titles), "error": refused}
            return pages.page(session, "posts_bulk.html", context, title="Posts", section="posts", status=429)
        result = await dashboard.app.post_editor.bulk(
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

    return [several]


def _action(form: Form) -> BulkAction:
    try:
        return BulkAction(form.text("action"))
    except ValueError:
        raise Refused(400, {"error": "Choose what to do with the posts."}) from None


async def _posts(
    dashboard: Dashboard, session: DashboardSession, form: Form, chosen: dict[str, str]
) -> tuple[Sequence[tuple[str, str]], int]:
    if form.is_on("all"):
        query = read_post_query(chosen, session.organization.time_zone)
        if isinstance(query, PostQuery):
            return await dashboard.app.post_editor.chosen(session.organization_id, query)
        raise Refused(400, {"error": sentence(query.message())})
    ticked = (listed(form.text("ids")) or form.texts("post"))[:MAX_BULK]
    library = dashboard.app.stores.posts
    # A post that was deleted meanwhile keeps its id as its name, and fails by itself.
    read = [(post_id, await library.post(session.organization_id, post_id)) for post_id in dict.fromkeys(ticked)]
    titles = [(post_id, post_id if post is None else post.title) for post_id, post in read]
    return titles, len(titles)
