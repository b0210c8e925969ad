"""Data for embedding a changelog in other sites: the widget, and the badge for READMEs."""

from collections.abc import Iterable
from html import escape
from typing import Any, Final
from zoneinfo import ZoneInfo

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.colours import shades_of
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import to_ms
from contentsvc_core.zones import DEFAULT_ZONE, day_of

#: The number of posts in the list of the button.
WIDGET_LENGTH: Final = 10
DEFAULT_ACCENT: Final = "0b6b63"
_VERSION: Final = 30
#: The width of a character of the badge's text, in pixels: `textLength` fits the text to it in every font.
_CHARACTER: Final = 7
_NAME: Final = "changelog"
_NOTHING: Final = "nothing yet"
#: For a shadow root. The system's colours follow the colour scheme of the embedding page. Styles of that page apply to
#: the host, and override `:host`, unless these rules are important.
_STYLE: Final = """\
:host{all:initial!important;color-scheme:inherit!important;visibility:inherit!important;
font:15px/1.5 system-ui,sans-serif!important;position:relative!important;display:inline-block!important}
:host([data-changelog]){position:fixed!important;right:16px!important;bottom:calc(16px + 50px*var(--below,0))!important;
z-index:9999!important}:host(:focus-within){z-index:10000!important}
*{box-sizing:border-box}[hidden]{display:none!important}
button{font:inherit;font-weight:600;color:#fff;background:#ACCENT;border:0;border-radius:99px;padding:8px 16px;
cursor:pointer}button:focus-visible,a:focus-visible{outline:3px solid Highlight;outline-offset:2px}
span{margin-left:8px;background:#fff;color:#ACCENT;border-radius:99px;padding:0 7px}
section{position:absolute;right:0;z-index:9999;width:320px;max-width:90vw;max-height:70vh;overflow:auto;padding:16px;
background:Canvas;color:CanvasText;border:1px solid GrayText;border-radius:10px}
:host([data-changelog]) section{bottom:52px}h2{font-size:17px;margin:0}ul{list-style:none;padding:0}li{margin:0 0 12px}
li,h2{overflow-wrap:anywhere}
time{display:block;font-size:13px}a{color:LinkText}li a{color:CanvasText;font-weight:600}
li a:not(:hover){text-decoration:none}@media print{:host([data-changelog]){display:none!important}}
"""
_BADGE: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{name}: {value}">
<title>{name}: {value}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#444"/>
<rect x="{left}" width="{right}" height="20" fill="#{accent}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
<text x="7" y="14" textLength="{name_length}">{name}</text>
<text x="{value_at}" y="14" textLength="{value_length}">{value}</text></g>
</svg>
"""


def widget_data(changelog: PublicChangelog, posts: Iterable[Post], links: ChangelogLinks) -> dict[str, Any]:
    """Return the data of the widget's script: titles, addresses, times in milliseconds, and the style sheet."""
    return {
        "title": changelog.title,
        "home": links.home,
        "style": _STYLE.replace("ACCENT", _accent(changelog)),
        "posts": [
            {
                "title": post.title,
                "url": links.post(post),
                "at": to_ms(post.occurred_at),
                # A post is unread from its publication on, whenever its events happened.
                "published": to_ms(post.published_at or post.occurred_at),
            }
            for post in posts
            if changelog.lists(post)
        ],
    }


def badge_value(release: Post | None, newest: Post | None, zone: ZoneInfo = DEFAULT_ZONE) -> str:
    """Return the text of a badge: the newest release, else the day of the newest post in a zone, as on its page."""
    if release is not None and release.release_tag:
        return one_line(release.release_tag, _VERSION)
    return _NOTHING if newest is None else day_of(zone, newest.occurred_at).isoformat()


def badge_svg(changelog: PublicChangelog, value: str) -> bytes:
    name_length, value_length = len(_NAME) * _CHARACTER, len(value) * _CHARACTER
    left, right = name_length + 14, value_length + 14
    return _BADGE.format(
        width=left + right,
        left=left,
        right=right,
        name=_NAME,
        value=escape(value),
        value_at=left + 7,
        name_length=name_length,
        value_length=value_length,
        accent=_accent(changelog),
    ).encode()


def _accent(changelog: PublicChangelog) -> str:
    return shades_of(changelog.accent or DEFAULT_ACCENT).light
