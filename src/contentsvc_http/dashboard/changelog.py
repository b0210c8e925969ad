"""The public changelog: what it is called, what it shows, and whether everybody may read it."""

from collections.abc import Mapping
from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import InvalidChangelog, PublicChangelog
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

    @post(f"{ROOT}/changelog/switch", name="dashboard_changelog_switch")
    async def switch(request: Request[Any, Any, Any]) -> Response[Any]:
        found, form = await change(dashboard, request)
        is_public = form.text("to") == "on"
        done = await dashboard.changelogs.change(found.organization, {"is_public": is_public})
        if isinstance(done, InvalidChangelog):
            # Somebody else has the slug that it would have.
            return await page(found, refused=done)
        return go("/changelog", told="enabled" if is_public else "disabled")

    return [shown, save, switch]


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
