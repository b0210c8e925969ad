import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Final, TypeAlias, TypeVar, final

from attrs import frozen

from contentsvc_core.errors import ContentServiceError
from contentsvc_core.text import one_line

_T = TypeVar("_T")

#: The limit of a check, in seconds. Its requests and statements have shorter ones. A machine with ten busy processes
#: needs more than 5 for a check that waits for nothing.
LIMIT_S: Final = 30.0
_FOUND_LIMIT: Final = 400


class FindingState(Enum):
    OK = "ok"
    #: It works, but needs attention.
    WARNING = "warning"
    #: It does not work, or is about to fail.
    FAULT = "fault"
    #: The check was not possible or does not apply.
    SKIPPED = "skipped"


@final
@frozen(kw_only=True)
class Finding:
    check: str
    state: FindingState
    #: The finding, in a sentence without secrets.
    found: str
    advice: str | None = None


Findings: TypeAlias = Sequence[Finding]
Check: TypeAlias = Callable[[], Awaitable[Findings]]


def ok(check: str, found: str) -> Finding:
    return Finding(check=check, state=FindingState.OK, found=one_line(found, _FOUND_LIMIT))


def warning(check: str, found: str, advice: str | None = None) -> Finding:
    return Finding(check=check, state=FindingState.WARNING, found=one_line(found, _FOUND_LIMIT), advice=advice)


def fault(check: str, found: str, advice: str | None = None) -> Finding:
    return Finding(check=check, state=FindingState.FAULT, found=one_line(found, _FOUND_LIMIT), advice=advice)


def skipped(check: str, found: str) -> Finding:
    return Finding(check=check, state=FindingState.SKIPPED, found=one_line(found, _FOUND_LIMIT))


async def within(
    name: str,
    check: Callable[[], Awaitable[_T]],
    failed: Callable[[Finding], _T],
    *,
    limit_s: float = LIMIT_S,
    advice: str | None = None,
    if_slow: str | None = None,
) -> _T:
    """Return the result of a check; if it fails or takes too long, what ``failed`` makes of this fault.

    ``advice`` is for a failure whose message has no remedy of its own, ``if_slow`` for a timeout.
    """
    try:
        async with asyncio.timeout(limit_s):
            return await check()
    except TimeoutError:
        return failed(fault(name, f"there was no answer within {limit_s:g} s", if_slow))
    except ContentServiceError as exc:
        found, has_remedy, remedy = str(exc).rpartition("; ")
        found, advice = (found, remedy) if has_remedy else (remedy, advice)
    except Exception as exc:  # noqa: BLE001  # a failing check must not stop the others
        found = f"the check failed: {type(exc).__name__}: {exc}"
    return failed(fault(name, found, advice))
