from datetime import datetime
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from attrs import evolve, frozen
from litestar import Response, get, post
from litestar.params import FromPath

from contentsvc_core.access.keys import Scope
from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.content.editing import MARKDOWN_LIMIT, ChangePost, CreatePost, entity_tag, post_fault
from contentsvc_core.content.posts import ContentType, Label, Post, PostStatus
from contentsvc_core.refusals import RefusalKind, wire_name
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.zones import instant_at, local_time
from contentsvc_http.body_budget import MAX_POST_BODY
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.pages import CONFLICT, go
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.dashboard.social import social_card
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT

EDITING: Final = ("PATCH", "/v1/posts/{postId}")
_CREATING: Final = ("POST", "/v1/posts")
_CHANGED: Final = "This post was saved elsewhere since you opened it. Your text is below, complete, and not saved yet."
_GONE: Final = "This post was deleted since you opened it. Your text is below: copy it to keep it."


_LABELS: Final = {
    "title": "The title",
    "markdown": "The text",
    "summary": "The summary",
    "publish_at": "The time",
    "repository": "The repository",
}
_REFUSALS: Final = FormRefusals(fields={name: wire_name(name) for name in _LABELS}, labels=_LABELS)
#: The form of times in the form: browsers show a calendar for it.
_MINUTE: Final = "%Y-%m-%dT%H:%M"


@frozen(kw_only=True)
class _Text:
    title: str = ""
    markdown: str = ""
    summary: str = ""
    labels: tuple[Label, ...] = ()
    publish_at: str = ""
    content_type: ContentType = ContentType.CHANGELOG
    repository: str = ""
    seen: str = ""

    @classmethod
    def of_post(cls, post: Post, zone: ZoneInfo) -> Self:
        return cls(
            title=post.title,
            markdown=post.markdown,
            summary=post.summary or "",
            labels=post.labels,
            publish_at=_shown_time(post, zone),
            content_type=post.content_type,
            seen=entity_tag(post),
        )

    @classmethod
    def of_form(cls, form: Form) -> Self:
        ticked = form.texts("label")
        kinds = {kind.value: kind for kind in ContentType}
        return cls(
            title=form.text("title"),
            markdown=form.raw("markdown"),
            summary=form.text("summary"),
            labels=tuple(label for label in Label if label.value in ticked),
            publish_at=form.text("publishAt"),
            content_type=kinds.get(form.text("contentType"), ContentType.CHANGELOG),
            repository=form.text("repository"),
            seen=form.text("seen"),
        )

    def values(self, zone: ZoneInfo, *, is_draft: bool, publishes: bool) -> dict[str, Any]:
        """Return the fields of the commands that create and change a post; times are read in a zone."""
        values: dict[str, Any] = {
            "title": self.title,
            "markdown": self.markdown,
            "summary": self.summary or None,
            "labels": self.labels,
        }
        if publishes:
            return {**values, "status": PostStatus.PUBLISHED}
        return {**values, "publish_at": _instant(self.publish_at, zone)} if is_draft else values


async def post_of(session: DashboardSession, post_id: str) -> Post:
    return found(await session.app.stores.posts.post(session.organization_id, post_id), "There is no such post.")


async def _preview(session: DashboardSession, markdown: str) -> str | None:
    """Return the HTML of the typed text; ``None``: it is too long for a post, as Markdown or as HTML."""
    if len(markdown) > MARKDOWN_LIMIT:
        return None
    return await session.heavy(lambda: session.app.renderer.render(markdown))


async def _page(session: DashboardSession, post: Post | None, text: _Text, *, is_new: bool = False) -> Response[Any]:
    context = {
        "post": post,
        "text": text,
        "conflict": session.unsaved is not None and session.unsaved.status == CONFLICT,
        "preview": await _preview(session, text.markdown),
        "social": social_card(text.content_type, text.markdown),
        "labels": tuple(Label),
        "content_types": CONTENT,
        "is_new": is_new,
        "is_draft": is_new or (post is not None and post.status is PostStatus.DRAFT),
        "least": local_time(session.organization.time_zone, session.app.clock.now()).strftime(_MINUTE),
    }
    title = f"Edit {post.title}" if post is not None else "New post" if is_new else "A deleted post"
    return pages.page(session, "post_edit.html", context, title=title, section="posts")


