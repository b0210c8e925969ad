"""Every error's answer: ``{"error": …}``, whoever raised it (specification 7)."""

from collections.abc import Mapping
from typing import Any, Final, NoReturn, final

import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException

from contentsvc_core.errors import Overloaded, ReceivingFailed, StoreUnavailable, Unstorable
from contentsvc_core.usecases.receive import UNAVAILABLE

#: How long to wait when the store is away, in seconds.
RETRY_AFTER_S: Final = 1
_SERVER_ERROR: Final = 500
_LOG: Final = structlog.get_logger("contentsvc.http")


@final
class Refused(Exception):
    """Ends a request with an error that its sender can do something about."""

    def __init__(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        """Take the whole answer."""
        super().__init__(body["error"])
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


#: Answers a request that the server waits for no longer.
STOPPING: Final = Refused(
    503,
    {"error": UNAVAILABLE},
    {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"},
)


def refuse_request(fault: str) -> NoReturn:
    """Raise the refusal of a request whose ``fault`` the client can mend: 400."""
    raise Refused(400, {"error": f"Invalid request: {fault}"})


def refuse(_request: Request[Any, Any, Any], exc: Exception) -> Response[Mapping[str, Any]]:
    """Answer an exception, for the framework."""
    refused = refusal(exc)
    return Response(refused.body, status_code=refused.status, headers=refused.headers)


def refusal(exc: Exception) -> Refused:
    """Give an exception's answer; what is ours to fix is logged with its cause, and the sender learns nothing of it."""
    match exc:
        case Refused():
            return exc
        case StoreUnavailable():
            _LOG.warning("store unavailable", reason=str(exc))
            return Refused(503, {"error": UNAVAILABLE}, {"Retry-After": str(RETRY_AFTER_S)})
        case Overloaded():
            return Refused(503, {"error": "Too many requests at once: try again"}, {"Retry-After": str(RETRY_AFTER_S)})
        case Unstorable():
            # Looked up or written: no store can hold it, whoever asks.
            _LOG.warning("unstorable", reason=str(exc))
            return Refused(400, {"error": "Invalid request: a value cannot be stored"})
        case ReceivingFailed():
            _LOG.error("receiving failed", exc_info=exc)
            return Refused(_SERVER_ERROR, {"error": str(exc)})
        case HTTPException() if exc.status_code < _SERVER_ERROR:
            return Refused(exc.status_code, {"error": exc.detail}, exc.headers)
        case _:
            _LOG.error("request failed", exc_info=exc)
            return Refused(_SERVER_ERROR, {"error": "Internal server error"})
