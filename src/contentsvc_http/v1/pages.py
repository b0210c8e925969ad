from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from litestar import Request
from litestar.openapi.datastructures import ResponseSpec

from contentsvc_http.v1.operations import Query


class InvalidPageDetails(TypedDict):
    """The pages that exist (specification 4.2)."""

    message: str
    totalPages: int
    requestedPage: int


class InvalidListBody(TypedDict):
    """Why a list request is invalid, with details for a page that does not exist."""

    error: str
    details: NotRequired[InvalidPageDetails]


#: The query parameters of a list with pages.
PAGE: Final[Mapping[str, Query]] = {
    "limit": (int, "Items per page, 1 to 100. Default: 10."),
    "page": (int, "Page number, starting at 1."),
}
INVALID_LIST: Final = ResponseSpec(
    InvalidListBody, description="A query parameter is invalid, or the page does not exist.", generate_examples=False
)


def read_parameters(request: Request[Any, Any, Any], *lists: str) -> dict[str, str]:
    """Return the query parameters; the values of a repeated list are joined, else the last value counts."""
    return {
        name: ",".join(values) if name in lists else str(values[-1])
        for name, values in request.query_params.dict().items()
    }
