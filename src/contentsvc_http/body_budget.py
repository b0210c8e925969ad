"""Receiving bodies in bounded memory and bounded time (docs/decisions/0027).

Without free memory, the newest incomplete body is refused: nothing blocks, and the oldest body always completes.
"""

import asyncio
from collections.abc import Callable, Hashable
from io import BytesIO
from types import TracebackType
from typing import Final, cast, final

from contentsvc_core.content.editing import MARKDOWN_LIMIT
from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_http.asgi import ASGIApp, HTTPRequestEvent, Receive, Scope, Send
from contentsvc_http.errors import RETRY_AFTER_S, Refused

#: The maximum size of a body with a post, in bytes: twelve for each character of its Markdown (two escapes of six in
#: JSON, or four of three in a form), and space for the other fields.
MAX_POST_BODY: Final = 12 * MARKDOWN_LIMIT + 64 * 1024
#: In bytes, of a process for large deliveries: two of the largest, because one integration gets half.
CAPACITY: Final = 2 * MAX_BODY
#: The budget for large bodies of other requests, in bytes: about ten of the largest, which are changes of posts.
CAPACITY_ELSEWHERE: Final = 16 * 1024 * 1024
#: The budget for small bodies beside each of these, in bytes: hundreds of bodies. Large bodies cannot use it up.
CAPACITY_FOR_SMALL: Final = 14 * 1024 * 1024
#: In seconds. Code hosts give up after 10 seconds, and the connection itself ends a body after 28.
_WITHIN_S: Final = 27.0
#: The minimum pace: bytes per seconds of waiting. 16 KiB/s is a slow telephone line, and 4 seconds are enough for two
#: lost packets in a row.
_STEP: Final = 64 * 1024
_STEP_S: Final = 4.0
_CLOSE: Final = {"Connection": "close"}
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CREDENTIALS: Final = frozenset({b"authorization", b"cookie"})


@final
class BodyBudget:
    """The memory budgets of a process: one for large bodies, one for all others."""

    def __init__(
        self,
        capacity: int = CAPACITY,
        *,
        for_small: int = CAPACITY_FOR_SMALL,
        within_s: float = _WITHIN_S,
        step_s: float = _STEP_S,
        of: str = "deliveries",
    ) -> None:
        """``capacity`` is the budget in bytes for bodies over :data:`~contentsvc_core.usecases.receive.LARGE_BODY`.

        ``within_s`` limits the time of a body, ``step_s`` that of each 64 KiB of it.
        """
        self._of = of
        self.large: Final = _Budget(capacity, self.refusal)
        self.small: Final = _Budget(for_small, self.refusal)
        self.within_s: Final = within_s
        self.step_s: Final = step_s

    def reserve(self, announced: int = 0, owner: Hashable = None) -> "Reservation":
        """Create the reservation for a body, before any of it is read; ``announced`` is in bytes, 0 if unknown.

        One owner, an integration or a sender, reserves at most half of a budget.

        Raises:
            Refused: The body is announced as large, and not even its beginning fits (503).
        """
        # Other bodies may release their memory before this one needs all that it announces.
        if announced > LARGE_BODY and self.large.lacks(owner, LARGE_BODY + 1):
            raise self.refusal()
        return Reservation(self, owner)

    def refusal(self) -> Refused:
        headers = {"Retry-After": str(RETRY_AFTER_S), **_CLOSE}
        return Refused(503, {"error": f"Too many {self._of} are being received"}, headers)


class _Budget:
    def __init__(self, size: int, refusal: Callable[[], Refused]) -> None:
        self._refusal = refusal
        self._free = size
        self._share = size // 2
        self._held: dict[Hashable, int] = {}
        self.arriving: Final[dict[Reservation, None]] = {}

    def lacks(self, owner: Hashable, size: int) -> bool:
        """Return whether ``size`` more bytes exceed the budget, or the owner's share of it."""
        return size > self._free or size > self._share - self._held.get(owner, 0)

    def take(self, owner: Hashable, size: int, arriving: "Reservation | None" = None) -> None:
        """Reserve ``size`` more bytes, if necessary by ending the newest incomplete body. ``arriving`` is their body.

        Raises:
            Refused: There is no free memory (503).
        """
        while (free := self._free - size) < 0 or (held := self._held.get(owner, 0) + size) > self._share:
            newest = self._newest(None if free < 0 else owner)
            if newest is None or newest is arriving:
                raise self._refusal()
            newest.end()
        self._free, self._held[owner] = free, held

    def leave(self, owner: Hashable, size: int) -> None:
        self._free += size
        left = self._held[owner] - size
        if left:
            self._held[owner] = left
        else:
            del self._held[owner]

    def _newest(self, owner: Hashable) -> "Reservation | None":
        return next(
            (reservation for reservation in reversed(self.arriving) if owner is None or reservation.owner == owner),
            None,
        )


