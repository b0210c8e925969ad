"""Editing a post, with a preview beside it."""

from collections.abc import Mapping
from typing import Any, Final, Self, final

from attrs import evolve, frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.content.editing import MARKDOWN_LIMIT, entity_tag, read_post_change
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.visits import ROOT, Visit, change, visit
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form, by_field

#: The operation of ``/v1`` that changes posts.
EDITING: Final = ("PATCH", "/v1/posts/{postId}")
#: The maximum size of a form with a post, in bytes: four bytes of UTF-8 a character, each in three bytes, and the other
#: fields.
_MAX_FORM: Final = 12 * MARKDOWN_LIMIT + 64 * 1024
_CHANGED: Final = "Somebody has saved this post since you opened it. Your text is below, complete, and not saved."
_GONE: Final = "Somebody has deleted this post since you opened it. Your text is below: copy it to keep it."


def no_post() -> Refused:
    return Refused(404, {"error": "There is no such post."})


_REFUSALS: Final = FormRefusals(
    fields={"title": "title", "markdown": "markdown"}, labels={"title": "The title", "markdown": "The text"}
)


@final
@frozen(kw_only=True)
class _Text:
    """The text of the form, and the version of the post for which the form was opened."""

    title: str
    markdown: str
    seen: str

    @classmethod
    def of_post(cls, post: Post) -> Self:
        return cls(title=post.title, markdown=post.markdown, seen=entity_tag(post))

    @classmethod
    def of_form(cls, form: Form) -> Self:
        return cls(title=form.text("title"), markdown=form.raw("markdown"), seen=form.text("seen"))


@final
class _Editor:
    def __init__(self, dashboard: Dashboard, pages: Pages, counting: Counting) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = counting

    async def post(self, found: Visit, post_id: str) -> Post | None:
        known = is_own_id(post_id)
        return await self._dashboard.app.stores.posts.post(found.organization_id, post_id) if known else None

    async def preview(self, found: Visit, markdown: str) -> str | None:
        """Return the HTML of the typed text; ``None``: it is too long for a post, as Markdown or as HTML."""
        if len(markdown) > MARKDOWN_LIMIT:
            return None
        dashboard = self._dashboard
        return await dashboard.app.shares.heavy(found.organization_id, lambda: dashboard.app.renderer.render(markdown))

    async def page(
        self,
        found: Visit,
        post: Post | None,
        text: _Text,
        *,
        faults: Mapping[str, str] | None = None,
        error: str | None = None,
        conflict: bool = False,
        status: int = 200,
    ) -> Response[Any]:
        context = {
            "post": post,
            "text": text,
            "faults": by_field(faults),
            "conflict": conflict,
            "preview": await self.preview(found, text.markdown),
            "error": error,
        }
        title = "A deleted post" if post is None else f"Edit {post.title}"
        return self._pages.page(found, "post_edit.html", context, title=title, section="posts", status=status)

    async def save(self, found: Visit, post_id: str, text: _Text, *, publishes: bool) -> Response[Any]:
        standing = await self.post(found, post_id)
        if standing is None:
            return await self._gone(found, text)
        status = PostStatus.PUBLISHED if publishes else None
        wanted = read_post_change(title=text.title, markdown=text.markdown, status=status)
        if isinstance(wanted, Refusal):
            return await self.page(found, standing, text, faults=_REFUSALS.faults(wanted), status=422)
        if (refused := await self._counting.refusal(found, *EDITING)) is not None:
            return await self.page(found, standing, text, error=refused, status=429)
        done = await self._dashboard.app.post_editor.change(
            found.organization_id, post_id, wanted, if_=lambda post: entity_tag(post) == text.seen
        )
        if isinstance(done, Post):
            return go(f"/posts/{done.id}", told="published" if publishes else "saved")
        if done.kind is RefusalKind.INVALID:
            return await self.page(found, standing, text, faults=_REFUSALS.faults(done), status=422)
        standing = await self.post(found, post_id)
        if standing is None:
            return await self._gone(found, text)
        # A second submission overwrites the new version, which the page has shown.
        text = evolve(text, seen=entity_tag(standing))
        return await self.page(found, standing, text, error=_CHANGED, conflict=True, status=409)

    async def _gone(self, found: Visit, text: _Text) -> Response[Any]:
        return await self.page(found, None, text, error=_GONE, status=404)


def editing_routes(dashboard: Dashboard, pages: Pages, counting: Counting) -> list[HTTPRouteHandler]:
    editor = _Editor(dashboard, pages, counting)

    @get(f"{ROOT}/posts/{{post_id:str}}/edit", name="dashboard_post_edit")
    async def edit(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        found = await visit(dashboard, request)
        shown = await editor.post(found, post_id)
        if shown is None:
            raise no_post()
        if not found.may_write:
            return go(f"/posts/{shown.id}")
        return await editor.page(found, shown, _Text.of_post(shown))

    @post(f"{ROOT}/posts/{{post_id:str}}/edit", name="dashboard_post_save", request_max_body_size=_MAX_FORM)
    async def save(request: Request[Any, Any, Any], post_id: FromPath[str]) -> Response[Any]:
        found, form = await change(dashboard, request)
        return await editor.save(found, post_id, _Text.of_form(form), publishes=form.text("then") == "publish")

    @post(f"{ROOT}/posts/preview", name="dashboard_post_preview", request_max_body_size=_MAX_FORM)
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        found, form = await change(dashboard, request)
        await counting.admit(found, PREVIEWING)
        text = _Text.of_form(form)
        if found.is_partial:
            return pages.part(found, "post_preview.html", {"preview": await editor.preview(found, text.markdown)})
        # Without scripts, the page is shown again with all typed values.
        standing = await editor.post(found, form.text("post"))
        if standing is None:
            raise no_post()
        return await editor.page(found, standing, text)

    return [edit, save, preview]
