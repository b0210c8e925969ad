"""What every operation of ``/v1`` begins and ends with: who calls, and the answer."""

from collections.abc import Mapping
from typing import Any, Final, final

from litestar import Request, Response
from litestar.openapi.datastructures import ResponseSpec

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.ports import Directory
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.auth import caller
from contentsvc_http.responses import ErrorBody
from contentsvc_http.v1.answers import Answers
from contentsvc_http.v1.hosted import HostedAnswers

_ERRORS: Final = {
    400: "the request is invalid; the text says what is",
    401: "no API key, or not a valid one",
    403: "the key may not do this",
    404: "there is no such thing in this organization",
    405: "the address belongs to another operation; `Allow` names its methods",
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
        """Create a gate.

        Args:
            authenticator: Returns the key of a request.
            directory: Returns what answers to clients of the hosted product show of an organization.
            hosted: Answer as clients of the hosted product expect it.
        """
        self._authenticator = authenticator
        self.hosted: Final = hosted
        self.answers: Final = HostedAnswers(directory) if hosted else Answers()

    async def caller(self, request: Request[Any, Any, Any], scope: Scope) -> ApiKey:
        """Return the key that a request carries; the key has the scope.

        Raises:
            Refused: 401 or 403.
        """
        key = await caller(request, self._authenticator, scope)
        # Now, and not with the answer: what was done, and is shown once, must not be lost with it.
        await self.answers.prepare(key.organization_id)
        return key

    async def answer(
        self, key: ApiKey, body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response[Any]:
        """Return the answer of a success."""
        whole = self.answers.whole(key.organization_id, body)
        return Response(whole, status_code=status, headers=dict(headers or {}))


def errors(*statuses: int) -> dict[int, ResponseSpec]:
    """Document errors of an operation: these, and those that every operation of ``/v1`` has (401, 403, 500, 503)."""
    return {
        status: ResponseSpec(ErrorBody, description=_ERRORS[status], generate_examples=False)
        for status in sorted({*statuses, 401, 403, 500, 503})
    }
