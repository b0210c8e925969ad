from typing import TypedDict, final

from contentsvc_core.content.posts import PostBody


@final
class ErrorBody(TypedDict):
    """The body of every error (specification 7). Some errors have further fields."""

    error: str


@final
class PaginationBody(TypedDict):
    """The position of a page in its list (specification 2.2)."""

    limit: int
    currentPage: int
    nextPage: int | None
    previousPage: int | None
    totalPages: int
    totalItems: int


@final
class PostListBody(TypedDict):
    """A page of posts (specification 4.2)."""

    posts: list[PostBody]
    pagination: PaginationBody


@final
class StatusBody(TypedDict):
    """The public status of the service."""

    status: str
    version: str
