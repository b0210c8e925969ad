import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from contentsvc_core.on_demand import late
from contentsvc_core.refusals import FIELD, Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import read_iso
from contentsvc_core.zones import DEFAULT_ZONE, instant_at

_DATE: Final = late(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt].*)?", re.ASCII)
_OFFSET: Final = late(r"(?<=:[0-9]{2}) (?=[0-9]{2}:?[0-9]{2}$)")
_HAS_OFFSET: Final = late(r"[Tt].*([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$", re.ASCII)
_Query = TypeVar("_Query")
_Choice = TypeVar("_Choice", bound=Enum)


def bad_query(parameter: str, fault: str) -> Refusal:
    return Refusal(RefusalKind.QUERY, f"Invalid {FIELD}: {fault}", parameter)


def all_read(build: Callable[..., _Query], **parts: object) -> _Query | Refusal:
    """Return what ``build`` makes of the parts, or the first part that is a refusal."""
    refused = next((part for part in parts.values() if isinstance(part, Refusal)), None)
    return build(**parts) if refused is None else refused


def listed(text: str) -> tuple[str, ...]:
    """Split a comma list: without surrounding spaces, empty parts and repeats."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def choices(name: str, text: str, kind: type[_Choice]) -> tuple[_Choice, ...] | Refusal:
    """Read a comma list of the values that the parameter ``name`` allows."""
    by_value = {choice.value: choice for choice in kind}
    values = listed(text)
    for value in values:
        if value not in by_value:
            return bad_query(name, f"'{one_line(value, 64)}' is not one of {', '.join(by_value)}")
    return tuple(by_value[value] for value in values)


def read_time(name: str, text: str, zone: ZoneInfo = DEFAULT_ZONE) -> datetime | Refusal | None:
    """Read a date or a point in time (ISO 8601), of ``zone`` unless it has an offset. Empty: ``None``."""
    trimmed = text.strip()
    if not trimmed:
        return None
    example = "2026-11-22 or 2026-11-22T08:30:00Z"
    wrong = bad_query(name, f"'{one_line(text, 64)}' is no date and no time, such as {example}")
    if not _DATE.fullmatch(trimmed):
        return wrong
    # An unescaped plus sign in a URL arrives as a space.
    at = read_iso(written := _OFFSET.sub("+", trimmed))
    if at is None or zone is DEFAULT_ZONE or _HAS_OFFSET.search(written):
        return at or wrong
    try:
        return instant_at(zone, at.replace(tzinfo=None))
    except OverflowError:
        return wrong
