"""Declarations of the operations of ``/v1``: their routes, and their part of the OpenAPI document."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, final

from litestar import Request
from litestar.datastructures import ResponseHeader
from litestar.di import Provide
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import (
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Parameter,
    RequestBody,
    Schema,
)
from litestar.openapi.spec.enums import OpenAPIType
from msgspec import Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.schemas import schema_of
from contentsvc_core.text import one_line
from contentsvc_http.errors import Refused, mebibytes
from contentsvc_http.responses import ErrorBody
from contentsvc_http.v1.bodies import read_body
from contentsvc_http.v1.examples import EXAMPLES
from contentsvc_http.v1.gate import Caller, Gate

#: The description of a text parameter, or the type and the description of a parameter.
Described: TypeAlias = str | tuple[Any, str]

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
_HEADERS_OF_STATUSES: Final[Mapping[str, Mapping[str, OpenAPIHeader]]] = {
    "304": {"ETag": OpenAPIHeader(schema=Schema(type=OpenAPIType.STRING), description="Version of the post.")},
    "401": {"WWW-Authenticate": OpenAPIHeader(schema=Schema(type=OpenAPIType.STRING), description="Always `Bearer`.")},
    "405": {"Allow": OpenAPIHeader(schema=Schema(type=OpenAPIType.STRING), description="The methods of the path.")},
    "503": {
        "Retry-After": OpenAPIHeader(
            schema=Schema(type=OpenAPIType.INTEGER, minimum=1), description="Seconds to wait before you try again."
        )
    },
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
        query: Mapping[str, Described] | None = None,
        body: type[Struct] | RequestBody | None = None,
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
        parameters += [_condition(name) for name in conditions]
        if "{" in path:
            statuses.add(404)
        if parameters:
            statuses.add(400)
        if conditions:
            statuses.add(412)
        if isinstance(body, type):
            statuses |= {400, 408, 413, 415}
            dependencies["command"] = Provide(_reading(body, required=body_required))
            body = _json_body(body, EXAMPLES[operation_id], required=body_required)
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
            operation_class=documenting(body, parameters),
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


@dataclass
class RawSchema(Schema):
    """A finished JSON Schema in the OpenAPI document."""

    schema: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_schema(self) -> dict[str, Any]:
        return self.schema

    def __hash__(self) -> int:
        return id(self)


def documenting(body: RequestBody | None = None, parameters: Sequence[Parameter] = ()) -> type[Operation]:
    """Return the class of an operation with its request, and with the headers of its errors."""

    @dataclass
    class Documenting(Operation):
        def __post_init__(self) -> None:
            self.request_body = body
            for status, header in _HEADERS_OF_STATUSES.items():
                if isinstance(response := (self.responses or {}).get(status), OpenAPIResponse):
                    response.headers = {**(response.headers or {}), **header}
            if parameters:
                self.parameters = [*(self.parameters or []), *parameters]

    return Documenting


def _json_body(shape: type[Struct], example: Mapping[str, Any], *, required: bool) -> RequestBody:
    media = OpenAPIMediaType(schema=RawSchema(schema=schema_of(shape)), example=example)
    return RequestBody(content={"application/json": media}, required=required)


def _query_parameter(name: str, described: Described) -> Parameter:
    shape, description = (str, described) if isinstance(described, str) else described
    schema = schema_of(shape)
    # Only lists have a style: one value or several, separated by commas. A repeated parameter is read as well.
    explode = False if schema["type"] == "array" else None
    return Parameter(
        name=name, param_in="query", description=description, schema=RawSchema(schema=schema), explode=explode
    )


def _condition(name: str) -> Parameter:
    schema = RawSchema(schema={"type": "string"})
    return Parameter(name=name, param_in="header", description="A list of entity tags, or `*`.", schema=schema)


def _error(status: int, body_limit: int) -> ResponseSpec:
    description = _ERRORS[status].format(body_limit=mebibytes(body_limit))
    return ResponseSpec(ErrorBody, description=description, generate_examples=False)
