"""``/v1/posts`` (specification 4.2)."""

from dataclasses import dataclass
from typing import Any, cast

from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Operation, Parameter, Schema
from litestar.openapi.spec.enums import OpenAPIType

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.pagination import InvalidPage, PageRequest
from contentsvc_core.content.posts import post_body
from contentsvc_core.content.queries import InvalidQuery, read_post_query
from contentsvc_core.ports import PostLibrary
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_http.auth import caller
from contentsvc_http.errors import Refused
from contentsvc_http.responses import ErrorBody, PostListBody


def _parameter(name: str, description: str) -> Parameter:
    return Parameter(name=name, param_in="query", description=description, schema=Schema(type=OpenAPIType.STRING))


@dataclass
class _ListPosts(Operation):
    """Adds the query parameters, which are read by hand, to the OpenAPI document."""

    def __post_init__(self) -> None:
        self.parameters = [
            _parameter("limit", "items per page, 1 to 100; 10 unless it is a number"),
            _parameter("page", "the page, from 1"),
            _parameter("sort", "asc or desc, by creation time"),
            _parameter("status", "a comma list of draft, published"),
            _parameter("contentType", "a comma list of content types"),
            _parameter("brandIdentityId", "a comma list of brand identities; there are none so far"),
        ]


def post_list_route(library: PostLibrary, authenticator: Authenticator) -> HTTPRouteHandler:
    """Give the route of the post list."""

    @get(
        "/v1/posts",
        name="list_posts",
        summary="List posts",
        tags=["posts"],
        operation_class=_ListPosts,
        responses={
            400: ResponseSpec(ErrorBody, description="a query parameter, or a page that does not exist"),
            401: ResponseSpec(ErrorBody, description="missing or invalid API key"),
            403: ResponseSpec(ErrorBody, description="the key may not read"),
        },
    )
    async def list_posts(request: Request[Any, Any, Any]) -> Response[PostListBody]:
        key = await caller(request, authenticator, Scope.READ)
        # Read by hand: a limit or page that is no number is not an error (specification 4.2). Of a repeated
        # parameter the last one counts.
        parameters = {name: str(values[-1]) for name, values in request.query_params.dict().items()}
        query = read_post_query(parameters)
        if isinstance(query, InvalidQuery):
            raise Refused(400, {"error": query.error})
        asked = PageRequest.read(limit=parameters.get("limit"), page=parameters.get("page"))
        page = await library.page(key.organization_id, query, asked)
        if isinstance(page, InvalidPage):
            raise Refused(400, page.body)
        posts, pagination = page
        body = {"posts": [post_body(post) for post in posts], "pagination": pagination.body}
        return Response(cast("PostListBody", body))

    return list_posts
