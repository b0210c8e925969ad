"""What every operation of ``/v1`` begins and ends with: who calls, and the answer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, final

from litestar import Request, Response
from litestar.openapi.datastructures import ResponseSpec

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.ports import Directory
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.auth import caller
from contentsvc_http.responses import ErrorBody

if TYPE_CHECKING:
    from contentsvc_core.organizations import Organization

_KEPT: Final = 10_000
_ERRORS: Final = {
    400: "the request is invalid; the text says what is",
    401: "no API key, or not a valid one",
    403: "the key may not do this",
    404: "there is no such thing in this organization",
    409: "it is there already",
    412: "it has been changed meanwhile",
    413: "the body is too large",
    415: "the body is not JSON",
    500: "server error",
    502: "the code host does not answer as it should",
    503: "the store is away: try again",
}


@final
class Gate:
    """Lets calls in and answers them."""

    def __init__(self, authenticator: Authenticator, directory: Directory, *, hosted: bool = False) -> None:
        """Take what tells callers.

        Args:
            authenticator: Tells whose key it is.
            directory: Tells whose key that is.
            hosted: Add to answers what a client of the hosted product insists on.
        """
        self._authenticator = authenticator
        self._directory = directory
        self.hosted: Final = hosted
        #: Those that have called. Nothing of what is told of one can change.
        self._organizations: dict[str, Organization] = {}

    async def caller(self, request: Request[Any, Any, Any], scope: Scope) -> ApiKey:
        """Give the key that a request carries, which has the scope.

        Raises:
            Refused: 401 or 403.
        """
        key = await caller(request, self._authenticator, scope)
        if self.hosted and key.organization_id not in self._organizations:
            # Now, and not with the answer: what was done, and is shown once, must not be lost with it.
            found = await self._directory.organization_of(key.organization_id)
            if found is not None:
                if len(self._organizations) >= _KEPT:
                    self._organizations.clear()
                self._organizations[found.id] = found
        return key

    async def answer(
        self, key: ApiKey, body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response[Any]:
        """Answer with success; a client of the hosted product is told its organization, too."""
        if self.hosted:
            tenant = self._organizations.get(key.organization_id)
            if tenant is not None:
                organization = {"id": tenant.id, "slug": tenant.slug, "name": tenant.name, "logo": None}
                body = {**body, "organization": organization}
        return Response(dict(body), status_code=status, headers=dict(headers or {}))


def errors(*statuses: int) -> dict[int, ResponseSpec]:
    """Document errors of an operation: these, and those that every operation of ``/v1`` has (401, 403, 500, 503)."""
    return {
        status: ResponseSpec(ErrorBody, description=_ERRORS[status], generate_examples=False)
        for status in sorted({*statuses, 401, 403, 500, 503})
    }
