"""Answers for everybody: they may be kept for a while, and are not sent again to who has them (RFC 9110, 9111)."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime
from hashlib import blake2b
from typing import Any, Final

from litestar import Request, Response

from contentsvc_http.errors import Refused
from contentsvc_http.v1.conditions import if_none_match

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {}"
)
#: For pages: they load one stylesheet and one icon, run nothing, and are in nobody's frame.
PAGE: Final = {
    "Content-Security-Policy": _POLICY.format("'none'"),
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
#: For the page that is made for frames.
FRAMED: Final = PAGE | {"Content-Security-Policy": _POLICY.format("*")}
#: For what scripts of other sites may read: it is public, and the same for everybody.
SHARED: Final = {"Access-Control-Allow-Origin": "*"}
_ALWAYS: Final = {"X-Content-Type-Options": "nosniff"}
#: How long caches may keep an answer without asking, in seconds.
FRESH_S: Final = 60


def answer(
    request: Request[Any, Any, Any],
    body: bytes,
    media_type: str,
    *,
    last_change: datetime,
    headers: Mapping[str, str],
) -> Response[Any]:
    """Answer with a body, or with 304 when the client has it.

    Args:
        request: What was asked.
        body: All of it. Its digest is the entity tag: the same bytes, the same tag, on every node.
        media_type: With its parameters.
        last_change: For clients that keep no entity tags.
        headers: What else is to be said.
    """
    tag = f'"{blake2b(body, digest_size=16).hexdigest()}"'
    # To the second (RFC 9110, section 5.6.7).
    modified = format_datetime(last_change.replace(microsecond=0), usegmt=True)
    told = {
        **_ALWAYS,
        **headers,
        "ETag": tag,
        "Last-Modified": modified,
        "Cache-Control": f"public, max-age={FRESH_S}",
    }
    if _has_it(request, tag, modified):
        return Response(None, status_code=304, headers=told)
    return Response(body, media_type=media_type, headers=told)


def _has_it(request: Request[Any, Any, Any], tag: str, modified: str) -> bool:
    """Tell whether the client has the answer (RFC 9110, section 13.2.2)."""
    try:
        tags = if_none_match(request)
    except Refused:
        # A page is no place to teach anybody headers.
        tags = None
    if tags is not None:
        return tags.match_weakly(tag)
    # For equality, not for order: what is taken back leaves an earlier time behind.
    return request.headers.get("If-Modified-Since", "").strip() == modified
