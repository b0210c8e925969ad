"""Calls to a code host: bounded in time and size, sent to no other host. Failures are returned, not raised."""

import asyncio
import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version
from typing import Any, Final, Self, TypeAlias, TypeVar, final

import httpx
import msgspec
from attrs import define, field, frozen

from contentsvc_adapters.authorities import authorities, failure_reason
from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.sites.checking import is_compressed
from contentsvc_core.code_hosts import HostAnswer, HostFault, HostRefusal
from contentsvc_core.identifiers import is_token
from contentsvc_core.text import one_line

#: The largest answer, in bytes: more than any page of the lists that are read.
_LONGEST: Final = 4 * 1024 * 1024
_CONNECT_S: Final = 5.0
_REDIRECTS: Final = 3
#: Redirects of a renamed repository: the same request is sent again, whatever its method (GitHub, "Follow redirects").
_MOVED: Final = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)
_TEXT_LIMIT: Final = 300
#: The pause if a rate limit names no time (GitHub, "Exceeding the rate limit"), in seconds.
_A_WHILE_S: Final = 60
#: The longest pause, in seconds: a host that names a longer one means another unit, or its clock is wrong.
_LONGEST_S: Final = 999_999
#: The digits of a number in a header that are read: more than any time has.
_DIGITS: Final = 18
_CLASS: Final = 100
_Shape = TypeVar("_Shape")
_Value = TypeVar("_Value")
_TOO_SLOW: Final = "did not answer everything that was asked in time"


@final
@frozen(kw_only=True)
class Response:
    status: int
    body: bytes = field(repr=False)
    #: The cursor of the next page; ``None``: this is the last page.
    next_cursor: str | None = None
    #: Seconds until the rate limit ends, for answers whose body alone says that a limit was met.
    wait_s: int = _A_WHILE_S


_Message: TypeAlias = str | list[Any] | dict[str, Any] | None


class _Error(msgspec.Struct):
    #: GitLab sends a list, or an object by field, where a field is at fault.
    message: "_Message" = None
    errors: list[Any] | None = None
    error: "_Message" = None


@final
@define
class _Allowance:
    """The number of bytes that calls may read together, and how many are left."""

    most: float = math.inf
    left: float = math.inf


@final
class RestClient:
    def __init__(self, api_url: str, dialect: ApiConventions, *, timeout_s: float) -> None:
        self._api_url = httpx.URL(api_url)
        self._dialect = dialect
        self._timeout_s = timeout_s
        self._grant = dialect.grant
        self._until = math.inf
        self._allowance = _Allowance()
        self._client = httpx.AsyncClient(
            # No compression: the size limit counts the bytes that are read.
            headers={
                **dialect.headers,
                "User-Agent": f"contentsvc/{version('contentsvc')}",
                "Accept-Encoding": "identity",
            },
            timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            follow_redirects=False,
            # No cookies: a session that the host begins for one token must not serve requests of other organizations.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            verify=authorities(self._api_url.scheme),
            # No proxy, and no credentials from the environment.
            trust_env=False,
        )

    def within(self, limit_s: float, limit_bytes: float) -> Self:
        limited = copy.copy(self)
        limited._until = asyncio.get_running_loop().time() + limit_s  # noqa: SLF001  # a copy of this one
        limited._allowance = _Allowance(limit_bytes, limit_bytes)  # noqa: SLF001  # as above
        return limited

    def granted(self, grant: str) -> Self:
        granted = copy.copy(self)
        granted._grant = grant  # noqa: SLF001  # a copy of this one
        return granted

    async def close(self) -> None:
        await self._client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        token: str | None,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        at_root: bool = False,
    ) -> Response | HostRefusal:
        """Send a request and read the answer. No refusal repeats the token or a text of ``secrets``."""
        if token is not None and not is_token(token):
            # The library would repeat the token in its error message.
            reason = "the token holds characters that no token has"
            return HostRefusal(fault=HostFault.NO_ACCESS, reason=reason)
        url = self._api_url.copy_with(path=path if at_root else f"{self._api_url.path.rstrip('/')}{path}")
        headers = {} if token is None else {"Authorization": f"{self._dialect.scheme} {token}"}
        request = self._client.build_request(method, url, params=query, json=body, headers=headers)
        hidden = [*secrets] if token is None else [token, *secrets]
        now = asyncio.get_running_loop().time()
        ends_at = min(now + self._timeout_s, self._until)
        if ends_at <= now:
            return _unreachable(_TOO_SLOW)
        try:
            async with asyncio.timeout_at(ends_at):
                return await self._follow(request, token, hidden)
        except (httpx.TimeoutException, TimeoutError):
            return _unreachable(_TOO_SLOW if ends_at == self._until else f"did not answer within {self._timeout_s:g} s")
        except httpx.HTTPError as exc:
            return _unreachable(f"cannot be reached: {_hide(failure_reason(exc), hidden)}")
        except (httpx.InvalidURL, ValueError):
            # In a header of its answer. What such an exception says repeats a part of it, and that may be anything.
            return _unreachable("sent the request on to what is no address")

    async def _follow(self, request: httpx.Request, token: str | None, hidden: Sequence[str]) -> Response | HostRefusal:
        for _ in range(_REDIRECTS + 1):
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code not in _MOVED:
                    return await self._read(response, token, hidden)
                to = request.url.join(response.headers.get("Location", ""))
            finally:
                await response.aclose()
            if _origin(to) != _origin(request.url):
                # The token must not be sent to another host.
                return _strange("sent the request on to another host", response.status_code)
            moved = {name: value for name, value in request.headers.items() if name != "host"}
            request = self._client.build_request(request.method, to, content=request.content, headers=moved)
        return _strange("sent the request on again and again", HTTPStatus.LOOP_DETECTED)

    async def _read(self, response: httpx.Response, token: str | None, hidden: Sequence[str]) -> Response | HostRefusal:
        if is_compressed(response):
            return _strange("sent a compressed answer, though that was not asked for", response.status_code)
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            self._allowance.left -= len(chunk)
            if len(body) > _LONGEST or self._allowance.left < 0:
                most = _LONGEST if self._allowance.left >= 0 else self._allowance.most
                return _strange(f"answered with more than {most / 1024**2:.0f} MiB", response.status_code)
            # One packet may have ten thousand pieces: other tasks run between two of them.
            await asyncio.sleep(0)
        if response.is_success:
            following = response.links.get("next", {}).get("url", "")
            cursor = response.url.join(following).params.get("cursor") if following else None
            return Response(status=response.status_code, body=bytes(body), next_cursor=cursor, wait_s=_wait_s(response))
        return self._refusal(response, _message_of(bytes(body), hidden), token)

    def _refusal(self, response: httpx.Response, message: str, token: str | None) -> HostRefusal:
        status = response.status_code
        answered = f"the code host answered {status}{f' ({message})' if message else ''}"
        if _is_limit(response, message):
            wait = _wait_s(response)
            reason = f"{answered}: too many requests; try again in {wait} s"
            return HostRefusal(fault=HostFault.RATE_LIMITED, reason=reason, status=status, retry_after_s=wait)
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN | HTTPStatus.NOT_FOUND:
                if token is None:
                    advice = "there is no such public repository: give a token that may read it, or the repository's id"
                else:
                    advice = f"the token may not do that, or it is not there: {self._grant}"
                return HostRefusal(fault=HostFault.NO_ACCESS, reason=f"{answered}: {advice}", status=status)
            case HTTPStatus.UNPROCESSABLE_ENTITY if "already exists" in message:
                return HostRefusal(fault=HostFault.HOOK_EXISTS, reason=answered, status=status)
            case _ if status // _CLASS == HTTPStatus.INTERNAL_SERVER_ERROR // _CLASS:
                return HostRefusal(fault=HostFault.UNREACHABLE, reason=answered, status=status)
            case _ if status // _CLASS == HTTPStatus.BAD_REQUEST // _CLASS:
                return HostRefusal(fault=HostFault.REFUSED, reason=answered, status=status)
            case _:
                return HostRefusal(fault=HostFault.STRANGE, reason=answered, status=status)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default


