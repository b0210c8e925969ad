"""What load balancers and people ask: is it there, can it work."""

from collections.abc import Awaitable, Callable

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from contentsvc_http.errors import Refused
from contentsvc_http.responses import ErrorBody, StatusBody


def health_routes(why_not_ready: Callable[[], Awaitable[str | None]]) -> list[HTTPRouteHandler]:
    """Give the routes that every process has, whatever its role.

    Args:
        why_not_ready: Gives the reason why the process cannot do what its role asks for now, or ``None``.
    """

    @get("/health/live", name="live", summary="The process answers", tags=["health"])
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @get(
        "/health/ready",
        name="ready",
        summary="The process can do its work: settle deliveries, perform runs, or both",
        tags=["health"],
        responses={503: ResponseSpec(ErrorBody, description="not now; the text says why")},
    )
    async def ready() -> dict[str, str]:
        reason = await why_not_ready()
        if reason is not None:
            raise Refused(503, {"error": f"Not ready: {reason}"}, {"Retry-After": "1"})
        return {"status": "ready"}

    return [live, ready]


def status_route(version: str) -> HTTPRouteHandler:
    """Give the route that says which version runs."""

    @get(
        "/v1/status",
        name="status",
        operation_id="getPublicApiStatus",
        summary="The service's status",
        tags=["status"],
    )
    async def status() -> Response[StatusBody]:
        return Response(StatusBody(status="ok", version=version))

    return status
