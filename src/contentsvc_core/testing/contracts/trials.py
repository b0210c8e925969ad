"""Contracts of ports: guarantees with names, each with a scenario that checks it on any store."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import wraps
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypeVar, cast, final

from attrs import frozen, mutable

from contentsvc_core.testing import checking
from contentsvc_core.testing.parts import CountingIds

_Port = TypeVar("_Port")
_Answer = TypeVar("_Answer")

#: The beginning of an argument or an answer that a step shows, in characters.
_SHOWN: Final = 600
#: The last steps that a message shows: the longest scenario has some 100 calls, and its last ones matter most.
_STEPS: Final = 40
#: Values that most fields have by default.
_EMPTY: Final = (None, False, "", ())


@final
class Trial(Generic[_Port]):
    """One run of a scenario: a store that records its calls, two organizations, and ids."""

    def __init__(self, guarantee: str, store: _Port, organization_ids: tuple[str, str]) -> None:
        self._guarantee = guarantee
        self._calls: list[_Call] = []
        self.store = cast("_Port", _Recorded(store, self._calls))
        #: The organization of the scenario, and another one.
        self.own, self.foreign = organization_ids
        self._ids = CountingIds()

    def new_id(self, prefix: str) -> str:
        """Return an id that no other value of the scenario has."""
        return self._ids.new_id(prefix)

    def token(self, length: int) -> str:
        """Return a text of digits that no other value of the scenario has."""
        return self._ids.token(length)

    def same(self, got: object, expected: object) -> None:
        """Check that two values are equal; a sequence may be a list or a tuple."""
        wrong = list(_differing(got, expected))
        self.holds(got, holds=not wrong, differences="; ".join(wrong))

    def holds(self, got: object, *, holds: bool, differences: str = "") -> None:
        """Check a condition on what the store returned."""
        if not holds:
            self.fail(differences or f"got {_text(got)}")

    async def raises(self, error: type[Exception], call: Awaitable[object]) -> None:
        """Check that a call raises ``error``."""
        try:
            answer = await call
        except error:
            return
        self.fail(f"got {_text(answer)} instead of {error.__name__}")

    async def at_once(self, *calls: Awaitable[_Answer]) -> list[_Answer]:
        """Return the answers of concurrent calls."""
        return list(await asyncio.gather(*calls))

    def fail(self, how: str, cause: Exception | None = None) -> NoReturn:
        """Raise the error that names the guarantee, with the calls up to now."""
        steps = _shown(self._calls)
        left_out = len(steps) - _STEPS
        shown = [f"  … {left_out} calls before"] * (left_out > 0) + steps[-_STEPS:]
        broken = f"the store breaks a guarantee: {self._guarantee} ({how})"
        raise AssertionError("\n".join((broken, "the calls of the store:", *shown))) from cause


#: Checks one guarantee with calls of the store.
Scenario: TypeAlias = Callable[[Trial[_Port]], Awaitable[None]]


@mutable
class _Call:
    name: str
    arguments: tuple[object, ...]
    options: Mapping[str, object]
    #: How the call has ended: ``returned`` or ``raised``, and with what; empty: not yet.
    end: tuple[str, object] | tuple[()] = ()


def _shown(calls: Iterable[_Call]) -> list[str]:
    """Return a line for each call; of values of one type, later ones show what differs from the one before."""
    last: dict[type, object] = {}

    def shown(value: object) -> str:
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(shown, cast('Sequence[object]', value)))}]"
        if not (names := _fields(value)):
            return _text(value)
        before = last.get(type(value))
        last[type(value)] = value
        parts = [f"{name}={_text(getattr(value, name))}" for name in names if _is_new(before, value, name)]
        return f"{type(value).__name__}({', '.join(['…'] * (len(parts) < len(names)) + parts)})"

    lines: list[str] = []
    for number, call in enumerate(calls, start=1):
        options = (f"{name}={shown(value)}" for name, value in call.options.items())
        line = f"  {number}. {call.name}({', '.join((*map(shown, call.arguments), *options))})"
        lines.append(" ".join((line, *call.end[:1], *map(shown, call.end[1:]))))
    return lines


def _is_new(before: object, value: object, name: str) -> bool:
    field = getattr(value, name)
    return field not in _EMPTY if before is None else getattr(before, name) != field


def _fields(value: object) -> Sequence[str]:
    names = getattr(value, "__struct_fields__", None)
    return names or [each.name for each in getattr(value, "__attrs_attrs__", ()) if each.repr]


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return str(value)
    text = f"<{getattr(value, '__name__', 'function')}>" if callable(value) and not _fields(value) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _differing(got: object, expected: object, name: str = "") -> Iterator[str]:
    """Return how a value differs from the expected one: by its fields, if both have the same type."""
    values, others, names = _listed(got), _listed(expected), _fields(expected)
    if values is not None and others is not None:
        if len(values) == len(others):
            for position, (each, other) in enumerate(zip(values, others, strict=True)):
                yield from _differing(each, other, f"{name}[{position}]")
        else:
            yield f"got {_of(name)}{_brief(values)} instead of {_brief(others)}"
    elif got != expected:
        if names and type(got) is type(expected) and getattr(got, "id", None) == getattr(expected, "id", None):
            for each in names:
                if getattr(got, each) != getattr(expected, each):
                    yield from _differing(getattr(got, each), getattr(expected, each), f"{name}.{each}")
        else:
            yield f"got {_of(name)}{_brief(got)} instead of {_brief(expected)}"


def _listed(value: object) -> list[object] | None:
    return list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else None


def _of(name: str) -> str:
    return f"{name.removeprefix('.')}: " if name else ""


def _brief(value: object) -> str:
    """Return the ids of values that have one."""
    if isinstance(value, list):
        return f"[{', '.join(_brief(each) for each in cast('list[object]', value))}]"
    id_ = getattr(value, "id", None)
    return id_ if isinstance(id_, str) else _text(value)


class _Recorded:
    """A store, or an object of stores, whose calls are recorded."""

    def __init__(self, target: Any, calls: list[_Call], prefix: str = "") -> None:  # noqa: ANN401  # any store
        self._target, self._calls, self._prefix = target, calls, prefix

    def __getattr__(self, name: str) -> object:
        value: Any = getattr(self._target, name)
        named = f"{self._prefix}{name}"
        if not callable(value):
            return _Recorded(value, self._calls, f"{named}.")
        return _recording(cast("Callable[..., Awaitable[object]]", value), self._calls, named)


def _recording(method: Callable[..., Awaitable[object]], calls: list[_Call], name: str) -> object:
    @wraps(method)
    async def recorded(*arguments: object, **options: object) -> object:
        calls.append(call := _Call(name, arguments, options))
        try:
            answer = await method(*arguments, **options)
        except Exception as exc:
            call.end = "raised", exc
            raise
        call.end = "returned", answer
        return answer

    return recorded


@final
@frozen
class Guarantee(Generic[_Port]):
    """A guarantee of a port, with the scenario that checks it. Its text is its name."""

    name: str
    _scenario: "Scenario[_Port]"

    def __str__(self) -> str:
        return self.name

    async def check(self, store: _Port, organization_ids: tuple[str, str]) -> None:
        """Check the guarantee with an empty store and the ids of two organizations, which the store knows.

        Raises:
            AssertionError: The store breaks the guarantee; the message has its name, and the calls that show it.
        """
        trial = Trial(self.name, store, organization_ids)
        try:
            async with asyncio.timeout(checking.PATIENCE_S):
                await self._scenario(trial)
        except AssertionError:
            raise
        except TimeoutError as exc:
            trial.fail(f"got no answer in {checking.PATIENCE_S:g} seconds", exc)
        except Exception as exc:  # noqa: BLE001  # of any driver: named by the guarantee
            trial.fail(f"got {exc!r}", exc)


@final
class Contract(Collection[Guarantee[_Port]]):
    """The guarantees of a port, in the order in which a new store should get them."""

    def __init__(self) -> None:
        self._guarantees: list[Guarantee[_Port]] = []

    def __iter__(self) -> Iterator[Guarantee[_Port]]:
        return iter(self._guarantees)

    def __len__(self) -> int:
        return len(self._guarantees)

    def __contains__(self, guarantee: object) -> bool:
        return guarantee in self._guarantees

    def guarantee(self, name: str) -> "Callable[[Scenario[_Port]], Guarantee[_Port]]":
        """Return a decorator that adds a scenario as the check of a guarantee, also for ports of your own."""

        def added(scenario: "Scenario[_Port]") -> Guarantee[_Port]:
            self._guarantees.append(Guarantee(name, scenario))
            return self._guarantees[-1]

        return added
