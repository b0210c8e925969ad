"""Rate limits of ``/v1`` (specification 8.1): checked before an operation, reported in headers of every response."""

from collections.abc import Iterable
from typing import Any, Final, TypedDict, final

from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from contentsvc_core.access.rates import Bucket, Rate, rate_of
from contentsvc_core.access.window import Verdict, rate_headers, refusal_body, refusal_headers
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_http.auth import presented_key
from contentsvc_http.client_address import Proxies
from contentsvc_http.described import DOCUMENT, Described, header
from contentsvc_http.errors import Refused

_VERDICT: Final = "contentsvc.verdict"
_HEADERS: Final = {
    "RateLimit-Limit": header("Maximum number of requests in 60 seconds.", least=1, required=True),
    "X-RateLimit-Limit": header("Same as `RateLimit-Limit`.", least=1, required=True),
    "RateLimit-Remaining": header("Number of requests that you can still send now.", least=0, required=True),
    "X-RateLimit-Remaining": header("Same as `RateLimit-Remaining`.", least=0, required=True),
    "RateLimit-Reset": header(
        "Seconds until the oldest counted request leaves the window, rounded up.", least=1, required=True
    ),
    "X-RateLimit-Reset": header("Time of that reset in Unix seconds, rounded up.", least=1, required=True),
}
_RETRY: Final = {"Retry-After": header("Seconds to wait before you try again.", least=1, required=True)}


class RateLimitedBody(TypedDict):
    """The body of a 429 (specification 7)."""

    error: str
    limit: int
    remaining: int
    reset: int


@final
class RateLimits:
    def __init__(self, limiter: RateLimiter, authenticator: Authenticator, proxies: Proxies) -> None:
        self._limiter = limiter
        self._authenticator = authenticator
        self._proxies = proxies

    def on(self, routes: Iterable[HTTPRouteHandler]) -> list[HTTPRouteHandler]:
        handlers = list(routes)
        for route in handlers:
            if any(rate_of(method, path) for method in route.http_methods for path in route.paths):
                route.middleware = [*(route.middleware or ()), self._limiting]
                refused = ResponseSpec(
                    RateLimitedBody,
                    description="Rate limit exceeded. Wait `Retry-After` seconds.",
                    generate_examples=False,
                )
                route.responses = {**(route.responses or {}), 429: refused}
                route.opt.setdefault(DOCUMENT, []).append(Described(headers={"XXX": _HEADERS, "429": _RETRY}))
        return handlers

    def of_address(self, rate: Rate, scope: Scope) -> Bucket:
        """Return the bucket of the client address. Only configured proxies can forward another address."""
        connected = scope["client"] if scope["type"] == "http" else None
        return Bucket.of_address(rate, self._proxies.client(connected and connected[0], scope["headers"]))

    def _limiting(self, app: ASGIApp) -> ASGIApp:
        async def limiting(scope: Scope, receive: Receive, send: Send) -> None:
            rate = rate_of(scope["method"], scope["path_template"]) if scope["type"] == "http" else None
            if rate is not None:
                await self._count(rate, scope)
            await app(scope, receive, send)

        return limiting

    async def _count(self, rate: Rate, scope: Scope) -> None:
        # Reported if the database fails, or the server stops, before there is a verdict.
        scope["state"][_VERDICT] = self._limiter.unknown(rate)
        key = await presented_key(Request[Any, Any, Any](scope), self._authenticator)
        if key is None:
            verdict = await self._limiter.hit(self.of_address(rate, scope))
        else:
            verdict = await self._limiter.hit_by(key, rate)
        scope["state"][_VERDICT] = verdict
        if not verdict.admitted:
            raise Refused(429, refusal_body(verdict), refusal_headers(verdict))


@final
class RateLimitHeaders:
    """Outermost ASGI middleware that adds the rate limit headers to every response of a limited operation."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def sending(message: Message) -> None:
            verdict: Verdict | None = state.get(_VERDICT)
            if verdict is not None and message["type"] == "http.response.start":
                limit_headers = (
                    (name.lower().encode(), value.encode()) for name, value in rate_headers(verdict).items()
                )
                message["headers"] = [*message.get("headers", ()), *limit_headers]
            await send(message)

        await self._app(scope, receive, sending)
