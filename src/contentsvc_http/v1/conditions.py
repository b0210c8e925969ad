"""Conditional requests (RFC 9110, section 13): which version of something a client has seen."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from attrs import frozen
from litestar import Request
from litestar.openapi.spec import Operation, Parameter, Schema
from litestar.openapi.spec.enums import OpenAPIType

from contentsvc_http.errors import Refused

#: Section 8.8.3; header bytes arrive as Latin-1.
_TAG: Final = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_SPACE: Final = " \t"


@final
@frozen(kw_only=True)
class Tags:
    """What a header such as ``If-Match`` lists."""

    #: ``*``: whatever there is.
    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    def match(self, tag: str) -> bool:
        """Compare strongly (section 8.8.3.2): a weak tag matches nothing."""
        return self.any or tag in self.strong

    def match_weakly(self, tag: str) -> bool:
        """Compare weakly."""
        return self.any or tag in self.strong or tag in self.weak


def conditional(names: Sequence[str], kind: type[Operation] = Operation) -> type[Operation]:
    """Give the class of operations of ``kind`` with conditions: for OpenAPI, since their headers are read by hand."""

    @dataclass
    class Conditional(kind):
        def __post_init__(self) -> None:
            before = getattr(super(), "__post_init__", None)
            if before is not None:
                before()
            conditions = [
                Parameter(
                    name=name,
                    param_in="header",
                    description="a list of entity tags, or *",
                    schema=Schema(type=OpenAPIType.STRING),
                )
                for name in names
            ]
            self.parameters = [*(self.parameters or []), *conditions]

    return Conditional


def if_match(request: Request[Any, Any, Any]) -> Tags | None:
    """Read ``If-Match``; ``None``: there is none.

    Raises:
        Refused: 400: it is malformed.
    """
    return _read(request, "If-Match")


def if_none_match(request: Request[Any, Any, Any]) -> Tags | None:
    """Read ``If-None-Match``; ``None``: there is none.

    Raises:
        Refused: 400: it is malformed.
    """
    return _read(request, "If-None-Match")


def _read(request: Request[Any, Any, Any], name: str) -> Tags | None:
    lines = request.headers.getall(name, [])
    if not lines:
        return None
    # Several lines are one list (section 5.3).
    text = ",".join(lines).strip(_SPACE)
    if text == "*":
        return Tags(any=True)
    tags = _tags(text)
    if not tags:
        error = f'Malformed {name} header: entity tags are expected, e.g. "abc", or *'
        raise Refused(400, {"error": error})
    return Tags(
        strong=frozenset(tag for weak, tag in tags if not weak), weak=frozenset(tag for weak, tag in tags if weak)
    )


def _tags(text: str) -> list[tuple[bool, str]] | None:
    """Read a list of tags; ``None``: it is none. A comma may stand inside a tag, and empty elements are allowed."""
    tags: list[tuple[bool, str]] = []
    place = 0
    while True:
        while place < len(text) and text[place] in f"{_SPACE},":
            place += 1
        if place == len(text):
            return tags
        found = _TAG.match(text, place)
        if found is None:
            return None
        tags.append((found[1] is not None, found[2]))
        place = found.end()
        while place < len(text) and text[place] in _SPACE:
            place += 1
        if place < len(text) and text[place] != ",":
            return None
