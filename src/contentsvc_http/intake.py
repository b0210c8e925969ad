"""Bodies while they arrive: in bounded memory and bounded time (docs/decisions/0027).

A body takes room as its bytes arrive, until its request is answered. Without room, the newest body that still arrives
is refused: nothing waits for room, so nothing can block, and the oldest body always gets to its end.
"""

import asyncio
from collections.abc import Hashable
from io import BytesIO
from types import TracebackType
from typing import Final, cast, final

from litestar.types import ASGIApp, HTTPRequestEvent, Receive, Scope, Send

from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_http.errors import RETRY_AFTER_S, Refused

#: How many bytes of large deliveries a process holds unless the settings say otherwise: two of the largest, since one
#: integration gets half.
ROOM: Final = 2 * MAX_BODY
#: How many bytes of large bodies of other requests it holds: some ten of the largest, which are changes of posts.
ROOM_ELSEWHERE: Final = 16 * 1024 * 1024
#: How many bytes of small bodies it holds beside each of these: hundreds. Large bodies cannot keep them out.
ROOM_FOR_SMALL: Final = 14 * 1024 * 1024
#: How long a sender may keep the service waiting for a body, in seconds. Code hosts give up after 10. The connection
#: itself ends a body after 28.
_WITHIN_S: Final = 27.0
#: The minimum pace: bytes that have to arrive in so many seconds of waiting. 16 KiB/s is a slow telephone line, and the
#: seconds are enough for two lost packets in a row.
_STEP: Final = 64 * 1024
_STEP_S: Final = 4.0
#: The rest of the body is not worth waiting for.
_CLOSE: Final = {"Connection": "close"}
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CREDENTIALS: Final = frozenset({b"authorization", b"cookie"})


@final
class Intake:
    """The room for bodies of a process: one for large bodies, one for all others."""

    def __init__(
        self,
        room: int = ROOM,
        *,
        for_small: int = ROOM_FOR_SMALL,
        within_s: float = _WITHIN_S,
        step_s: float = _STEP_S,
        of: str = "deliveries",
    ) -> None:
        """Create empty rooms.

        Args:
            room: The size for bodies over :data:`~contentsvc_core.usecases.receive.LARGE_BODY`, in bytes.
            for_small: The size for all others.
            within_s: How long a body may take.
            step_s: How long 64 KiB of it may take.
            of: What is received, for the answer when there is no room.
        """
        self._of = of
        self.large: Final = _Room(room)
        self.small: Final = _Room(for_small)
        self.within_s: Final = within_s
        self.step_s: Final = step_s

    def place(self, announced: int = 0, owner: Hashable = None) -> "Reservation":
        """Return a place for a body, before anything of it is read.

        Args:
            announced: How many bytes it will have; 0 if it does not say.
            owner: Who pays for it: an integration, or a sender. One owner holds at most half of a room.

        Raises:
            Refused: It is announced as large, and not even its beginning fits (503): the sender has to come again.
        """
        # Others may have left their room before it needs all of what it announces.
        if announced > LARGE_BODY and self.large.lacks(owner, LARGE_BODY + 1):
            raise self.refusal()
        return Reservation(self, owner)

    def refusal(self) -> Refused:
        """Return what a sender is answered for whose body there is no room."""
        headers = {"Retry-After": str(RETRY_AFTER_S), **_CLOSE}
        return Refused(503, {"error": f"Too many {self._of} are being received"}, headers)


