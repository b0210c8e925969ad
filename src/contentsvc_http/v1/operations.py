"""Declarations of the operations of ``/v1``: their routes, and their part of the OpenAPI document."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

from litestar import Request
from litestar.datastructures import ResponseHeader
from litestar.di import Provide
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.schemas import schema_of
from contentsvc_core.text import one_line
from contentsvc_http.described import DOCUMENT, Described, header, parameter
from contentsvc_http.errors import Refused, mebibytes
from contentsvc_http.responses import ErrorBody
from contentsvc_http.v1.bodies import read_body
from contentsvc_http.v1.examples import EXAMPLES
from contentsvc_http.v1.gate import Caller, Gate

#: The description of a text parameter, or the type and the description of a parameter.
Query: TypeAlias = str | tuple[Any, str]

#: The largest body of an operation that names no other limit, in bytes.
MAX_BODY: Final = 1024 * 1024
_ERRORS: Final = {
    400: "The request is invalid. `error` names the first fault of each field.",
    401: "The API key is missing or not valid.",
    403: "The API key lacks the required scope.",
    404: "Not found in your organization.",
    405: "This path does not support the method. See the `Allow` header.",
    408: "The request body did not arrive in time.",
    409: "The request conflicts with an existing resource.",
    412: "The resource has changed since you read it.",
    413: "The request body exceeds {body_limit}.",
    415: "The request body is not JSON.",
    500: "Server error.",
    502: "The code host cannot be reached, or its answer is not valid.",
    503: "The service is overloaded, or its database is unavailable. Try again after `Retry-After` seconds.",
}
#: Descriptions of successes, by status.
_SUCCESSES: Final = {
    200: "The request succeeded.",
    201: "The resource was created.",
    202: "The request was accepted. The service performs it in the background.",
}
#: The header of a response with a new resource or job. The value only gives the type.
LOCATED: Final = ResponseHeader(
    name="Location", value="", description="Path of the new resource or job.", documentation_only=True
)
#: The header of a response with one post. The value only gives the type.
TAGGED: Final = ResponseHeader(
    name="ETag", value="", description="Version of the post. Send it as `If-Match`.", documentation_only=True
)
#: Headers of responses that are not the success, by status; 304 is only that of a post.
HEADERS_OF_STATUSES: Final = {
    "304": {"ETag": header("Version of the post.")},
    "401": {"WWW-Authenticate": header("Always `Bearer`.")},
    "405": {"Allow": header("The methods of the path.")},
    "503": {"Retry-After": header("Seconds to wait before you try again.", least=1)},
}


@final
class Operations:
    """The operations of one resource. Call it to decorate a handler, which is added to ``routes``."""

    def __init__(self, gate: Gate, tag: str) -> None:
        self._gate: Final = gate
        self.routes: Final[list[HTTPRouteHandler]] = []
        self._tags: Final = [tag]

    def __call__(  # noqa: PLR0913  # what the document says about an operation
        self,
        method_and_path: str,
        operation_id: str,
        summary: str,
        *,
        description: str | None = None,
        query: Mapping[str, Query] | None = None,
        body: type[Struct] | Mapping[str, Any] | None = None,
        body_required: bool = True,
        body_limit: int = MAX_BODY,
        conditions: Sequence[str] = (),
        status: int = 200,
        headers: Sequence[ResponseHeader] = (),
        fails: Iterable[int] = (),
        responses: Mapping[int, ResponseSpec] | None = None,
    ) -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
        """Declare an operation.

        The handler gets the API key of the request as ``key``: of the scope ``read`` for GET, else of ``write``. A JSON
        body is its ``command``.
        ``fails`` are the error responses that do not follow from the other arguments. Every operation has 401, 403, 500
        and 503; a path with an id has 404, a query 400, a JSON body 400, 408, 413 and 415, and a condition 400 and 412.
        """
        method, path = method_and_path.split()
        caller = self._gate.reader if method == "GET" else self._gate.writer
        # Clients of the hosted product may send parameters that have no meaning here (decision 0039).
        known = None if query is None or self._gate.hosted else frozenset(query)
        dependencies = {"key": Provide(caller if known is None else _knowing(known, caller))}
        statuses = {401, 403, 500, 503, *fails}
        parameters = [_query_parameter(name, each) for name, each in (query or {}).items()]
        parameters += [parameter("header", name, "A list of entity tags, or `*`.") for name in conditions]
        if "{" in path:
            statuses.add(404)
        if parameters:
            statuses.add(400)
        if conditions:
            statuses.add(412)
        if isinstance(body, type):
            statuses |= {400, 408, 413, 415}
            dependencies["command"] = Provide(_reading(body, required=body_required))
            media = {"schema": schema_of(body), "example": EXAMPLES[operation_id]}
            body = {"content": {"application/json": media}, "required": body_required}
        route = HTTPRouteHandler(
            path,
            http_method=HttpMethod(method),
            status_code=status,
            response_description=_SUCCESSES[status],
            dependencies=dependencies,
            request_max_body_size=body_limit,
            operation_id=operation_id,
            summary=summary,
            description=description,
            tags=self._tags,
            opt={DOCUMENT: [Described(parameters=parameters, body=body, headers=HEADERS_OF_STATUSES)]},
            response_headers=headers,
            responses={**{each: _error(each, body_limit) for each in sorted(statuses)}, **(responses or {})},
        )

        def declare(handler: Callable[..., Any]) -> HTTPRouteHandler:
            declared = route(handler)
            self.routes.append(declared)
            return declared

        return declare


def _knowing(
    known: Collection[str], caller: Callable[[Request[Any, Any, Any]], Awaitable[ApiKey]]
) -> Callable[..., Awaitable[ApiKey]]:
    async def key_of(request: Request[Any, Any, Any]) -> ApiKey:
        key = await caller(request)
        unknown = next((name for name in request.query_params if name not in known), None)
        if unknown is not None:
            fault = f"Invalid query: unknown parameter '{one_line(unknown, 64)}'; known are {', '.join(sorted(known))}"
            raise Refused(400, {"error": fault})
        return key

    return key_of


def _reading(shape: type[Struct], *, required: bool) -> Callable[..., Awaitable[Struct]]:
    async def read(request: Request[Any, Any, Any], key: Caller) -> Struct:
        # A request without a valid key is refused before its body is read.
        del key
        return await read_body(request, shape) if required or await request.body() else shape()

    return read


def _query_parameter(name: str, described: Query) -> dict[str, Any]:
    shape, description = (str, described) if isinstance(described, str) else described
    schema = schema_of(shape)
    # Only lists have a style: one value or several, separated by commas. A repeated parameter is read as well.
    style = {"explode": False} if schema["type"] == "array" else {}
    style |= {"allowEmptyValue": False, "allowReserved": False}
    return parameter("query", name, description, schema) | style


def _error(status: int, body_limit: int) -> ResponseSpec:
    description = _ERRORS[status].format(body_limit=mebibytes(body_limit))
    return ResponseSpec(ErrorBody, description=description, generate_examples=False)
