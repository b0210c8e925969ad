"""The readable part of a post's address, such as ``2026/11/steer-the-beam`` and ``releases/v2.0.0``."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Final

from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import repository_of

#: The longest readable name, in characters: about twelve words.
_NAME_LIMIT: Final = 80
#: The longest path that is looked up, in characters: a month, a name with a suffix, and room to spare.
PATH_LIMIT: Final = 200
#: The name for a title without letters and digits, such as emoji.
_UNNAMED: Final = "post"
#: Up to this many posts of a month with the same name get a number; further ones get this many last characters of their
#: id.
_NUMBERED: Final = 5
_OWN: Final = 12
_APOSTROPHE: Final = re.compile("['\u2019]")
_PATH: Final = re.compile(r"(?:releases|[0-9]{4}/(?:0[1-9]|1[0-2]))/[^/]+")


def is_post_path(text: str) -> bool:
    return len(text) <= PATH_LIMIT and _PATH.fullmatch(text) is not None


def post_paths(post: Post) -> Iterator[str]:
    """Yield the paths that a post may have, the best one first; the store takes the first that is free."""
    if post.release_tag is None:
        start = Month.of(post.occurred_at).written.replace("-", "/")
        best = [readable(post.title) or _UNNAMED]
    else:
        start = "releases"
        kind = "" if post.content_type is ContentType.CHANGELOG else f"-{post.content_type.value.replace('_', '-')}"
        tag = (readable(post.release_tag, keep="._+@") or _UNNAMED) + kind
        project = readable(repository_of(post).rpartition("/")[2], keep="._")
        best = [tag, f"{project}-{tag}"] if project else [tag]
    yield from (f"{start}/{name}" for name in best)
    yield from (f"{start}/{best[0]}-{number}" for number in range(2, _NUMBERED + 1))
    # The id avoids a lookup for each of a thousand posts with the same title.
    own = f"{start}/{best[0]}-{readable(post.id)[-_OWN:]}"
    yield own
    yield from (f"{own}-{number}" for number in count(2))


def readable(text: str, *, keep: str = "") -> str:
    """Return a text as a part of an address; empty: the text has no letter and no digit.

    Latin letters lose their accents. Letters of other scripts and the characters of ``keep`` stay.
    """
    text = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())
    if not text.isascii():
        text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
    name = _others(keep).sub("-", text).strip(f"-{keep}")
    if len(name) > _NAME_LIMIT:
        start, dash, _ = name[: _NAME_LIMIT + 1].rpartition("-")
        name = (start if dash and len(start) > _NAME_LIMIT // 2 else name[:_NAME_LIMIT]).strip(f"-{keep}")
    return name


@cache
def _others(keep: str) -> re.Pattern[str]:
    return re.compile(rf"[^a-z0-9{re.escape(keep)}\x80-\U0010ffff]+")


def _plain(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character)[0]
    if character.isascii() or (plain.isascii() and plain.isalnum()):
        return plain
    return character if character.isalnum() or unicodedata.category(character).startswith("M") else "-"
