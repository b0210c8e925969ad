import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

import structlog
from litestar import Request

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.errors import ContentServiceError
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.errors import Refused

_LOG: Final = structlog.get_logger("contentsvc.http")
_KEY: Final = "contentsvc.key"
CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}


async def caller(request: Request[Any, Any, Any], authenticator: Authenticator, scope: Scope | None) -> ApiKey:
    """Return the request's API key, which has the scope; ``None``: the scope is checked later."""
    if "Authorization" not in request.headers:
        raise Refused(401, {"error": "Missing API key"}, CHALLENGE)
    key = await presented_key(request, authenticator)
    if key is None:
        raise Refused(401, {"error": _fault(request.headers.getall("Authorization"))}, CHALLENGE)
    if scope is not None and scope not in key.scopes:
        # RFC 6750, section 3.1.
        challenge = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope.value}"'}
        raise Refused(403, {"error": f"Insufficient scope: use a key with the scope '{scope.value}'"}, challenge)
    # In a task: a read does not wait for a writer, and a locked database prevents no reading.
    if key.prefix not in _NOTING:
        _NOTING[key.prefix] = asyncio.create_task(_note_use(authenticator, key))
    return key


async def presented_key(request: Request[Any, Any, Any], authenticator: Authenticator) -> ApiKey | None:
    """Return the request's API key if it is valid; it is looked up once per request."""
    state = request.scope["state"]
    if _KEY not in state:
        state[_KEY] = await _find_key(request.headers.getall("Authorization", []), authenticator)
    return cast("ApiKey | None", state[_KEY])


async def _find_key(headers: Sequence[str], authenticator: Authenticator) -> ApiKey | None:
    if len(headers) != 1:
        return None
    # RFC 9110, section 11.1: the scheme's case does not matter.
    scheme, _, presented = headers[0].partition(" ")
    return await authenticator.authenticate(presented.strip(" ")) if scheme.lower() == "bearer" else None


def _fault(headers: Sequence[str]) -> str:
    if len(headers) != 1:
        return "Repeated Authorization header: send it once"
    scheme, _, presented = headers[0].partition(" ")
    if scheme.lower() != "bearer":
        return "Missing scheme 'Bearer': send 'Authorization: Bearer' and the API key"
    return "Invalid API key" if presented.strip(" ") else "Missing API key"


#: At most one task per key; the event loop keeps only weak references to tasks.
_NOTING: Final[dict[str, "asyncio.Task[None]"]] = {}


async def _note_use(authenticator: Authenticator, key: ApiKey) -> None:
    try:
        await authenticator.note_use(key)
    except ContentServiceError as exc:
        _LOG.warning("the use of a key was not noted", reason=str(exc))
    finally:
        del _NOTING[key.prefix]
