"""Public answers: caches may keep them for a while, and a client that has one gets 304 (RFC 9110, 9111)."""

from collections.abc import Mapping
from email.utils import format_datetime
from hashlib import blake2b
from typing import Any, Final, final

import msgspec
from attrs import frozen
from litestar import Request, Response

from contentsvc_core.content.public.changelogs import changelog_body
from contentsvc_core.timestamps import to_ms
from contentsvc_http.changelog.kept import Reading
from contentsvc_http.changelog.pages import TEMPLATES
from contentsvc_http.changelog.reading import Shown
from contentsvc_http.errors import Refused
from contentsvc_http.v1.conditions import Tags, if_none_match

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors {}"
)
#: For pages: scripts, stylesheets, fonts and pictures are loaded from here alone, and no other page may frame them.
PAGE: Final = {
    "Content-Security-Policy": _POLICY.format("'none'"),
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
#: For the page that is made for frames.
FRAMED: Final = PAGE | {"Content-Security-Policy": _POLICY.format("*")}
#: For answers that scripts of other sites may read: they are public, and the same for every client.
SHARED: Final = {"Access-Control-Allow-Origin": "*"}
_ALWAYS: Final = {"X-Content-Type-Options": "nosniff"}
#: How long caches may keep an answer without asking, in seconds.
FRESH_S: Final = 60
#: The same of a picture whose address names its digest: a day.
KEPT_S: Final = 86_400


@final
@frozen(kw_only=True)
class PublicPage:
    """A page or a feed, before anything of it is read."""

    #: Which one it is, among all of one changelog.
    part: str
    media_type: str
    headers: Mapping[str, str]
    #: It exists as long as its changelog does; of another one, that is known once it is read.
    is_sure: bool = True


async def answer(found: Shown, page: PublicPage, reading: Reading) -> Response[Any]:
    """Return a page, or 304 when the client has it.

    The entity tag is made of what a page depends on. So 304 is decided before anything is read or rendered.

    Raises:
        Refused: 404: there is no such page.
    """
    key = _key(found, page)
    tag = f'"{key}"'
    # To the second (RFC 9110, section 5.6.7).
    modified = format_datetime(found.last_change.replace(microsecond=0), usegmt=True)
    headers = {
        **_ALWAYS,
        **page.headers,
        "ETag": tag,
        "Last-Modified": modified,
        "Cache-Control": f"public, max-age={FRESH_S}",
    }
    tags = _tags(found.request)
    has_this = tags is not None and not tags.any and tags.match_weakly(tag)
    # `*` and a date do not say that there is such a page. Dates are compared for equality: clocks may go back.
    since = found.request.headers.get("If-Modified-Since", "").strip()
    has_any = since == modified if tags is None else tags.any
    if has_this or (has_any and page.is_sure):
        return Response(None, status_code=304, headers=headers)
    body = await found.pages.page(key, reading)
    if has_any:
        return Response(None, status_code=304, headers=headers)
    return Response(body, media_type=page.media_type, headers=headers)


def _tags(request: Request[Any, Any, Any]) -> Tags | None:
    """Return the tags of pages that the client has (RFC 9110, section 13.2.2); ``None``: it names none."""
    try:
        return if_none_match(request)
    except Refused:
        # A malformed header is ignored: readers of a page have not written it.
        return None


def _key(found: Shown, page: PublicPage) -> str:
    """Return a digest of all that a page is made of: the same on every node that shows it."""
    changelog = found.changelog
    made_of = (
        TEMPLATES,
        found.links.base_url,
        page.part,
        page.media_type,
        changelog.organization_id,
        changelog_body(changelog),
        changelog.revision,
        to_ms(changelog.updated_at),
        to_ms(found.last_change),
    )
    return blake2b(msgspec.json.encode(made_of), digest_size=16).hexdigest()
