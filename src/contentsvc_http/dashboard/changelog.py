from collections.abc import Iterable
from typing import Any, Final
from zoneinfo import ZoneInfo

from attrs import evolve, frozen
from litestar import Response, get, post
from litestar.params import FromPath

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import MAX_CHANGELOGS, Exposure, LinkBody, PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog, faults_of
from contentsvc_core.content.public.images import IMAGE_LIMIT, ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.refusals import Refusal, invalid, wire_name
from contentsvc_http.changelog.answers import PAGE
from contentsvc_http.changelog.pages import HTML, front_page
from contentsvc_http.changelog.reading import ListPart
from contentsvc_http.changelog.routes import PAGE_LENGTH
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.choices import Option, content_choices, named
from contentsvc_http.dashboard.pages import check_seen, digest, go
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Upload, Visitor, sent
from contentsvc_http.forms import Form, by_field

_SECTION: Final = "changelog"
_PRIVATE: Final = {**PAGE, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store"}
_TITLE: Final = "Public changelog"
_SNIPPET: Final = '<iframe src="{}" title="What is new" loading="lazy" width="100%" height="420"></iframe>'
_WIDGET: Final = '<script src="{}" async></script>'
_BADGE: Final = "[![Changelog]({})]({})"
_CHANGED: Final = "The posts that become public have changed since you opened this page. Check them again."
#: The maximum size of a form with a picture, in bytes: the picture, and room for its other fields.
_MAX_FORM: Final = IMAGE_LIMIT + 64 * 1024
_LISTS: Final = ("contentTypes", "repositories")
_TEXTS: Final = ("slug", "title", "description", "productUrl", "scopes", "accent", "headerLinks")
_LABELS: Final = {
    "slug": "The address",
    "title": "The title",
    "description": "The description",
    "product_url": "The website",
    "content_types": "The choice",
    "repositories": "The repositories",
    "scopes": "The scopes",
    "accent": "The colour",
    "header_links": "The links",
    "logo": "The logo",
    "icon": "The icon",
    "card": "The card",
}
_REFUSALS: Final = FormRefusals(fields={name: wire_name(name) for name in _LABELS}, labels=_LABELS)
_PICTURES: Final = (
    Option(value="logo", label="Logo", hint="in the header, 28 pixels high"),
    Option(value="icon", label="Icon", hint="in the tab of the browser"),
    Option(value="card", label="Card", hint="beside links on other sites, 1200 × 630 pixels"),
)


@frozen(kw_only=True)
class _Preview:
    changelog: PublicChangelog
    links: ChangelogLinks
    zone: ZoneInfo


def _paths(rest: str = "") -> list[str]:
    """Return the paths of a page. The first changelog of an organization is at an address without its id."""
    return [f"{ROOT}/changelog{rest}", f"{ROOT}/changelogs/{{changelog_id:str}}{rest}"]


async def _which(session: DashboardSession) -> PublicChangelog:
    stored = await session.app.changelog_editor.find(
        session.organization, session.request.path_params.get("changelog_id")
    )
    return found(stored, "There is no such changelog.")


async def _page(
    session: DashboardSession, stored: PublicChangelog, *, added: Form | None = None, add_faults: Unsaved | None = None
) -> Response[Any]:
    links = ChangelogLinks(base_url=session.app.base_url, slug=stored.slug)
    several = await session.app.changelog_editor.all_of(session.organization)
    integrations = await session.app.stores.directory.integrations(session.organization_id)
    connected = (repository.full_name for integration in integrations for repository in integration.repositories)
    names = dict.fromkeys((*connected, *stored.repositories))
    context = {
        "changelog": stored,
        "seen": digest(_fields_of(stored)),
        "at": _at(stored),
        "changelogs": [(changelog, _at(changelog)) for changelog in several],
        "may_add": len(several) < MAX_CHANGELOGS,
        "links": links,
        "typed": _fields_of(stored) if session.typed is None else _typed(session.typed),
        "choices": content_choices(),
        "repositories": [Option(value=name, label=name) for name in names],
        "pictures": [(choice, stored.image(ImageKind(choice.value))) for choice in _PICTURES],
        "added": {"slug": "", "title": ""} if added is None else {n: added.raw(n) for n in ("slug", "title")},
        "add_faults": by_field(None if add_faults is None else add_faults.faults),
        # On this server, independent of the public base URL.
        "see": ChangelogLinks(slug=stored.slug).home,
        "snippet": _SNIPPET.format(links.embed),
        "widget": _WIDGET.format(links.widget),
        "subscribers": (await session.app.stores.subscribers.confirmed(session.organization.id)).get(stored.id, 0),
        "badge": _BADGE.format(links.badge, links.home),
    }
    title = _TITLE if stored.is_first else stored.title
    status = 200 if add_faults is None else add_faults.status
    return pages.page(session, "changelog.html", context, title=title, section=_SECTION, status=status)


@get(_paths())
async def shown(session: Visitor) -> Response[Any]:
    return await _page(session, await _which(session))


@sent(_paths(), page=shown)
async def save(session: Visitor, form: SentForm) -> Response[Any]:
    stored = await _which(session)
    check_seen(form, _fields_of(stored))
    command = _command_of(form)
    done = await session.app.changelog_editor.change(session.organization, command, stored)
    if isinstance(done, Refusal):
        raise _unsaved(faults_of(command) or [done])
    return go(_at(stored), notice="saved")


@post(f"{ROOT}/changelogs")
async def add(session: Visitor, form: SentForm) -> Response[Any]:
    command = CreateChangelog(slug=form.text("slug"), title=form.text("title"))
    done = await session.app.changelog_editor.create(session.organization, command)
    if isinstance(done, Refusal):
        faults = _unsaved(faults_of(command) or [done])
        return await _page(session, await _which(session), added=form, add_faults=faults)
    return go(_at(done), notice="saved")


@post(_paths("/images"), request_max_body_size=_MAX_FORM)
async def picture(upload: Upload) -> Response[Any]:
    session, content = upload
    form, stored = session.form, await _which(session)
    kind = named(ImageKind, form.text("kind"))
    done: PublicChangelog | Refusal = invalid(kind.value, "must be a file: choose one")
    if content or form.is_on("delete"):
        done = await session.app.changelog_editor.set_image(stored, kind, None if form.is_on("delete") else content)
    if isinstance(done, Refusal):
        return await _page(evolve(session, unsaved=_unsaved([done], keeps=False)), stored)
    return go(_at(stored), notice="saved")


@get(_paths("/images/{kind:str}"))
async def shown_picture(session: Visitor, kind: FromPath[str]) -> Response[Any]:
    image = await session.app.stores.changelogs.image(await _which(session), named(ImageKind, kind))
    image = found(image, "There is no such picture.")
    return Response(image.content, media_type=image.mark.media_type, headers=_PRIVATE)


@get(_paths("/preview"))
async def preview(session: Visitor) -> Response[Any]:
    stored = await _which(session)
    posts, months, labels = await session.app.changelog_editor.page(stored, PAGE_LENGTH, session.organization.time_zone)
    links = ChangelogLinks(slug=stored.slug, pictures=f"{ROOT}{_at(stored)}/images")
    body = front_page(
        _Preview(changelog=stored, links=links, zone=session.organization.time_zone),
        ListPart(posts=posts, next=None, before=None),
        months,
        labels,
        settings=f"{ROOT}{_at(stored)}",
    )
    return Response(body, media_type=HTML, headers=_PRIVATE)


async def _question(
    session: DashboardSession, stored: PublicChangelog, *, error: str | None = None, status: int = 200
) -> Response[Any]:
    exposure, newest = await session.app.changelog_editor.preview(session.organization, stored)
    context = {
        "changelog": stored,
        "at": _at(stored),
        "links": ChangelogLinks(base_url=session.app.base_url, slug=stored.slug),
        "exposure": exposure,
        "newest": newest,
        "seen": _tag(stored, exposure),
        "error": error,
    }
    title = "Switch the public changelog on"
    return pages.page(session, "changelog_publish.html", context, title=title, section=_SECTION, status=status)


@get(_paths("/publish"))
async def confirm(session: Visitor) -> Response[Any]:
    stored = await _which(session)
    return go(_at(stored)) if stored.is_public or not session.may_write else await _question(session, stored)


@sent(_paths("/switch"), page=shown)
async def switch(session: Visitor, form: SentForm) -> Response[Any]:
    stored = await _which(session)
    is_public = form.text("to") == "on"
    if is_public:
        exposure, _ = await session.app.changelog_editor.preview(session.organization, stored)
        if form.text("seen") != _tag(stored, exposure):
            return await _question(session, stored, error=_CHANGED if form.text("seen") else None, status=409)
    command = ChangeChangelog(is_public=is_public)
    done = await session.app.changelog_editor.change(session.organization, command, stored)
    if isinstance(done, Refusal):
        # Another organization has taken the slug meanwhile.
        raise _unsaved([done], keeps=False)
    return go(_at(stored), notice="enabled" if is_public else "disabled")


@sent(f"{ROOT}/changelogs/{{changelog_id:str}}/delete", page=shown)
async def delete(session: Visitor) -> Response[Any]:
    stored = await _which(session)
    refused = await session.app.changelog_editor.remove(stored)
    if refused is not None:
        raise _unsaved([refused], keeps=False)
    return go("/changelog", notice="deleted")


def _unsaved(refused: Iterable[Refusal], *, keeps: bool = True) -> Unsaved:
    faults = {name: text for each in refused for name, text in _REFUSALS.faults(each).items()}
    return Unsaved(faults=faults, keeps=keeps)


def _at(changelog: PublicChangelog) -> str:
    return "/changelog" if changelog.is_first else f"/changelogs/{changelog.id}"


def _tag(changelog: PublicChangelog, exposure: Exposure) -> str:
    return digest(
        changelog.id, changelog.slug, changelog.repositories, changelog.scopes, changelog.content_types, exposure
    )


def _fields_of(changelog: PublicChangelog) -> dict[str, Any]:
    return {
        "slug": changelog.slug,
        "title": changelog.title,
        "description": changelog.description,
        "productUrl": changelog.product_url or "",
        "contentTypes": [kind.value for kind in changelog.content_types],
        "repositories": list(changelog.repositories),
        "scopes": ", ".join(changelog.scopes),
        "accent": "" if changelog.accent is None else f"#{changelog.accent}",
        "headerLinks": "\n".join(f"{link.label} {link.url}" for link in changelog.header_links),
        "showDetails": changelog.show_details,
    }


def _typed(form: Form) -> dict[str, Any]:
    texts: dict[str, Any] = {name: form.raw(name) for name in _TEXTS}
    return texts | {name: form.texts(name) for name in _LISTS} | {"showDetails": form.is_on("showDetails")}


def _command_of(form: Form) -> ChangeChangelog:
    lines = [line.strip().rpartition(" ") for line in form.text("headerLinks").splitlines() if line.strip()]
    return ChangeChangelog(
        slug=form.text("slug"),
        title=form.text("title"),
        description=form.text("description"),
        product_url=form.text("productUrl"),
        content_types=tuple(named(ContentType, kind) for kind in form.texts("contentTypes")),
        repositories=form.texts("repositories"),
        scopes=tuple(filter(None, (name.strip() for name in form.text("scopes").split(",")))),
        accent=form.text("accent"),
        header_links=tuple(LinkBody(label.strip(), url) for label, _, url in lines),
        show_details=form.is_on("showDetails"),
    )