@final
class _Room:
    """Bytes that bodies hold together."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._share = size // 2
        self._held: dict[Hashable, int] = {}
        #: The bodies that still arrive, the oldest first.
        self.arriving: Final[dict[Reservation, None]] = {}

    def lacks(self, owner: Hashable, size: int) -> bool:
        """Return whether ``size`` bytes more are not free, or not for this owner."""
        return size > self._free or size > self._share - self._held.get(owner, 0)

    def take(self, place: "Reservation", size: int) -> None:
        """Take ``size`` bytes more for a body, if need be from the newest body that still arrives.

        Raises:
            Refused: That is this one, or none arrives (503).
        """
        owner = place.owner
        while self.lacks(owner, size):
            newest = self._newest(None if size > self._free else owner)
            if newest is None or newest is place:
                raise place.intake.refusal()
            newest.end()
        self._free -= size
        self._held[owner] = self._held.get(owner, 0) + size

    def leave(self, owner: Hashable, size: int) -> None:
        """Free what a body held."""
        self._free += size
        left = self._held[owner] - size
        if left:
            self._held[owner] = left
        else:
            del self._held[owner]

    def _newest(self, owner: Hashable) -> "Reservation | None":
        return next((each for each in reversed(self.arriving) if owner is None or each.owner == owner), None)


@final
class Reservation:
    """The place of one body in memory, until its ``with`` block ends."""

    def __init__(self, intake: Intake, owner: Hashable) -> None:
        """Create an empty place."""
        self.owner: Final = owner
        self.intake: Final = intake
        self._room = intake.small
        self._size = 0
        self._ended = False
        #: How long the sender may still keep the service waiting, for the whole body and for its next step.
        self._left_s = intake.within_s
        self._step_left_s = intake.step_s
        self._step_end = _STEP
        self._waiting: asyncio.Timeout | None = None

    def __enter__(self) -> "Reservation":
        """Return the place."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Free the room."""
        self.leave()

    def take(self, body: bytes) -> None:
        """Take a body that has arrived.

        Raises:
            Refused: It is larger than the largest size (413), or there is no room (503).
        """
        self._grow(len(body))

    async def read(self, receive: Receive) -> bytes:
        """Read a body.

        Raises:
            Refused: As for :meth:`part`; or it is larger than the largest size (413).
        """
        # Not a list of parts: joined, they would be in memory twice.
        collected = BytesIO()
        while True:
            message = await self.part(receive)
            collected.write(message.get("body", b""))
            if not message.get("more_body", False):
                return collected.getvalue()

    async def part(self, receive: Receive) -> HTTPRequestEvent:
        """Return the next part of a body.

        Raises:
            Refused: The sender is gone (400), it is too slow (408), or there is no room (503).
        """
        if self._ended:
            raise self.intake.refusal()
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        self._room.arriving.setdefault(self)
        try:
            async with asyncio.timeout(min(self._left_s, self._step_left_s)) as self._waiting:
                message = await receive()
        except TimeoutError:
            late = Refused(408, {"error": "The body did not arrive in time"}, _CLOSE)
            raise (self.intake.refusal() if self._ended else late) from None
        finally:
            self._waiting = None
        if self._ended:
            raise self.intake.refusal()
        if message["type"] != "http.request":
            # Nobody reads the answer, and nothing is wrong here.
            raise Refused(400, {"error": "The body was cut off"})
        waited_s = loop.time() - began_s
        self._left_s -= waited_s
        self._step_left_s -= waited_s
        self._grow(self._size + len(message.get("body", b"")))
        if self._size >= self._step_end:
            self._step_end, self._step_left_s = self._size + _STEP, self.intake.step_s
        if not message.get("more_body", False):
            del self._room.arriving[self]
        return message

    def end(self) -> None:
        """Give the room to an older body: reading this one ends."""
        self._ended = True
        self.leave()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    def _grow(self, size: int) -> None:
        if size > MAX_BODY:
            raise Refused(BODY_TOO_LARGE.status, answer(BODY_TOO_LARGE), _CLOSE)
        if size > LARGE_BODY and self._room is self.intake.small:
            arriving = self in self._room.arriving
            self.leave()
            self._room = self.intake.large
            if arriving:
                self._room.arriving[self] = None
        if size > self._size:
            self._room.take(self, size - self._size)
            self._size = size

    def leave(self) -> None:
        """Free the room."""
        self._room.arriving.pop(self, None)
        if self._size:
            self._room.leave(self.owner, self._size)
            self._size = 0


@final
class Bodies:
    """An ASGI application around another one whose routes read bodies: these take room and time from an intake."""

    def __init__(self, app: ASGIApp, intake: Intake) -> None:
        """Take the application and the intake."""
        self._app = app
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        # A key's or a session's requests only compete with each other for more than half of the room.
        sender = next((value for name, value in scope["headers"] if name in _CREDENTIALS), b"")
        with self._intake.place(owner=sender) as place:
            ended = False

            async def receiving() -> HTTPRequestEvent:
                nonlocal ended
                if ended:
                    return cast("HTTPRequestEvent", await receive())
                message = await place.part(receive)
                ended = not message.get("more_body", False)
                return message

            await self._app(scope, receiving, send)
