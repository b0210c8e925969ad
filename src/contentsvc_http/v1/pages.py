"""Lists that come in pages, read from query parameters by hand (specification 4.2)."""

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
    """Which pages there are (specification 4.2)."""

    message: str
    totalPages: int
    requestedPage: int


@final
class InvalidListBody(TypedDict):
    """Why a list cannot be given; with details for a page that does not exist."""

    error: str
    details: NotRequired[InvalidPageDetails]


def list_errors() -> dict[int, ResponseSpec]:
    """Document the errors of a list that comes in pages."""
    text = "a query parameter is invalid, or the page does not exist"
    return {**errors(), 400: ResponseSpec(InvalidListBody, description=text, generate_examples=False)}


def read_parameters(request: Request[Any, Any, Any], *lists: str) -> dict[str, str]:
    """Return the query parameters, read by hand: a limit or page that is no number is not an error.

    Args:
        request: The request.
        lists: The parameters that are comma lists. The values of a repeated list are one list. Of another repeated
            parameter, the last value counts.
    """
    return {
        name: ",".join(values) if name in lists else str(values[-1])
        for name, values in request.query_params.dict().items()
    }


def paged(filters: Mapping[str, str]) -> type[Operation]:
    """Give the class of operations with ``limit``, ``page`` and ``filters``, by name and description: for OpenAPI."""
    return queried(
        {
            "limit": "items per page, 1 to 100; 10 unless it is a number",
            "page": "the page, from 1",
            **filters,
        }
    )


def queried(described: Mapping[str, str]) -> type[Operation]:
    """Give the class of operations with query parameters that are read by hand, by name and description."""

    @dataclass
    class Queried(Operation):
        def __post_init__(self) -> None:
            self.parameters = [
                Parameter(name=name, param_in="query", description=text, schema=Schema(type=OpenAPIType.STRING))
                for name, text in described.items()
            ]

    return Queried
