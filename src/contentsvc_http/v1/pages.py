from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypeAlias, TypedDict, final

from litestar import Request
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Operation, Parameter

from contentsvc_core.schemas import schema_of
from contentsvc_http.v1.bodies import RawSchema
from contentsvc_http.v1.gate import errors

#: The description of a text parameter, or the type and the description of a parameter.
Described: TypeAlias = str | tuple[Any, str]


@final
class InvalidPageDetails(TypedDict):
    """The pages that exist (specification 4.2)."""

    message: str
    totalPages: int
    requestedPage: int


@final
class InvalidListBody(TypedDict):
    """Why a list request is invalid, with details for a page that does not exist."""

    error: str
    details: NotRequired[InvalidPageDetails]


def list_errors() -> dict[int, ResponseSpec]:
    text = "A query parameter is invalid, or the page does not exist."
    return {**errors(), 400: ResponseSpec(InvalidListBody, description=text, generate_examples=False)}


def read_parameters(request: Request[Any, Any, Any], *lists: str) -> dict[str, str]:
    """Return the query parameters; the values of a repeated list are joined, else the last value counts."""
    return {
        name: ",".join(values) if name in lists else str(values[-1])
        for name, values in request.query_params.dict().items()
    }


def paged(filters: Mapping[str, Described]) -> type[Operation]:
    """Return an OpenAPI operation class with ``limit``, ``page`` and ``filters`` (descriptions by name)."""
    return queried(
        {
            "limit": (int, "Items per page, 1 to 100. Default: 10."),
            "page": (int, "Page number, starting at 1."),
            **filters,
        }
    )


def queried(described: Mapping[str, Described]) -> type[Operation]:
    """Return an OpenAPI operation class with query parameters. Lists are separated by commas."""

    @dataclass
    class Queried(Operation):
        def __post_init__(self) -> None:
            self.parameters = [
                _parameter(name, *((str, each) if isinstance(each, str) else each)) for name, each in described.items()
            ]

    return Queried


def _parameter(name: str, shape: object, description: str) -> Parameter:
    schema = schema_of(shape)
    # Only lists have a style: one value or several, separated by commas. A repeated parameter is read as well.
    explode = False if schema["type"] == "array" else None
    return Parameter(
        name=name, param_in="query", description=description, schema=RawSchema(schema=schema), explode=explode
    )
