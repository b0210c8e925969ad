"""Client of OpenAI's chat completions API: a streamed POST, with retries."""

import asyncio
import random
import re
from typing import Any, Final, final

import httpx
import msgspec
from attrs import field, frozen

from contentsvc_adapters.authorities import authorities, certificate_advice
from contentsvc_adapters.writers.completions import (
    AnswerReader,
    InvalidCompletion,
    ModelAnswer,
    named_fault,
    read_fault,
)
from contentsvc_core.content.prompting import MATERIAL_LIMIT, Prompt

#: The most bytes of a refusal that are read.
_REFUSAL_LIMIT: Final = 64 * 1024
#: Statuses that may be temporary; 529 is not registered, and means overload.
_LATER: Final = frozenset({408, 429, 500, 502, 503, 504, 529})
#: The name of a refusal that is permanent: the account has no credit left.
_NOT_LATER: Final = " (insufficient_quota)"
_HINTS: Final = {
    401: "check CONTENTSVC_WRITER_KEY",
    403: "check CONTENTSVC_WRITER_KEY",
    404: "check CONTENTSVC_WRITER_URL and CONTENTSVC_WRITER_MODEL",
    413: "lower CONTENTSVC_WRITER_CONTEXT_CHARS",
}
_BAD_REQUEST: Final = frozenset({400, 422})
#: The characters allowed in a header's value (RFC 9110, section 5.5), without spaces.
_KEY: Final = re.compile(r"[!-~]*")
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def _printable(_endpoint: object, _attribute: object, key: str) -> None:
    if not _KEY.fullmatch(key):
        # Checked here, in a message without the key: the HTTP library's message would contain it.
        message = "the key of the model server must be visible ASCII characters"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class ModelEndpoint:
    #: The address before ``/chat/completions``, e.g. ``https://api.example/v1``.
    base_url: str = field(converter=lambda url: url.rstrip("/"))
    model: str
    key: str = field(default="", repr=False, validator=_printable)
    #: The time limit for one piece of content with all retries, in seconds.
    timeout_s: float = 120.0
    #: The longest answer, in the model's tokens.
    max_tokens: int = 4_096
    #: The longest material, in characters.
    context_chars: int = MATERIAL_LIMIT
    #: The most conversations at a time; others wait.
    connections: int = 16


@final
@frozen(kw_only=True)
class RetryPolicy:
    tries: int = 4
    #: The pause doubles with each try. If the server asks for a longer one, it is kept as far as the time limit allows.
    first_pause_s: float = 0.5
    connect_s: float = 5.0
    #: The timeout of a silent server during its answer, in seconds.
    silence_s: float = 30.0


@frozen(kw_only=True)
class _RetryLater:
    reason: str
    #: The pause that the server asks for, in seconds; 0: it names none.
    after_s: float = 0.0


@frozen(kw_only=True)
class _RetryWithout:
    """The server rejected a part of the request; the request is sent again without that part."""


