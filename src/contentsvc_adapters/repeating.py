"""Executions that can be repeated: their clock does not advance, and ids and tokens follow from a seed."""

import hmac
from contextvars import ContextVar
from datetime import datetime
from typing import Final, final
from uuid import UUID

from contentsvc_adapters.ids import ALPHABET
from contentsvc_core.ports import Clock, IdSource
from contentsvc_core.timestamps import to_ms

#: Bytes from here on are left out, so that each character is equally likely.
_EVEN: Final = 256 - 256 % len(ALPHABET)


@final
class RepeatableExecution:
    """An execution with its time and its seed (port :class:`~contentsvc_core.ports.Repeatable`)."""

    def __init__(self, seed: str, at: datetime) -> None:
        self.at: Final = at
        self._seed = seed.encode()
        self.drawn = 0
        self.has_ended = False

    def draw(self) -> bytes:
        self.drawn += 1
        return hmac.digest(self._seed, str(self.drawn).encode(), "sha256")

    def __enter__(self) -> None:
        self._token = _EXECUTION.set(self)

    def __exit__(self, *_fault: object) -> None:
        # Tasks that the execution has started keep its context.
        self.has_ended = True
        _EXECUTION.reset(self._token)


_EXECUTION: Final = ContextVar[RepeatableExecution | None]("execution", default=None)


def _current() -> RepeatableExecution | None:
    execution = _EXECUTION.get()
    return None if execution is None or execution.has_ended else execution


@final
class RepeatableClock:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        execution = _current()
        return self._clock.now() if execution is None else execution.at


@final
class RepeatableIds:
    def __init__(self, ids: IdSource) -> None:
        self._ids = ids

    def new_id(self, prefix: str) -> str:
        execution = _current()
        if execution is None:
            return self._ids.new_id(prefix)
        # RFC 9562, section 5.7: the time, and random bits; the first of them count, so that the ids sort by creation.
        drawn = int.from_bytes(execution.draw()[:8])
        order = execution.drawn & 0xFFF
        number = to_ms(execution.at) << 80 | 7 << 76 | order << 64 | 2 << 62 | drawn & (1 << 62) - 1
        return prefix + str(UUID(int=number))

    def token(self, length: int) -> str:
        execution = _current()
        if execution is None:
            return self._ids.token(length)
        characters = ""
        while len(characters) < length:
            characters += "".join(ALPHABET[byte % len(ALPHABET)] for byte in execution.draw() if byte < _EVEN)
        return characters[:length]