async def _save(session: DashboardSession, post_id: str, text: _Text, *, publishes: bool) -> Response[Any]:
    stored = await session.app.stores.posts.post(session.organization_id, post_id)
    if stored is None:
        raise Unsaved(error=_GONE, status=404)
    values = text.values(
        session.organization.time_zone, is_draft=stored.status is PostStatus.DRAFT, publishes=publishes
    )
    if text.publish_at == _shown_time(stored, session.organization.time_zone):
        # The shown time lacks the seconds, and is ambiguous when clocks are set back.
        values.pop("publish_at", None)
    _REFUSALS.check(values, post_fault)
    await counting.count(session, *EDITING)
    done = await session.app.post_editor.change(
        session.organization_id,
        post_id,
        ChangePost(**values),
        if_=lambda post: entity_tag(post) == text.seen,
        author=session.signed_in.key.prefix,
    )
    if isinstance(done, Post):
        return go(f"/posts/{done.id}", notice=_notice_of(done, publishes=publishes))
    if done.kind is RefusalKind.INVALID:
        raise Unsaved(faults=_REFUSALS.faults(done))
    raise Unsaved(error=_CHANGED, status=CONFLICT)


async def _create(session: DashboardSession, text: _Text, *, publishes: bool) -> Response[Any]:
    values: dict[str, Any] = {
        **text.values(session.organization.time_zone, is_draft=True, publishes=publishes),
        "content_type": text.content_type,
        "repository": text.repository or None,
    }
    _REFUSALS.check(values, post_fault)
    await counting.count(session, *_CREATING)
    created = _REFUSALS.accepted(
        await session.sent_once(
            lambda: session.app.post_editor.create(
                session.organization_id, CreatePost(**values), author=session.signed_in.key.prefix
            )
        )
    )
    if created is None:
        return go("/posts", notice="sent-already")
    return go(f"/posts/{created.id}", notice=_notice_of(created, publishes=publishes, otherwise="created"))


@get(f"{ROOT}/posts/new", opt={"scope": Scope.WRITE})
async def begin(session: Visitor) -> Response[Any]:
    text = _Text.of_form(session.typed) if session.typed else _Text()
    return await _page(session, None, text, is_new=True)


@sent(f"{ROOT}/posts/new", page=begin, request_max_body_size=MAX_POST_BODY)
async def create(session: Visitor, form: SentForm) -> Response[Any]:
    return await _create(session, _Text.of_form(form), publishes=form.text("then") == "publish")


@get(f"{ROOT}/posts/{{post_id:str}}/edit", opt={"scope": Scope.WRITE})
async def edit(session: Visitor, post_id: FromPath[str]) -> Response[Any]:
    if session.typed is not None:
        return await _page_again(session, _Text.of_form(session.typed), post_id)
    shown = await post_of(session, post_id)
    return await _page(session, shown, _Text.of_post(shown, session.organization.time_zone))


async def _page_again(session: DashboardSession, text: _Text, post_id: str) -> Response[Any]:
    stored = await session.app.stores.posts.post(session.organization_id, post_id)
    if stored is None:
        return await _page(evolve(session, unsaved=Unsaved(error=_GONE, status=404)), None, text)
    if session.unsaved is not None and session.unsaved.status == CONFLICT:
        # A second submission overwrites the new version, which the page shows.
        text = evolve(text, seen=entity_tag(stored))
    return await _page(session, stored, text)


@sent(f"{ROOT}/posts/{{post_id:str}}/edit", page=edit, request_max_body_size=MAX_POST_BODY)
async def save(session: Visitor, form: SentForm, post_id: FromPath[str]) -> Response[Any]:
    return await _save(session, post_id, _Text.of_form(form), publishes=form.text("then") == "publish")


@post(f"{ROOT}/posts/preview", request_max_body_size=MAX_POST_BODY)
async def preview(session: Visitor, form: SentForm) -> Response[Any]:
    await counting.admit(session, PREVIEWING)
    text = _Text.of_form(form)
    if session.is_partial:
        context = {
            "preview": await _preview(session, text.markdown),
            "social": social_card(text.content_type, text.markdown),
            "partial": True,
        }
        return pages.part(session, "post_preview.html", context)
    # Without scripts, the page is shown again with all typed values.
    if not form.text("post"):
        return await _page(session, None, text, is_new=True)
    return await _page(session, await post_of(session, form.text("post")), text)


def _shown_time(post: Post, zone: ZoneInfo) -> str:
    return "" if post.publish_at is None else local_time(zone, post.publish_at).strftime(_MINUTE)


def _instant(text: str, zone: ZoneInfo) -> str | None:
    try:
        local = datetime.fromisoformat(text)
        return text if local.tzinfo is not None else iso_ms(instant_at(zone, local))
    except (ValueError, OverflowError):
        return text or None


def _notice_of(post: Post, *, publishes: bool, otherwise: str = "saved") -> str:
    if publishes:
        return "published"
    return otherwise if post.publish_at is None else "scheduled"
