"""Calling a tool: the limit, the scope, the arguments, the work; and what is said when something is in the way."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.errors import Overloaded, StoreUnavailable, Unstorable
from contentsvc_core.shapes import NotOfShape, read_shape, storable_json
from contentsvc_core.text import one_line
from contentsvc_mcp.toolbox import Answer, Refused, Tool, Toolbox

_FAULT_LENGTH: Final = 300
_MAY_NOT: Final = {
    Scope.READ: "This API key may not read: ask for one with the scope 'read'",
    Scope.WRITE: "This API key may only read: ask for one with the scope 'write'",
}
_NO_KEY: Final = "The API key does not open any more: it was revoked, or has expired"
_LOG: Final = structlog.get_logger("contentsvc.mcp")


async def call(
    box: Toolbox, caller: Callable[[], Awaitable[ApiKey | None]], tool: Tool, arguments: Mapping[str, Any] | None
) -> Answer:
    """Have a tool do its work, in the order in which ``/v1`` refuses: the key, the limit, the scope, the arguments.

    Args:
        box: What it drives.
        caller: Gives the caller's key as it is now; ``None``: it does not open any more.
        tool: Which.
        arguments: As they came.

    Raises:
        Refused: It did not, for whatever reason; what is ours to fix is logged.
    """
    try:
        return await _done(box, await caller(), tool, arguments or {})
    except Refused:
        raise
    except NotOfShape as exc:
        raise Refused(one_line(f"Invalid arguments of {tool.name}: {exc}", _FAULT_LENGTH)) from None
    except StoreUnavailable as exc:
        _LOG.warning("store unavailable", reason=str(exc))
        message = "The service is temporarily unavailable: try again in a second"
        raise Refused(message) from None
    except Overloaded:
        message = "Too many calls at once: wait until some of them have ended, then try again"
        raise Refused(message) from None
    except Unstorable as exc:
        _LOG.warning("unstorable", reason=str(exc))
        message = "Invalid arguments: a value cannot be stored"
        raise Refused(message) from None
    except Exception as exc:
        # Whoever called learns nothing of it.
        _LOG.exception("tool failed", tool=tool.name)
        message = "Internal error: nothing is known of what was asked for; look at it before you try again"
        raise Refused(message) from exc


async def _done(box: Toolbox, key: ApiKey | None, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    if key is None:
        raise Refused(_NO_KEY)
    if tool.rate is not None:
        verdict = await box.limiter.hit_by(key, tool.rate)
        if not verdict.admitted:
            message = (
                f"Rate limit exceeded: at most {verdict.limit} such calls in 60 seconds. "
                f"Try again in {verdict.retry_after_s} seconds"
            )
            raise Refused(message)
    if tool.scope not in key.scopes:
        raise Refused(_MAY_NOT[tool.scope])
    return await tool.work(box, key, _read(tool, arguments))


def _read(tool: Tool, arguments: Mapping[str, Any]) -> object:
    # Many a model fills in null for what it means to leave out.
    given = {name: value for name, value in arguments.items() if value is not None}
    return read_shape(storable_json(given), tool.takes)
