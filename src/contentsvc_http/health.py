from collections.abc import Awaitable, Callable

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from contentsvc_http.errors import Refused
from contentsvc_http.probes import LIVE, READY, not_ready
from contentsvc_http.responses import ErrorBody, StatusBody


def health_routes(why_not_ready: Callable[[], Awaitable[str | None]]) -> list[HTTPRouteHandler]:

    @get(LIVE, operation_id="getLiveness", summary="Check liveness: the process responds", tags=["health"])
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @get(
        READY,
        operation_id="getReadiness",
        summary="Check readiness: the process can settle deliveries, perform runs, or both",
        tags=["health"],
        responses={503: ResponseSpec(ErrorBody, description="The process is not ready. `error` gives the reason.")},
    )
    async def ready() -> dict[str, str]:
        reason = await why_not_ready()
        if reason is not None:
            raise Refused(503, not_ready(reason), {"Retry-After": "1"})
        return {"status": "ready"}

    return [live, ready]


def status_route(version: str) -> HTTPRouteHandler:
    @get(
        "/v1/status",
        operation_id="getPublicApiStatus",
        summary="Get the status and version of the service",
        tags=["status"],
    )
    async def status() -> Response[StatusBody]:
        return Response(StatusBody(status="ok", version=version))

    return status
