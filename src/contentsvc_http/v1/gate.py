from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast, final

from litestar import Request, Response
from litestar.datastructures import ResponseHeader
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct, to_builtins

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.ports import Directory
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.auth import caller
from contentsvc_http.responses import ErrorBody
from contentsvc_http.v1.answers import Answers
from contentsvc_http.v1.hosted import HostedAnswers

_ERRORS: Final = {
    400: "The request is invalid. `error` names the fault.",
    401: "The API key is missing or not valid.",
    403: "The API key lacks the required scope.",
    404: "Not found in your organization.",
    405: "This path does not support the method. See the `Allow` header.",
    409: "The request conflicts with an existing resource.",
    412: "The resource has changed since you read it.",
    413: "The request body is too large.",
    415: "The request body is not JSON.",
    500: "Server error.",
    502: "The code host cannot be reached, or its answer is not valid.",
    503: "The service is overloaded, or its database is unavailable. Try again after `Retry-After` seconds.",
}

#: The header of a response with a new resource or job. The value only gives the type.
LOCATED: Final = [
    ResponseHeader(name="Location", value="", description="Path of the new resource or job.", documentation_only=True)
]
_Body = TypeVar("_Body", bound=Mapping[str, Any] | Struct)


@final
class Gate:
    def __init__(self, authenticator: Authenticator, directory: Directory, *, hosted: bool = False) -> None:
        """With ``hosted``, response bodies have the form that clients of the hosted product expect."""
        self._authenticator = authenticator
        self.hosted: Final = hosted
        self.answers: Final = HostedAnswers(directory) if hosted else Answers()

    async def caller(self, request: Request[Any, Any, Any], scope: Scope) -> ApiKey:
        key = await caller(request, self._authenticator, scope)
        # Before the operation: a failing read afterwards would lose a secret that is shown only once.
        await self.answers.prepare(key.organization_id)
        return key

    async def answer(
        self,
        key: ApiKey,
        body: _Body,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        location: str | None = None,
    ) -> Response[_Body]:
        """Return a response whose body has the type that the operation declares.

        ``location`` is the path of a new resource or job.
        """
        fields = to_builtins(body) if isinstance(body, Struct) else body
        completed = cast("_Body", self.answers.completed(key.organization_id, fields))
        located = {} if location is None else {"Location": location}
        return Response(completed, status_code=status, headers={**(headers or {}), **located})


def errors(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the documentation of error responses: ``statuses``, and 401, 403, 500 and 503, which are common to all."""
    return {
        status: ResponseSpec(ErrorBody, description=_ERRORS[status], generate_examples=False)
        for status in sorted({*statuses, 401, 403, 500, 503})
    }
