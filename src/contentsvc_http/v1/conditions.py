"""Conditional requests: ``If-Match`` and ``If-None-Match`` (RFC 9110, section 13)."""

import re
from collections.abc import Callable
from typing import Any, Final, final

from attrs import frozen
from litestar import Request

from contentsvc_core.content.editing import entity_tag
from contentsvc_core.content.posts import Post
from contentsvc_http.errors import Refused

#: Section 8.8.3; header bytes arrive as Latin-1.
_TAG: Final = re.compile(r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")')
_SPACE: Final = " \t"
#: Some of its items may be empty (section 5.6.1).
_TAGS: Final = re.compile(rf"[ \t,]*+(?:{_TAG.pattern}[ \t]*+(?:,[ \t,]*+|\Z))*+")


@final
@frozen(kw_only=True)
class Tags:
    #: The header is ``*``: any version matches.
    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    def match(self, tag: str) -> bool:
        """Return whether ``tag`` matches by strong comparison (section 8.8.3.2): weak tags never match."""
        return self.any or tag in self.strong

    def match_weakly(self, tag: str) -> bool:
        """Return whether ``tag`` matches by weak comparison (section 8.8.3.2)."""
        return self.any or tag in self.strong or tag in self.weak


def wanted(request: Request[Any, Any, Any]) -> Callable[[Post], bool]:
    """Return the check of ``If-Match`` for a post's current version. A malformed header is a 400."""
    tags = _read(request, "If-Match")
    return lambda post: tags is None or tags.match(entity_tag(post))


def changeable(request: Request[Any, Any, Any]) -> Callable[[Post], bool]:
    """Return the check before a change, which ``If-None-Match`` refuses, too (section 13.2.2)."""
    is_wanted, known = wanted(request), if_none_match(request)

    def check(post: Post) -> bool:
        if not is_wanted(post):
            return False
        if known is not None and known.match_weakly(entity_tag(post)):
            raise Refused(412, {"error": "The post has the version in If-None-Match: leave out this header"})
        return True

    return check


def if_none_match(request: Request[Any, Any, Any]) -> Tags | None:
    """Return the tags of ``If-None-Match``; ``None`` if the header is absent. A malformed header is a 400."""
    return _read(request, "If-None-Match")


def _read(request: Request[Any, Any, Any], name: str) -> Tags | None:
    lines = request.headers.getall(name, [])
    if not lines:
        return None
    # Repeated header lines form one list (section 5.3).
    text = ",".join(lines).strip(_SPACE)
    if text == "*":
        return Tags(any=True)
    tags: list[tuple[str, str]] = _TAG.findall(text) if _TAGS.fullmatch(text) else []
    if not tags:
        error = f'Malformed {name} header: entity tags are expected, e.g. "abc", or *'
        raise Refused(400, {"error": error})
    return Tags(
        strong=frozenset(tag for weak, tag in tags if not weak), weak=frozenset(tag for weak, tag in tags if weak)
    )
