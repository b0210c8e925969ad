import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from typing import Any, Final, final

import click
import httpx
import msgspec
from attrs import field, frozen

from contentsvc_cli.develop.recordings import RecordedDelivery, headers_for
from contentsvc_core.identifiers import is_loopback
from contentsvc_core.text import one_line
from contentsvc_core.values import nothing
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, Provider
from contentsvc_http.wiring.tls import authorities, certificate_advice

#: The timeout of one delivery, in seconds, and the number of its retries.
TIMEOUT_S: Final = 30.0
RETRIES: Final = 5

#: Statuses that are retried: overload, and a proxy whose service is starting.
_LATER: Final = frozenset({429, 502, 503, 504})
#: Errors that a retry cannot resolve: the request cannot be sent, or the answer cannot be read.
_NEVER: Final = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.DecodingError)
#: Maximum backoff, in seconds; also limits ``Retry-After``.
_LONGEST_WAIT_S: Final = 60.0
_FIRST_WAIT_S: Final = 0.5
#: Maximum length of a stored answer text, in characters.
_TEXT: Final = 300
#: Keys of ``data`` in a success body besides ``event`` and ``delivery`` (specification 4.1).
_KINDS: Final = ("processed", "duplicate", "filtered", "ignored")

_Sleep = Callable[[float], Awaitable[object]]


@final
@frozen(kw_only=True)
class DeliveryAnswer:
    position: int
    event: str
    delivery: str
    #: HTTP status; ``None`` without an answer.
    status: int | None
    #: ``processed``, ``filtered``, ``ignored``, ``pong``, ``duplicate``; ``error`` for any other status than 2xx and
    #: for none; ``unknown`` for a 2xx answer that is not the service's.
    kind: str
    #: Message or error of the answer, or the reason why no answer came; one line.
    text: str
    ms: float
    retries: int
    #: Whether the last try could not connect.
    is_unreachable: bool = False

    @property
    def accepted(self) -> bool:
        return self.status is not None and httpx.codes.is_success(self.status)


class Unreachable(click.ClickException):
    """A delivery could not connect, after all of its retries: the next ones would wait as long for nothing."""


@frozen(kw_only=True)
class _Body:
    received: bool = False
    message: str | None = None
    error: str | None = None
    data: dict[str, Any] = field(factory=dict[str, Any])


_BODIES: Final = msgspec.json.Decoder(_Body)


async def send_recorded(  # noqa: PLR0913  # the parameters of a sender
    deliveries: Iterable[RecordedDelivery],
    *,
    url: str,
    secret: str,
    provider: Provider = DEFAULT_PROVIDER,
    concurrency: int = 1,
    timeout_s: float = TIMEOUT_S,
    retries: int = RETRIES,
    client: httpx.AsyncClient | None = None,
    on_answer: Callable[[DeliveryAnswer], None] = nothing,
    sleep: _Sleep = asyncio.sleep,
) -> list[DeliveryAnswer]:
    """Sign and send ``deliveries``; return the answers in order.

    No more than ``concurrency`` deliveries are held at once; 1 keeps the order. A connection error or a retryable
    status is retried ``retries`` times. ``on_answer`` receives each answer at once, so that none is lost on
    interruption.

    Raises:
            Unreachable: No connection could be opened; no further delivery was sent.
    """
    source = enumerate(deliveries)
    answers: list[DeliveryAnswer] = []
    faults: list[Exception] = []

    async def work(client: httpx.AsyncClient) -> None:
        while not faults:
            try:
                taken = next(source, None)
            except Exception as fault:  # noqa: BLE001  # raised below, after the pending answers
                faults.append(fault)
                return
            if taken is None:
                return
            request = _request(client, url, taken[1], provider, secret, timeout_s)
            answer = await send_request(client, request, taken, retries, sleep)
            answers.append(answer)
            on_answer(answer)
            if answer.is_unreachable:
                faults.append(Unreachable(answer.text))

    async with AsyncExitStack() as stack, asyncio.TaskGroup() as workers:
        using = client or await stack.enter_async_context(client_for(url, concurrency))
        for _ in range(concurrency):
            workers.create_task(work(using))
    if faults:
        raise faults[0]
    return sorted(answers, key=lambda answer: answer.position)


def client_for(url: str, concurrency: int) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    target = httpx.URL(url)
    # A proxy from the environment cannot reach this machine's loopback.
    return httpx.AsyncClient(limits=limits, verify=authorities(target.scheme), trust_env=not is_loopback(target.host))


def _request(
    client: httpx.AsyncClient, url: str, delivery: RecordedDelivery, provider: Provider, secret: str, timeout_s: float
) -> httpx.Request:
    headers = headers_for(delivery, provider, secret)
    return client.build_request("POST", url, content=delivery.body, headers=headers, timeout=timeout_s)


async def send_request(
    client: httpx.AsyncClient,
    request: httpx.Request,
    taken: tuple[int, RecordedDelivery],
    retries: int,
    sleep: _Sleep = asyncio.sleep,
) -> DeliveryAnswer:
    position, delivery = taken
    tried = 0
    while True:
        began = time.perf_counter()
        is_unreachable = False
        try:
            response = await client.send(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            status, again_s, later, is_unreachable = None, 0.0, True, True
            reason = f"{str(exc) or 'no answer in time'}{certificate_advice(exc)}"
            kind, text = "error", f"cannot connect to {request.url.netloc.decode()}: {reason}"
        except httpx.RequestError as exc:
            status, again_s, later = None, 0.0, not isinstance(exc, _NEVER)
            kind, text = "error", f"{type(exc).__name__}: {exc}".removesuffix(": ")
        else:
            status, again_s, later = response.status_code, _retry_after_s(response), response.status_code in _LATER
            kind, text = _read(response)
        ms = (time.perf_counter() - began) * 1000
        if tried == retries or not later:
            return DeliveryAnswer(
                position=position,
                event=delivery.event,
                delivery=delivery.delivery,
                status=status,
                kind=kind,
                text=one_line(text, _TEXT),
                ms=round(ms, 1),
                retries=tried,
                is_unreachable=is_unreachable,
            )
        await sleep(_wait_s(tried, again_s))
        tried += 1


def _wait_s(tried: int, again_s: float) -> float:
    backoff = _FIRST_WAIT_S * 2**tried * random.uniform(0.5, 1)  # noqa: S311  # jitter, no secret
    return min(max(backoff, again_s), _LONGEST_WAIT_S)


def _retry_after_s(response: httpx.Response) -> float:
    value = response.headers.get("Retry-After", "")
    # Longer numbers exceed the maximum wait anyway.
    return float(value[:6]) if value.isascii() and value.isdigit() else 0.0


def _read(response: httpx.Response) -> tuple[str, str]:
    try:
        body = _BODIES.decode(response.content)
    except (ValueError, RecursionError):
        body = _Body()
    if not response.is_success:
        return "error", body.error or response.text[:_TEXT] or response.reason_phrase
    if not body.received or body.message is None:
        return "unknown", response.text[:_TEXT]
    return next((kind for kind in _KINDS if body.data.get(kind)), "pong"), body.message
