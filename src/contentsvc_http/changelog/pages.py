from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import Label, labels_of
from contentsvc_core.content.public.folds import folded
from contentsvc_core.content.public.html import EXCERPT, directed, nested, shown_in_full, summary_of
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.public.months import Month, by_month, by_year
from contentsvc_core.content.public.releases import tags_of
from contentsvc_core.content.public.trimming import shown_content
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.zones import local_time
from contentsvc_http.changelog.assets import accent_url, asset_url
from contentsvc_http.changelog.reading import ListPart
from contentsvc_http.templates import page_environment
from contentsvc_http.words import CONTENT

#: The framework adds the encoding.
HTML: Final = "text/html"
_LEAD: Final = "New features, improvements and fixes."
#: The content type without a label, because readers of a changelog expect it.
_USUAL: Final = ContentType.CHANGELOG


class PageContext(Protocol):
    @property
    def changelog(self) -> PublicChangelog: ...

    @property
    def links(self) -> ChangelogLinks: ...

    @property
    def zone(self) -> ZoneInfo: ...


def render(template: str, shown: PageContext, *, title: str, here: str, **variables: object) -> bytes:
    changelog = shown.changelog
    context = {
        "changelog": changelog,
        "links": shown.links,
        "zone": shown.zone,
        "title": title,
        "here": here,
        "description": changelog.description,
        "kind": "website",
        "settings": "",
        "logo": changelog.image(ImageKind.LOGO),
        "icon": changelog.image(ImageKind.ICON),
        "card": changelog.image(ImageKind.CARD),
        **variables,
    }
    return _ENVIRONMENT.get_template(template).render(context).encode()


def front_page(
    shown: PageContext,
    part: ListPart,
    months: Sequence[Month],
    labels: Sequence[Label],
    *,
    label: Label | None = None,
    settings: str = "",
) -> bytes:
    """Return the first page; with the address of its settings, a preview that leads back to them."""
    here = shown.links.labelled(shown.links.home, label)
    return render(
        "home.html",
        shown,
        title=(label.shown if label else "") if part.before is None else "Older posts",
        here=own_address(here, part),
        label=label,
        offered=labels,
        settings=settings,
        months=by_month(part.posts, shown.zone),
        in_full=shown_in_full(part.posts),
        next=next_part(here, part),
        archive=by_year(months),
        description=shown.changelog.description or _LEAD,
    )


def missing(title: str, text: str, shown: PageContext | None = None, *, base_url: str = "") -> bytes:
    """Return the page of an error, with the header of the changelog if the request names a public one."""
    if shown is not None:
        return render("absent.html", shown, title=title, here="", text=text)
    return _plain("missing.html", base_url, title=title, text=text)


def mail_page(
    base_url: str,
    title: str,
    text: str,
    *,
    action: str = "",
    at: str = "",
    back: str = "",
    back_text: str = "Back to the changelog",
) -> bytes:
    """Return a page for a link in a mail; ``action`` is the button that submits the token of an address.

    ``at`` is that address; by default, the page's own.
    """
    return _plain("mail.html", base_url, title=title, text=text, action=action, at=at, back=back, back_text=back_text)


def _plain(template: str, base_url: str, **values: str) -> bytes:
    page = _ENVIRONMENT.get_template(template)
    return page.render(values, base_url=base_url, changelog=None, icon=None).encode()


def next_part(here: str, part: ListPart) -> str | None:
    return None if part.next is None else _from(here, part.next)


def own_address(here: str, part: ListPart) -> str:
    return here if part.before is None else _from(here, part.before)


def _from(here: str, cursor: Cursor) -> str:
    return f"{here}{'&' if '?' in here else '?'}before={written_cursor(cursor)}"


@pass_context
def _day(context: Context, at: datetime) -> Markup:
    zone: ZoneInfo = context["zone"]
    local = local_time(zone, at)
    day = f"{local.day} {Month.of(at, zone).name}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        iso_ms(at), f"{day}, {local:%H:%M} {zone.key}", day
    )


def _within(post: Post, under: int, changelog: PublicChangelog, *, fold: bool = False) -> Markup:
    content = shown_content(post, changelog)
    return Markup(directed(nested(folded(content) if fold else content, under=under)))  # noqa: S704  # see above


def _brief(post: Post, changelog: PublicChangelog, limit: int = 200) -> str:
    return summary_of(post, shown_content(post, changelog), limit)


def _label(post: Post) -> str:
    return "" if post.content_type is _USUAL else CONTENT[post.content_type]


@pass_context
def _asset(context: Context, name: str) -> str:
    return _public_path(context) + asset_url(name)


@pass_context
def _accent(context: Context, accent: str) -> str:
    return _public_path(context) + accent_url(accent)


def _public_path(context: Context) -> str:
    # Without a host: the policy of the pages allows files of the same origin only, whatever host the reader uses.
    links: ChangelogLinks | None = context.get("links")
    base_url: str = context.get("base_url", "") if links is None else links.base_url
    return urlsplit(base_url).path


_ENVIRONMENT: Final = page_environment("contentsvc_http.changelog")
_globals: dict[str, Any] = _ENVIRONMENT.globals
_globals["excerpt_length"] = EXCERPT
_filters: dict[str, Any] = _ENVIRONMENT.filters
_filters.update(
    day=_day,
    within=_within,
    kind=_label,
    labels=labels_of,
    tags=tags_of,
    brief=_brief,
    asset=_asset,
    accent=_accent,
)


def _templates() -> str:
    digest = blake2b(version("contentsvc").encode(), digest_size=16)
    for name in _ENVIRONMENT.list_templates():
        digest.update(files("contentsvc_http.changelog").joinpath("templates", name).read_bytes())
    digest.update("".join(map(asset_url, ("style.css", "icon.svg", "subscribe.css", "page.js"))).encode())
    return digest.hexdigest()


TEMPLATES: Final = _templates()
