"""Regular expressions that are compiled when they are first used: short commands use few of them."""

import re
from typing import Any, cast, final


@final
class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # of a pattern
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def late(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """Return a pattern for rare texts."""
    return cast("re.Pattern[str]", _Late(pattern, flags))
