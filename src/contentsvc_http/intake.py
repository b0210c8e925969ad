"""Bodies of deliveries while they come in: in bounded memory, and in bounded time."""

import asyncio
from io import BytesIO
from types import TracebackType
from typing import Final, final

from litestar.types import HTTPReceiveMessage, Receive, WebSocketReceiveMessage

from contentsvc_core.usecases.receive import LARGE_BODY
from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_http.errors import RETRY_AFTER_S, Refused

#: How many bytes of large bodies a process holds at most unless it is told otherwise, from the announcement until the
#: delivery is answered: two of the largest.
ROOM: Final = 2 * MAX_BODY
#: How many bytes of small ones it holds beside them, from when they are there: thousands. Whoever sends large ones
#: slowly, signed or not, must not keep these out.
ROOM_FOR_SMALL: Final = 14 * 1024 * 1024
#: How long a body may take to come in, in seconds. Code hosts give up after 10; whoever sends a byte now and then must
#: not keep others out. Sooner than the connection itself would end it.
_WITHIN_S: Final = 27.0
#: The rest of the body is not worth waiting for.
_CLOSE: Final = {"Connection": "close"}


@final
class Intake:
    """The room for all bodies of a process."""

    def __init__(self, room: int = ROOM, *, for_small: int = ROOM_FOR_SMALL) -> None:
        """Take the sizes of the rooms, in bytes.

        Args:
            room: For bodies over :data:`~contentsvc_core.usecases.receive.LARGE_BODY`.
            for_small: For all others.
        """
        self._free = room
        self._free_for_small = for_small

    def place(self, announced: int) -> "Place":
        """Give a place for a body, before anything of it is read.

        Args:
            announced: How many bytes it will have; 0 if it does not say: then its place grows with it.

        Raises:
            Refused: There is no room (503): the sender has to come again.
        """
        place = Place(self)
        if announced > LARGE_BODY:
            # What only says that it will come takes none of the room of small ones.
            place.grow_to(announced)
        return place

    def resize(self, before: int, after: int) -> None:
        """Give a body more room, or with ``after`` 0 none; one that has become large moves to the room of those.

        Raises:
            Refused: There is not as much room (503); it keeps what it had.
        """
        small = (before if before <= LARGE_BODY else 0) - (after if after <= LARGE_BODY else 0)
        large = (before if before > LARGE_BODY else 0) - (after if after > LARGE_BODY else 0)
        if self._free_for_small + small < 0 or self._free + large < 0:
            headers = {"Retry-After": str(RETRY_AFTER_S), **_CLOSE}
            raise Refused(503, {"error": "Too many deliveries are being received"}, headers)
        self._free_for_small += small
        self._free += large


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
        self._intake.resize(self._size, 0)
        self._size = 0

    def grow_to(self, size: int) -> None:
        """Make it as large as a body.

        Raises:
            Refused: There is no room for as much (503).
        """
        if size > self._size:
            self._intake.resize(self._size, size)
            self._size = size

    def take(self, body: bytes) -> None:
        """Take a body that is there already.

        Raises:
            Refused: It is larger than the largest size (413), or there is no room (503).
        """
        self._count(len(body))

    async def read(self, receive: Receive) -> bytes:
        """Read a body.

        Raises:
            Refused: It goes on beyond the largest size (413), its sender went away before the end (400) or takes too
                long (408), or it has grown beyond what it announced, and there is no room (503).
        """
        try:
            # Around the first part, too: whoever announces a body and sends nothing of it holds its place meanwhile.
            async with asyncio.timeout(_WITHIN_S):
                message = await receive()
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
