"""Cacheable public answers, with 304 for clients that have the current version (RFC 9110, 9111)."""

from collections.abc import Mapping
from email.utils import format_datetime
from hashlib import blake2b
from typing import Any, Final, final

import msgspec
from attrs import frozen
from litestar import Request, Response

from contentsvc_core.content.public.changelogs import ChangelogBody
from contentsvc_core.timestamps import to_ms
from contentsvc_http.changelog.page_cache import Reading
from contentsvc_http.changelog.pages import TEMPLATES
from contentsvc_http.changelog.reading import ChangelogRequest
from contentsvc_http.errors import Refused
from contentsvc_http.v1.conditions import Tags, if_none_match

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors {}"
)
#: For pages: scripts, stylesheets, fonts and pictures load from this service only, and no other page may frame them.
PAGE: Final = {
    "Content-Security-Policy": _POLICY.format("'none'"),
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
FRAMED: Final = PAGE | {"Content-Security-Policy": _POLICY.format("*")}
#: For answers that scripts of other sites may read: they are public, and equal for every client.
SHARED: Final = {"Access-Control-Allow-Origin": "*"}
_ALWAYS: Final = {"X-Content-Type-Options": "nosniff"}
#: The time for which caches may use an answer without revalidation, in seconds.
FRESH_S: Final = 60
#: The same for a picture whose address contains its digest: a day.
NAMED_PICTURE_S: Final = 86_400


@final
@frozen(kw_only=True)
class PublicPage:
    part: str
    media_type: str
    headers: Mapping[str, str]
    #: Whether the page exists as long as its changelog does; for other pages, reading decides.
    is_sure: bool = True


async def answer(view: ChangelogRequest, page: PublicPage, reading: Reading) -> Response[Any]:
    """Return a page, or 304. The entity tag is a digest of the page's inputs, so that nothing is read for a 304."""
    key = _key(view, page)
    tag = f'"{key}"'
    # To the second (RFC 9110, section 5.6.7).
    modified = format_datetime(view.last_change.replace(microsecond=0), usegmt=True)
    headers = {
        **_ALWAYS,
        **page.headers,
        "ETag": tag,
        "Last-Modified": modified,
        "Cache-Control": f"public, max-age={FRESH_S}",
    }
    tags = known_tags(view.request)
    has_this = tags is not None and not tags.any and tags.match_weakly(tag)
    # `*` and dates do not prove that the page exists. Dates are compared for equality: clocks may be set back.
    since = view.request.headers.get("If-Modified-Since", "").strip()
    has_any = since == modified if tags is None else tags.any
    if has_this or (has_any and page.is_sure):
        return Response(None, status_code=304, headers=headers)
    body = await view.pages.page(view.changelog.organization_id, key, reading)
    if has_any:
        return Response(None, status_code=304, headers=headers)
    return Response(body, media_type=page.media_type, headers=headers)


def known_tags(request: Request[Any, Any, Any]) -> Tags | None:
    """Return the tags of ``If-None-Match``; ``None``: the header is absent or malformed."""
    try:
        return if_none_match(request)
    except Refused:
        # A malformed header is ignored: readers of a page have not written it.
        return None


def _key(view: ChangelogRequest, page: PublicPage) -> str:
    changelog = view.changelog
    identity = (
        TEMPLATES,
        view.links.base_url,
        page.part,
        page.media_type,
        changelog.organization_id,
        ChangelogBody.of(changelog, url=view.links.home),
        changelog.revision,
        to_ms(changelog.updated_at),
        to_ms(view.last_change),
        view.zone.key,
    )
    return blake2b(msgspec.json.encode(identity), digest_size=16).hexdigest()
