"""Bodies of deliveries while they come in: in bounded memory, and in bounded time."""

import asyncio
from io import BytesIO
from types import TracebackType
from typing import Final, final

from litestar.types import HTTPReceiveMessage, Receive, WebSocketReceiveMessage

from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_http.errors import RETRY_AFTER_S, Refused

#: How many bytes of bodies a process holds at most, from the first byte until the delivery is answered: two of the
#: largest, and thousands of small ones beside them.
ROOM: Final = 64 * 1024 * 1024
#: How long a body may take to come in, in seconds. Code hosts give up after 10; whoever sends a byte now and then must
#: not keep others out.
_WITHIN_S: Final = 30.0
#: The rest of the body is not worth waiting for.
_CLOSE: Final = {"Connection": "close"}


@final
class Intake:
    """The room for all bodies of a process."""

    def __init__(self, room: int = ROOM) -> None:
        """Take the size of the room, in bytes."""
        self._free = room

    def place(self, announced: int) -> "Place":
        """Give a place for a body, before anything of it is read.

        Args:
            announced: How many bytes it will have; 0 if it does not say: then its place grows with it.

        Raises:
            Refused: There is no room (503): the sender has to come again.
        """
        place = Place(self)
        place.grow_to(announced)
        return place

    def take(self, size: int) -> None:
        """Make the room smaller.

        Raises:
            Refused: There is not as much room (503).
        """
        if size > self._free:
            headers = {"Retry-After": str(RETRY_AFTER_S), **_CLOSE}
            raise Refused(503, {"error": "Too many deliveries are being received"}, headers)
        self._free -= size

    def give_back(self, size: int) -> None:
        """Make the room larger again."""
        self._free += size


@final
class Place:
    """The place of one body. It is left when its ``with`` block is: until then, the body may be held in memory."""

    def __init__(self, intake: Intake) -> None:
        """Take the room that it is in."""
        self._intake = intake
        self._size = 0

    def __enter__(self) -> "Place":
        """Take nothing more: it was given before."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave it."""
        self._intake.give_back(self._size)
        self._size = 0

    def grow_to(self, size: int) -> None:
        """Make it as large as a body.

        Raises:
            Refused: There is no room for as much (503).
        """
        if size > self._size:
            self._intake.take(size - self._size)
            self._size = size

    async def read(self, receive: Receive) -> bytes:
        """Read a body.

        Raises:
            Refused: It goes on beyond the largest size (413), its sender went away before the end (400) or takes too
                long (408), or it has grown beyond what it announced, and there is no room (503).
        """
        message = await receive()
        if message["type"] == "http.request" and not message["more_body"]:
            # Nearly all of them: it was there already.
            body = message["body"]
            self._count(len(body))
            return body
        try:
            async with asyncio.timeout(_WITHIN_S):
                return await self._collect(message, receive)
        except TimeoutError:
            raise Refused(408, {"error": "The body did not arrive in time"}, _CLOSE) from None

    async def _collect(self, message: HTTPReceiveMessage | WebSocketReceiveMessage, receive: Receive) -> bytes:
        # Not a list of parts: joined, they would be in memory twice.
        collected = BytesIO()
        while message["type"] == "http.request":
            chunk = message["body"]
            self._count(collected.tell() + len(chunk))
            collected.write(chunk)
            if not message["more_body"]:
                return collected.getvalue()
            message = await receive()
        # Nobody reads the answer, and nothing is wrong here.
        raise Refused(400, {"error": "The body was cut off"})

    def _count(self, size: int) -> None:
        if size > MAX_BODY:
            raise Refused(BODY_TOO_LARGE.status, answer(BODY_TOO_LARGE), _CLOSE)
        self.grow_to(size)
