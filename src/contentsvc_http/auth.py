"""Who calls ``/v1`` (specification 5.1)."""

from typing import Any, Final

from litestar import Request

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.errors import Refused

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
    return key