@final
class Chat:
    def __init__(self, endpoint: ModelEndpoint, patience: RetryPolicy) -> None:
        self._endpoint = endpoint
        self._patience = patience
        # Parameters that this server has rejected are not sent again.
        self._json_mode = True
        self._cap = "max_tokens"
        self._counts = True
        # No compression: the size of an unpacked answer could not be bounded.
        headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        self._client = httpx.AsyncClient(
            headers=headers | {"Content-Type": "application/json", "User-Agent": "contentsvc"},
            # The limits of the whole conversation and of each silence are set where it is sent and read.
            timeout=httpx.Timeout(None, connect=patience.connect_s),
            limits=httpx.Limits(max_connections=endpoint.connections, max_keepalive_connections=endpoint.connections),
            # Key and prompt are sent to the configured address only: no redirects, no proxy of the environment.
            follow_redirects=False,
            trust_env=False,
            verify=authorities(httpx.URL(endpoint.base_url).scheme),
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def request(self, prompt: Prompt) -> ModelAnswer | InvalidCompletion:
        """Send a prompt, with retries, until an answer or a permanent fault, within the endpoint's time limit."""
        try:
            async with asyncio.timeout(self._endpoint.timeout_s) as limit:
                return await self._request(prompt, limit)
        except TimeoutError:
            return InvalidCompletion(reason=f"the model has not finished within {self._endpoint.timeout_s:g} s")

    async def _request(self, prompt: Prompt, limit: asyncio.Timeout) -> ModelAnswer | InvalidCompletion:
        now, ends_at = asyncio.get_running_loop().time, limit.when() or 0.0
        pause_s = self._patience.first_pause_s
        tried = 0
        while True:
            answer = await self._request_once(self._request_body(prompt))
            if isinstance(answer, _RetryWithout):
                # At most three times: once for each parameter that can be omitted or renamed.
                continue
            if not isinstance(answer, _RetryLater):
                return answer
            tried += 1
            if tried == self._patience.tries:
                return InvalidCompletion(reason=f"{answer.reason}, {tried} times")
            if now() + answer.after_s >= ends_at:
                return InvalidCompletion(reason=f"{answer.reason}, and wants to be asked again in {answer.after_s:g} s")
            # At least as long as the server asks, and jittered, so that runs do not retry all at once.
            await asyncio.sleep(max(answer.after_s, pause_s * random.uniform(0.5, 1)))  # noqa: S311  # no secret
            pause_s *= 2

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "stream": True,
            self._cap: self._endpoint.max_tokens,
        }
        if self._counts:
            body["stream_options"] = {"include_usage": True}
        return body | ({"response_format": {"type": "json_object"}} if self._json_mode else {})

    async def _request_once(
        self, body: dict[str, Any]
    ) -> ModelAnswer | InvalidCompletion | _RetryLater | _RetryWithout:
        url = f"{self._endpoint.base_url}/chat/completions"
        request = self._client.build_request("POST", url, content=msgspec.json.encode(body))
        try:
            response = await self._client.send(request, stream=True)
        except httpx.TransportError as exc:
            # There was no answer. Only the exception's type is shown: its message may contain the prompt.
            advice = certificate_advice(exc)
            return _RetryLater(reason=f"the model server cannot be reached ({type(exc).__name__}){advice}")
        try:
            return await (self._read(response) if response.is_success else self._refused(response, body))
        except httpx.TransportError as exc:
            return InvalidCompletion(reason=f"the model's answer broke off ({type(exc).__name__})")
        finally:
            await response.aclose()

    async def _read(self, response: httpx.Response) -> ModelAnswer | InvalidCompletion:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            return InvalidCompletion(reason="the model's answer is compressed, which was not asked for")
        completion = AnswerReader()
        loop = asyncio.get_running_loop()
        try:
            # The first piece may take long, while the model thinks: only the limit of the whole conversation applies.
            async with asyncio.timeout(None) as silence:
                async for piece in response.aiter_raw():
                    if completion.feed(piece):
                        break
                    silence.reschedule(loop.time() + self._patience.silence_s)
        except TimeoutError:
            return InvalidCompletion(reason=f"the model has stalled for {self._patience.silence_s:g} s")
        text = completion.text()
        return text if isinstance(text, InvalidCompletion) else ModelAnswer(text=text, usage=completion.usage)

    async def _refused(
        self, response: httpx.Response, body: dict[str, Any]
    ) -> InvalidCompletion | _RetryLater | _RetryWithout:
        status = response.status_code
        error = read_fault(await _beginning(response))
        name = named_fault(error)
        reason = f"the model server answers {status}{name}"
        if status in _LATER and name != _NOT_LATER:
            return _RetryLater(reason=reason, after_s=_retry_after_s(response))
        if status in _BAD_REQUEST and self._learns(str(error), body):
            return _RetryWithout()
        if response.has_redirect_location:
            return InvalidCompletion(reason=f"{reason}, a redirect: set CONTENTSVC_WRITER_URL to where it leads")
        return InvalidCompletion(reason=f"{reason}: {_HINTS[status]}" if status in _HINTS else reason)

    def _learns(self, message: str, body: dict[str, Any]) -> bool:
        if "response_format" in message and "response_format" in body:
            self._json_mode = False
            return True
        if ("stream_options" in message or "include_usage" in message) and "stream_options" in body:
            self._counts = False
            return True
        if "max_completion_tokens" in message and "max_tokens" in body:
            self._cap = "max_completion_tokens"
            return True
        return False


async def _beginning(response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > _REFUSAL_LIMIT:
            break
    return bytes(body)


def _retry_after_s(response: httpx.Response) -> float:
    """Read ``Retry-After`` in seconds; a date counts as absent: servers of this protocol send seconds."""
    value = response.headers.get("Retry-After", "")
    return float(value) if _SECONDS.fullmatch(value) else 0.0