@final
class Reservation:
    """The reservation of one body, until its ``with`` block ends."""

    def __init__(self, budget: BodyBudget, owner: Hashable) -> None:
        self.owner: Final = owner
        self.budget: Final = budget
        self._budget = budget.small
        self._size = 0
        self._ended = False
        self._left_s = budget.within_s
        self._step_left_s = budget.step_s
        self._step_end = _STEP
        self._waiting: asyncio.Timeout | None = None

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    async def read(self, receive: Receive) -> bytes:
        """Read a body; one that exceeds the maximum size is refused with 413."""
        # Not a list of parts: joining them would double the memory.
        collected = BytesIO()
        while True:
            message = await self.part(receive)
            collected.write(message.get("body", b""))
            if not message.get("more_body", False):
                return collected.getvalue()

    async def part(self, receive: Receive) -> HTTPRequestEvent:
        """Return the next part of a body.

        Raises:
            Refused: The sender has disconnected (400), is too slow (408), or there is no free memory (503).
        """
        if self._ended:
            raise self.budget.refusal()
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        self._budget.arriving.setdefault(self)
        try:
            async with asyncio.timeout(min(self._left_s, self._step_left_s)) as self._waiting:
                message = await receive()
        except TimeoutError:
            late = Refused(408, {"error": "The body did not arrive in time"}, _CLOSE)
            raise (self.budget.refusal() if self._ended else late) from None
        finally:
            self._waiting = None
        if self._ended:
            raise self.budget.refusal()
        if message["type"] != "http.request":
            # The sender has disconnected and reads no answer; there is no fault to report.
            raise Refused(400, {"error": "The body was cut off"})
        waited_s = loop.time() - began_s
        self._left_s -= waited_s
        self._step_left_s -= waited_s
        self.grow(self._size + len(message.get("body", b"")))
        if self._size >= self._step_end:
            self._step_end, self._step_left_s = self._size + _STEP, self.budget.step_s
        if not message.get("more_body", False):
            del self._budget.arriving[self]
        return message

    def end(self) -> None:
        """End the reading of this body, to free its memory for an older one."""
        self._ended = True
        self.leave()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    def grow(self, size: int) -> None:
        """Reserve memory for ``size`` bytes in total.

        Raises:
            Refused: The body exceeds the maximum size (413), or there is no free memory (503).
        """
        if size > MAX_BODY:
            raise Refused(BODY_TOO_LARGE.status, answer(BODY_TOO_LARGE), _CLOSE)
        if size > LARGE_BODY and self._budget is self.budget.small:
            arriving = self in self._budget.arriving
            self.leave()
            self._budget = self.budget.large
            if arriving:
                self._budget.arriving[self] = None
        if size > self._size:
            self._budget.take(self.owner, size - self._size, self)
            self._size = size

    def leave(self) -> None:
        self._budget.arriving.pop(self, None)
        if self._size:
            self._budget.leave(self.owner, self._size)
            self._size = 0


@final
class BodyLimits:
    """ASGI middleware that limits the memory and the time of bodies by a budget."""

    def __init__(self, app: ASGIApp, budget: BodyBudget) -> None:
        self._app = app
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        # Requests of one key or session compete only with each other for more than half of the budget.
        sender = next((value for name, value in scope["headers"] if name in _CREDENTIALS), b"")
        with self._budget.reserve(owner=sender) as reservation:
            ended = False

            async def receiving() -> HTTPRequestEvent:
                nonlocal ended
                if ended:
                    return cast("HTTPRequestEvent", await receive())
                message = await reservation.part(receive)
                ended = not message.get("more_body", False)
                return message

            await self._app(scope, receiving, send)
