from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litestar.types import ASGIApp, HTTPRequestEvent, HTTPScope, Message, Receive, Scope, Send
else:
    ASGIApp = HTTPRequestEvent = HTTPScope = Message = Receive = Scope = Send = Any

__all__ = ["ASGIApp", "HTTPRequestEvent", "HTTPScope", "Message", "Receive", "Scope", "Send"]
