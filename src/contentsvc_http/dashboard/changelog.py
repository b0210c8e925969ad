"""The public changelog: what it is called, what it shows, and whether everybody may read it."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import Exposure, PublicChangelog
from contentsvc_core.content.public.faults import InvalidChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_http.dashboard.choices import content_choices, named
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.forms import Form, by_field
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.visits import ROOT, Visit, change, visit
from contentsvc_http.dashboard.words import sentence

_SECTION: Final = "changelog"
_TITLE: Final = "Public changelog"
_SNIPPET: Final = '<iframe src="{}" title="What is new" loading="lazy" width="100%" height="420"></iframe>'
_CHANGED: Final = "What becomes public has changed since you looked. Look once more."
#: By a field's name on the wire: what the page calls it.
_LABELS: Final = {
    "slug": "The address",
    "title": "The title",
    "description": "The description",
    "productUrl": "The website",
    "contentTypes": "The choice",
}


def changelog_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    """Give the routes."""

    async def page(found: Visit, form: Form | None = None, refused: InvalidChangelog | None = None) -> Response[Any]:
        standing = await dashboard.changelogs.standing(found.organization)
        links = ChangelogLinks(base_url=dashboard.base_url, slug=standing.slug)
        context = {
            "changelog": standing,
            "links": links,
            "typed": _standing(standing) if form is None else _typed(form),
            "choices": content_choices(),
            "faults": by_field(None if refused is None else _fault(refused.reason)),
            # On this server, wherever readers reach it.
            "see": ChangelogLinks(slug=standing.slug).home,
            "snippet": _SNIPPET.format(links.embed),
        }
        return pages.page(
            found, "changelog.html", context, title=_TITLE, section=_SECTION, status=200 if refused is None else 422
        )

    @get(f"{ROOT}/changelog", name="dashboard_changelog")
    async def shown(request: Request[Any, Any, Any]) -> Response[Any]:
        return await page(await visit(dashboard, request))

    @post(f"{ROOT}/changelog", name="dashboard_changelog_save")
    async def save(request: Request[Any, Any, Any]) -> Response[Any]:
        found, form = await change(dashboard, request)
        done = await dashboard.changelogs.change(found.organization, _given(form))
        return await page(found, form, done) if isinstance(done, InvalidChangelog) else go("/changelog", told="saved")

    async def question(found: Visit, *, error: str | None = None, status: int = 200) -> Response[Any]:
        standing = await dashboard.changelogs.standing(found.organization)
        exposure, newest = await dashboard.changelogs.preview(found.organization)
        context = {
            "links": ChangelogLinks(base_url=dashboard.base_url, slug=standing.slug),
            "exposure": exposure,
            "newest": newest,
            "seen": _tag(standing, exposure),
            "error": error,
        }
        title = "Switch the public changelog on"
        return pages.page(found, "changelog_publish.html", context, title=title, section=_SECTION, status=status)

    @get(f"{ROOT}/changelog/publish", name="dashboard_changelog_publish")
    async def ask(request: Request[Any, Any, Any]) -> Response[Any]:
        found = await visit(dashboard, request)
        standing = await dashboard.changelogs.standing(found.organization)
        return go("/changelog") if standing.is_public or not found.may_write else await question(found)

    @post(f"{ROOT}/changelog/switch", name="dashboard_changelog_switch")
    async def switch(request: Request[Any, Any, Any]) -> Response[Any]:
        found, form = await change(dashboard, request)
        is_public = form.text("to") == "on"
        if is_public:
            standing = await dashboard.changelogs.standing(found.organization)
            exposure, _ = await dashboard.changelogs.preview(found.organization)
            if form.text("seen") != _tag(standing, exposure):
                return await question(found, error=_CHANGED if form.text("seen") else None, status=409)
        done = await dashboard.changelogs.change(found.organization, {"is_public": is_public})
        if isinstance(done, InvalidChangelog):
            # Another organization has taken the slug meanwhile.
            return await page(found, refused=done)
        return go("/changelog", told="enabled" if is_public else "disabled")

    return [shown, save, ask, switch]


def _tag(changelog: PublicChangelog, exposure: Exposure) -> str:
    """Return what a question was about, in short: an answer counts for that alone."""
    return sha256(repr((changelog.slug, exposure)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _standing(changelog: PublicChangelog) -> dict[str, Any]:
    return {
        "slug": changelog.slug,
        "title": changelog.title,
        "description": changelog.description,
        "productUrl": changelog.product_url or "",
        "contentTypes": [kind.value for kind in changelog.content_types],
    }


def _typed(form: Form) -> dict[str, Any]:
    texts: dict[str, Any] = {name: form.raw(name) for name in ("slug", "title", "description", "productUrl")}
    return texts | {"contentTypes": form.texts("contentTypes")}


def _given(form: Form) -> dict[str, Any]:
    """Read the form.

    Raises:
        Refused: 400: it names a type that is none; no form of ours does.
    """
    return {
        "slug": form.text("slug"),
        "title": form.text("title"),
        "description": form.text("description"),
        "product_url": form.text("productUrl"),
        "content_types": tuple(named(ContentType, kind) for kind in form.texts("contentTypes")),
    }


def _fault(reason: str) -> Mapping[str, str]:
    """Put a fault, which begins with the field's name on the wire, into the words of the page."""
    name, _, fault = reason.partition(" ")
    return {name: sentence(f"{_LABELS[name]} {fault}")} if name in _LABELS else {"": sentence(reason)}
