import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
import structlog

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.application import Application
from contentsvc_core.errors import Overloaded, StoreUnavailable, Unstorable
from contentsvc_core.schemas import InvalidStruct, decode_json
from contentsvc_core.text import one_line
from contentsvc_mcp.toolbox import Tool, ToolAnswer, ToolRefused

_FAULT_LENGTH: Final = 1000
_MAY_NOT: Final = {
    Scope.READ: "This API key may not read. Use a key with the scope 'read'",
    Scope.WRITE: "This API key may only read. Use a key with the scope 'write'",
}
_NO_KEY: Final = "The API key is no longer valid: it was revoked or has expired. Use another key"
UNAVAILABLE: Final = "The service is temporarily unavailable. Try again in a second"
_LOG: Final = structlog.get_logger("contentsvc.mcp")


async def call(
    app: Application,
    caller: Callable[[], Awaitable[ApiKey | None]],
    tool: Tool,
    arguments: Mapping[str, Any] | None,
    on_unavailable: Callable[[StoreUnavailable], object],
) -> ToolAnswer:
    """Call a tool. Checks happen in the order of ``/v1``: key, rate limit, scope, arguments.

    ``caller`` returns the caller's current API key, or ``None`` if it is no longer valid. Server faults are logged,
    outages of the store by ``on_unavailable``.
    """
    try:
        return await _done(app, await caller(), tool, arguments or {})
    except ToolRefused:
        raise
    except InvalidStruct as exc:
        raise ToolRefused(one_line(f"Invalid arguments of {tool.name}: {exc}", _FAULT_LENGTH)) from None
    except StoreUnavailable as exc:
        on_unavailable(exc)
        raise ToolRefused(UNAVAILABLE) from None
    except Overloaded:
        message = "Too many concurrent calls. Wait until some of them are done, then try again"
        raise ToolRefused(message) from None
    except Unstorable as exc:
        _LOG.warning("unstorable", reason=str(exc))
        message = "Invalid arguments: a value cannot be stored"
        raise ToolRefused(message) from None
    except Exception as exc:
        # The caller never sees the cause.
        _LOG.exception("tool failed", tool=tool.name)
        message = "Internal error. The call may or may not have taken effect: check before you try again"
        raise ToolRefused(message) from exc


async def _done(app: Application, key: ApiKey | None, tool: Tool, arguments: Mapping[str, Any]) -> ToolAnswer:
    if key is None:
        raise ToolRefused(_NO_KEY)
    if tool.rate is not None:
        verdict = await app.limiter.hit_by(key, tool.rate)
        if not verdict.admitted:
            message = (
                f"Rate limit exceeded: at most {verdict.limit} such calls in 60 seconds. "
                f"Try again in {verdict.retry_after_s} seconds"
            )
            raise ToolRefused(message)
    if tool.scope not in key.scopes:
        raise ToolRefused(_MAY_NOT[tool.scope])
    return await tool.work(app, key, _read(tool, arguments))


def _read(tool: Tool, arguments: Mapping[str, Any]) -> object:
    # Some models send null for absent arguments.
    fields = {name: value for name, value in arguments.items() if value is not None}
    try:
        return decode_json(json.dumps(fields).encode(), tool.takes)
    except msgspec.DecodeError as exc:
        message = "NaN and Infinity are no JSON"
        raise InvalidStruct(message) from exc