def _message_of(body: bytes, hidden: Sequence[str]) -> str:
    try:
        error = msgspec.json.decode(body, type=_Error)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    parts = [_text(error.message), _text(error.error)]
    for fault in error.errors or ():
        match fault:
            case {"message": str() as message}:
                parts.append(message)
            case str() as message:
                parts.append(message)
            case _:
                pass
    return _hide(": ".join(part for part in parts if part), hidden)


def _text(value: "_Message") -> str:
    if isinstance(value, dict):
        value = [value["message"]] if "message" in value else [f"{name}: {_text(each)}" for name, each in value.items()]
    if isinstance(value, list):
        return ", ".join(text for text in value if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _hide(text: str, hidden: Sequence[str]) -> str:
    for secret in hidden:
        text = text.replace(secret, "***")
    return one_line(text, _TEXT_LIMIT)


def _is_limit(response: httpx.Response, message: str) -> bool:
    """Check whether a refusal is a rate limit: 403 also means a missing right."""
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    return response.status_code == HTTPStatus.FORBIDDEN and (
        "Retry-After" in response.headers
        or response.headers.get("X-RateLimit-Remaining") == "0"
        or "rate limit" in message.lower()
    )


def _wait_s(response: httpx.Response) -> int:
    after, reset = response.headers.get("Retry-After", ""), response.headers.get("X-RateLimit-Reset", "")
    if after.isdecimal():
        wait_s = int(after[:_DIGITS])
    elif reset.isdecimal() and response.headers.get("X-RateLimit-Remaining") == "0":
        wait_s = int(reset[:_DIGITS]) - int(time.time())
    else:
        return _A_WHILE_S
    return max(1, wait_s) if wait_s <= _LONGEST_S else _A_WHILE_S


def _unreachable(what: str) -> HostRefusal:
    return HostRefusal(fault=HostFault.UNREACHABLE, reason=f"the code host {what}")


def _strange(what: str, status: int) -> HostRefusal:
    return HostRefusal(fault=HostFault.STRANGE, reason=f"the code host {what}", status=status)


def read_answer(
    answered: Response | HostRefusal, shape: type[_Shape], use: Callable[[_Shape], _Value]
) -> HostAnswer[_Value] | HostRefusal:
    if isinstance(answered, HostRefusal):
        return answered
    try:
        return HostAnswer(value=use(msgspec.json.decode(answered.body, type=shape)), status=answered.status)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as exc:
        return HostRefusal(
            fault=HostFault.STRANGE,
            reason=f"the code host answered {answered.status} with a body that is not its API's: "
            f"{one_line(str(exc), 200)}; is the API's address right?",
            status=answered.status,
        )
