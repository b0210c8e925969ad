import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any, Final, cast, final

import httpx
from attrs import field, frozen

from contentsvc_http.wiring.diagnostics import in_thread
from contentsvc_http.wiring.tls import authorities, failure_reason

#: The limit of each step, such as the next byte, and of the whole answer, in seconds. A server may send a byte in
#: each step; the whole is long enough for a busy machine, and two requests fit into the limit of a check.
_STEP_S: Final = 3.0
_WHOLE_S: Final = 10.0
_LONGEST: Final = 64 * 1024


@final
@frozen(kw_only=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    at: float

    @property
    def json(self) -> dict[str, Any] | None:
        try:
            value: object = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    @property
    def version(self) -> str | None:
        body = self.json
        if body is None or body.keys() != {"status", "version"} or not isinstance(body["version"], str):
            return None
        return body["version"]


@final
@frozen(kw_only=True)
class Unanswered:
    reason: str
    refused: bool = False


async def fetch(url: str, *, key: str = "") -> HttpAnswer | Unanswered:
    """Request a page, without redirects and proxies."""
    authorization = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with asyncio.timeout(_WHOLE_S):
            return await in_thread(lambda: _fetch(url, {"Accept": "application/json", **authorization}))
    except TimeoutError:
        return Unanswered(reason=f"no complete answer within {_WHOLE_S:g} s")


def _fetch(url: str, headers: Mapping[str, str]) -> HttpAnswer | Unanswered:
    try:
        with (
            httpx.Client(trust_env=False, timeout=_STEP_S, verify=authorities(httpx.URL(url).scheme)) as client,
            client.stream("GET", url, headers=headers) as response,
        ):
            at = time.time()
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > _LONGEST:
                    break
            return HttpAnswer(status=response.status_code, headers=response.headers, body=bytes(body), at=at)
    except httpx.TimeoutException:
        return Unanswered(reason=f"no answer within {_STEP_S:g} s")
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        refused = isinstance(exc, httpx.ConnectError) and "refused" in str(exc).lower()
        return Unanswered(reason=failure_reason(exc), refused=refused)
