"""Text for places that know no Markdown: it reads the same there and in a renderer, and foreign words do nothing.

Such places make links of addresses, mentions of ``@name`` and searches of ``#word``, wherever they stand. In foreign
text a zero-width space keeps them from it; a reader sees no difference.
"""

import re
from typing import Final

from contentsvc_core.content.changelog.markdown import inline
from contentsvc_core.content.changelog.titles import plain
from contentsvc_core.text import storable

#: U+200B: no width, and no part of a word to whoever looks for addresses and names.
_BREAK: Final = "\u200b"
_MENTION: Final = re.compile(r"(?<=[@\uff20#\uff03$])(?=\w)")
_ADDRESS: Final = re.compile(r"(?<=:)(?=//)|(?<=[^\W_]\.)(?=[^\W\d_]{2})")
_PLAIN: Final = re.compile(r"[*~_]")


def inert(text: str) -> str:
    """Give one line of foreign text, plain in and Markdown out: no link, no mention, no hashtag, no structure."""
    return inline(inactive(text))


def inactive(text: str) -> str:
    """Give one line of plain text in which nothing is an address, a mention or a hashtag."""
    return _ADDRESS.sub(_BREAK, _MENTION.sub(_BREAK, plain(text)))


def plain_url(url: str) -> str:
    """Give an address that :func:`safe_url` gave as text that no renderer changes."""
    scheme, _, rest = url.replace("&amp;", "&").partition("://")
    host, slash, path = rest.partition("/")
    # A bare ampersand begins no entity: that would need a semicolon, and `safe_url` leaves none.
    return f"{scheme}://{host}{slash}{_PLAIN.sub(lambda sign: f'%{ord(sign[0]):02X}', path)}"


def hashtag(name: str) -> str:
    """Make a hashtag of a name: ``tea-kettle`` is ``#TeaKettle``; ``""`` if nothing is left of it."""
    words = re.findall(r"[^\W_]+", storable(name))
    tag = "".join(word if any(letter.isupper() for letter in word) else word.capitalize() for word in words)
    return f"#{tag}" if tag and not tag.isdigit() else ""
