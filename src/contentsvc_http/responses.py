from typing import TypedDict

from contentsvc_core.content.posts import PostBody
from contentsvc_core.lists.pagination import PaginationBody


class ErrorBody(TypedDict):
    """The body of every error (specification 7). Some errors have further fields."""

    error: str


class PostListBody(TypedDict):
    """A page of posts (specification 4.2)."""

    posts: list[PostBody]
    pagination: PaginationBody


class StatusBody(TypedDict):
    """The public status of the service."""

    status: str
    version: str
