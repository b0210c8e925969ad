"""Query parameters that are comma lists, and the refusal of an invalid one."""

from enum import Enum
from typing import TypeVar

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line

_Choice = TypeVar("_Choice", bound=Enum)


def bad_query(parameter: str, fault: str) -> Refusal:
    """Return the refusal of an invalid value of a query parameter."""
    return Refusal(RefusalKind.QUERY, f"Invalid {parameter}: {fault}", parameter)


def listed(text: str) -> tuple[str, ...]:
    """Split a comma list: without surrounding spaces, empty parts and repeats."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def choices(name: str, text: str, kind: type[_Choice]) -> tuple[_Choice, ...] | Refusal:
    """Read a comma list of the values that the parameter ``name`` allows."""
    known = {choice.value: choice for choice in kind}
    asked = listed(text)
    for value in asked:
        if value not in known:
            return bad_query(name, f"'{one_line(value, 64)}' is not one of {', '.join(known)}")
    return tuple(known[value] for value in asked)
