"""The pages: templates, and what each of them is told."""

from datetime import datetime
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from markupsafe import Markup

from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.html import EXCERPT, excerpt, nested
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import tags_of
from contentsvc_core.timestamps import iso_ms
from contentsvc_http.changelog.assets import asset_url
from contentsvc_http.changelog.reading import Part, Shown
from contentsvc_http.dashboard.words import CONTENT
from contentsvc_http.templates import page_environment

#: The framework adds the encoding.
HTML: Final = "text/html"
#: Known to everybody who reads a changelog: only the others are named.
_USUAL: Final = ContentType.CHANGELOG


def render(template: str, shown: Shown, *, title: str, here: str, **told: object) -> bytes:
    """Make a page of a changelog.

    Args:
        template: Its file.
        shown: Whose.
        title: What the tab says; the changelog's own title stands behind it.
        here: The page's own address, the one that search engines are to keep.
        told: What else the template is told.
    """
    context = {
        "changelog": shown.changelog,
        "links": shown.links,
        "title": title,
        "here": here,
        "description": shown.changelog.description,
        "kind": "website",
        **told,
    }
    return _ENVIRONMENT.get_template(template).render(context).encode()


def missing(title: str, text: str) -> bytes:
    """Make the page that says that something is not there, or cannot be shown now; it is nobody's."""
    return _ENVIRONMENT.get_template("missing.html").render(title=title, text=text).encode()


def next_part(here: str, part: Part) -> str | None:
    """Give the address of the next part of a list."""
    return None if part.goes_on is None else f"{here}?before={part.goes_on.written}"


def own_address(here: str, part: Part) -> str:
    """Give the address of this part of a list."""
    return here if part.before is None else f"{here}?before={part.before.written}"


def _day(at: datetime) -> Markup:
    """Write a day, for people and for machines."""
    return Markup('<time datetime="{}">{}</time>').format(iso_ms(at), f"{at.day} {Month.of(at).name}")


def _within(post: Post, under: int) -> Markup:
    """Give a post's content; it was made safe when it was rendered."""
    return Markup(nested(post.content, under=under))  # noqa: S704  # see above


def _label(post: Post) -> str:
    """Say what kind of post it is, unless it is the usual one."""
    return "" if post.content_type is _USUAL else CONTENT[post.content_type]


_ENVIRONMENT: Final = page_environment("contentsvc_http.changelog")
_globals: dict[str, Any] = _ENVIRONMENT.globals
_globals["excerpt_length"] = EXCERPT
_filters: dict[str, Any] = _ENVIRONMENT.filters
_filters.update(day=_day, within=_within, label=_label, tags=tags_of, excerpt=excerpt, asset=asset_url)


def _templates() -> str:
    """Return a digest of what pages are made with: the version, the templates, the files that they load."""
    digest = blake2b(version("contentsvc").encode(), digest_size=16)
    for name in _ENVIRONMENT.list_templates():
        digest.update(files("contentsvc_http.changelog").joinpath("templates", name).read_bytes())
    digest.update("".join(map(asset_url, ("style.css", "icon.svg"))).encode())
    return digest.hexdigest()


TEMPLATES: Final = _templates()
