from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, final

from litestar import Request
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Operation, Parameter, Schema
from litestar.openapi.spec.enums import OpenAPIType

from contentsvc_http.v1.gate import errors


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


def paged(filters: Mapping[str, str]) -> type[Operation]:
    """Return an OpenAPI operation class with ``limit``, ``page`` and ``filters`` (descriptions by name)."""
    return queried(
        {
            "limit": "Items per page, 1 to 100. Default: 10.",
            "page": "Page number, starting at 1.",
            **filters,
        }
    )


def queried(described: Mapping[str, str]) -> type[Operation]:

    @dataclass
    class Queried(Operation):
        def __post_init__(self) -> None:
            self.parameters = [
                Parameter(name=name, param_in="query", description=text, schema=Schema(type=OpenAPIType.STRING))
                for name, text in described.items()
            ]

    return Queried
