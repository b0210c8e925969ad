import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, final

import structlog

from contentsvc_core.errors import Overloaded, ReceivingFailed, SecretUnreadable, StoreUnavailable, Unstorable
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.receive import UNAVAILABLE
from contentsvc_http.faults import log_fault

if TYPE_CHECKING:
    from litestar import Request, Response

#: ``Retry-After`` when the database is unavailable, in seconds.
RETRY_AFTER_S: Final = 1
_SERVER_ERROR: Final = 500
_WITH_THE_KEY: Final = (
    "restart all servers with the same CONTENTSVC_SECRET_KEY as the commands; then request the missed deliveries"
)
_LOG: Final = structlog.get_logger("contentsvc.http")


@final
class Refused(Exception):
    """Ends a request with an error response that the client can act on."""

    def __init__(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body["error"])
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


STOPPING: Final = Refused(
    503,
    {"error": UNAVAILABLE},
    {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"},
)


_STATUS: Final = {
    RefusalKind.INVALID: 400,
    RefusalKind.QUERY: 400,
    RefusalKind.UNSUITABLE: 400,
    RefusalKind.NOT_FOUND: 404,
    RefusalKind.DUPLICATE: 409,
    RefusalKind.LIMIT: 409,
    RefusalKind.CONFLICT: 409,
    RefusalKind.DISABLED: 403,
    RefusalKind.STALE: 412,
    RefusalKind.REUSED: 422,
    RefusalKind.HOST_REFUSED: 400,
    # Not 429, which is this service's own rate limit with its own headers.
    RefusalKind.HOST_BUSY: 503,
    RefusalKind.HOST_UNREACHABLE: 502,
}
_Value = TypeVar("_Value")


def refused(refusal: Refusal) -> Refused:
    message = refusal.message()
    body: dict[str, Any] = {"error": f"Invalid request: {message}" if refusal.kind is RefusalKind.INVALID else message}
    if refusal.details:
        body["details"] = refusal.details
    waits = refusal.kind is RefusalKind.HOST_BUSY or refusal.retry_after_s is not None
    headers = {"Retry-After": str(refusal.retry_after_s or 1)} if waits else None
    return Refused(_STATUS[refusal.kind], body, headers)


def accepted(value: _Value | Refusal) -> _Value:
    """Return the result of a use case, or raise its refusal as :class:`Refused`."""
    if isinstance(value, Refusal):
        raise refused(value)
    return value


def refuse_request(fault: str) -> NoReturn:
    raise Refused(400, {"error": f"Invalid request: {fault}"})


def refuse(request: "Request[Any, Any, Any]", exc: Exception) -> "Response[Mapping[str, Any]]":
    from litestar import Response  # noqa: PLC0415  # the receiver answers before the framework is imported
    from litestar.exceptions.http_exceptions import RequestEntityTooLarge  # noqa: PLC0415  # as above

    refused = refusal(exc)
    body = refused.body
    if isinstance(exc, RequestEntityTooLarge) and (limit := request.route_handler.resolve_request_max_body_size()):
        body = {"error": f"Request body exceeds {mebibytes(limit)}"}
    return Response(body, status_code=refused.status, headers=refused.headers)


def mebibytes(size: int) -> str:
    return f"{size / 2**20:.2g} MiB"


def refusal(exc: Exception) -> Refused:
    """Return the refusal for an exception. A server fault is logged with its cause, which the client never sees."""
    match exc:
        case Refused():
            return exc
        case StoreUnavailable():
            log_fault(exc)
            return Refused(503, {"error": UNAVAILABLE}, {"Retry-After": str(RETRY_AFTER_S)})
        case Overloaded():
            return Refused(503, {"error": "Too many requests at once: try again"}, {"Retry-After": str(RETRY_AFTER_S)})
        case Unstorable():
            # A value that no database can store, in a lookup or a write: the client's fault.
            _LOG.warning("unstorable", reason=str(exc))
            return Refused(400, {"error": "Invalid request: a value cannot be stored"})
        case ReceivingFailed(__cause__=SecretUnreadable() as cause):
            # Without a traceback: any sender can cause the line.
            _LOG.error("receiving failed", reason=str(cause), advice=_WITH_THE_KEY)
            return Refused(_SERVER_ERROR, {"error": str(exc)})
        case ReceivingFailed():
            _LOG.error("receiving failed", exc_info=exc)
            return Refused(_SERVER_ERROR, {"error": str(exc)})
        case _ if (refused := _of_framework(exc)) is not None:
            return refused
        case _:
            _LOG.error("request failed", exc_info=exc)
            return Refused(_SERVER_ERROR, {"error": "Internal server error"})


def _of_framework(exc: Exception) -> Refused | None:
    if "litestar.exceptions" not in sys.modules:
        return None
    from litestar.exceptions import HTTPException  # noqa: PLC0415  # as above

    if not isinstance(exc, HTTPException) or exc.status_code >= _SERVER_ERROR:
        return None
    return Refused(exc.status_code, {"error": exc.detail}, exc.headers)
