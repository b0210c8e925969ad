"""The pages: templates, and what each of them is told."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final, Protocol

from markupsafe import Markup

from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import Label, labels_of
from contentsvc_core.content.public.folds import folded
from contentsvc_core.content.public.html import EXCERPT, excerpt, nested, shown_whole
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.public.months import Month, by_month, by_year
from contentsvc_core.content.public.places import PublishedPlace
from contentsvc_core.content.public.releases import tags_of
from contentsvc_core.content.public.trimming import trimmed
from contentsvc_core.timestamps import iso_ms
from contentsvc_http.changelog.assets import accent_url, asset_url
from contentsvc_http.changelog.reading import Part
from contentsvc_http.dashboard.words import CONTENT
from contentsvc_http.templates import page_environment

#: The framework adds the encoding.
HTML: Final = "text/html"
#: Under the title of a changelog without a description.
_LEAD: Final = "New features, improvements and fixes."
#: Known to everybody who reads a changelog: only the others are named.
_USUAL: Final = ContentType.CHANGELOG


class Shows(Protocol):
    """Whose page it is, and where."""

    @property
    def changelog(self) -> PublicChangelog:
        """Return the changelog."""
        ...

    @property
    def links(self) -> ChangelogLinks:
        """Return its addresses."""
        ...


def render(template: str, shown: Shows, *, title: str, here: str, **told: object) -> bytes:
    """Make a page of a changelog.

    Args:
        template: Its file.
        shown: Whose.
        title: What the tab says; the changelog's own title stands behind it.
        here: The page's own address, the one that search engines are to keep.
        told: What else the template is told.
    """
    changelog = shown.changelog
    context = {
        "changelog": changelog,
        "links": shown.links,
        "title": title,
        "here": here,
        "description": changelog.description,
        "kind": "website",
        "preview": False,
        "logo": changelog.image(ImageKind.LOGO),
        "icon": changelog.image(ImageKind.ICON),
        "card": changelog.image(ImageKind.CARD),
        **told,
    }
    return _ENVIRONMENT.get_template(template).render(context).encode()


def front(
    shown: Shows, part: Part, months: Sequence[Month], *, label: Label | None = None, is_preview: bool = False
) -> bytes:
    """Render a part of the list of all posts, or of those with a label."""
    here = shown.links.labelled(shown.links.home, label)
    return render(
        "home.html",
        shown,
        title=(label.shown if label else "") if part.before is None else "Older posts",
        here=own_address(here, part),
        label=label,
        preview=is_preview,
        months=by_month(part.posts),
        whole=shown_whole(part.posts),
        goes_on=next_part(here, part),
        archive=by_year(months),
        description=shown.changelog.description or _LEAD,
    )


def missing(title: str, text: str, shown: Shows | None = None) -> bytes:
    """Return the page of an error, with the header of the changelog where the request names a public one."""
    if shown is not None:
        return render("absent.html", shown, title=title, here="", text=text)
    return _ENVIRONMENT.get_template("missing.html").render(title=title, text=text, changelog=None, icon=None).encode()


def mail_page(title: str, text: str, *, action: str = "", back: str = "") -> bytes:
    """Return a page that a link in a mail leads to.

    Args:
        title: Its heading.
        text: One paragraph.
        action: The button that sends the token of the page's address; empty: there is none.
        back: Where a link leads back to; empty: nowhere.
    """
    context = {"title": title, "text": text, "action": action, "back": back, "changelog": None, "icon": None}
    return _ENVIRONMENT.get_template("mail.html").render(context).encode()


def next_part(here: str, part: Part) -> str | None:
    """Return the address of the next part of a list."""
    return None if part.goes_on is None else _from(here, part.goes_on)


def own_address(here: str, part: Part) -> str:
    """Return the address of this part of a list."""
    return here if part.before is None else _from(here, part.before)


def _from(here: str, place: PublishedPlace) -> str:
    return f"{here}{'&' if '?' in here else '?'}before={place.written}"


def _day(at: datetime) -> Markup:
    """Write a day, for people and for machines."""
    day = f"{at.day} {Month.of(at).name}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(iso_ms(at), f"{day}, {at:%H:%M} UTC", day)


def _within(post: Post, under: int, changelog: PublicChangelog, *, fold: bool = False) -> Markup:
    """Return a post's content; it was made safe when it was rendered."""
    content = _told(post, changelog)
    return Markup(nested(folded(content) if fold else content, under=under))  # noqa: S704  # see above


def _brief(post: Post, changelog: PublicChangelog, limit: int = 200) -> str:
    """Return the beginning of a post's text."""
    return excerpt(_told(post, changelog), limit)


def _told(post: Post, changelog: PublicChangelog) -> str:
    return post.content if changelog.show_details else trimmed(post.content)


def _label(post: Post) -> str:
    """Say what kind of post it is, unless it is the usual one."""
    return "" if post.content_type is _USUAL else CONTENT[post.content_type]


_ENVIRONMENT: Final = page_environment("contentsvc_http.changelog")
_globals: dict[str, Any] = _ENVIRONMENT.globals
_globals["excerpt_length"] = EXCERPT
_filters: dict[str, Any] = _ENVIRONMENT.filters
_globals["labels"] = (Label.NEW, Label.IMPROVED, Label.FIXED, Label.SECURITY, Label.BREAKING)
_filters.update(
    day=_day,
    within=_within,
    kind=_label,
    labels=labels_of,
    tags=tags_of,
    brief=_brief,
    asset=asset_url,
    accent=accent_url,
)


def _templates() -> str:
    """Return a digest of what pages are made with: the version, the templates, the files that they load."""
    digest = blake2b(version("contentsvc").encode(), digest_size=16)
    for name in _ENVIRONMENT.list_templates():
        digest.update(files("contentsvc_http.changelog").joinpath("templates", name).read_bytes())
    digest.update("".join(map(asset_url, ("style.css", "icon.svg", "subscribe.css", "page.js"))).encode())
    return digest.hexdigest()


TEMPLATES: Final = _templates()
