"""Who calls ``/v1`` (specification 5.1)."""

import asyncio
from typing import Any, Final

import structlog
from litestar import Request

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.errors import Refused

_LOG: Final = structlog.get_logger("contentsvc.http")
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


async def caller(request: Request[Any, Any, Any], authenticator: Authenticator, scope: Scope) -> ApiKey:
    """Give the key that the request carries, which has the scope.

    Raises:
        Refused: 401 or 403.
    """
    headers = request.headers.getall("Authorization", [])
    if not headers:
        raise Refused(401, {"error": "Missing API key"}, _CHALLENGE)
    # RFC 9110, section 11.1: the scheme's case does not matter.
    scheme, _, presented = headers[0].partition(" ")
    key = None
    if len(headers) == 1 and scheme.lower() == "bearer":
        key = await authenticator.authenticate(presented.strip(" "))
    if key is None:
        raise Refused(401, {"error": "Invalid API key"}, _CHALLENGE)
    if scope not in key.scopes:
        raise Refused(403, {"error": "Insufficient scope"})
    # Aside: whoever reads does not wait for a writer, and a locked database keeps nobody from reading.
    if key.prefix not in _NOTING:
        _NOTING[key.prefix] = asyncio.create_task(_note_use(authenticator, key))
    return key


#: One for each key at a time; the loop itself keeps only weak references to its tasks.
_NOTING: Final[dict[str, "asyncio.Task[None]"]] = {}


async def _note_use(authenticator: Authenticator, key: ApiKey) -> None:
    try:
        await authenticator.note_use(key)
    except ContentServiceError as exc:
        _LOG.warning("the use of a key was not noted", reason=str(exc))
    finally:
        del _NOTING[key.prefix]
