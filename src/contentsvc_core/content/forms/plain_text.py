"""Text for services without Markdown: foreign words in it mention no account and link to nothing.

Such services link addresses, mentions of ``@name`` and ``#words``. Foreign text is changed visibly so that they find
none.
"""

import re
from typing import Final

from contentsvc_core.content.changelog.markdown import inline
from contentsvc_core.content.changelog.titles import plain
from contentsvc_core.text import storable

#: The weight of every address (docs.x.com, "Counting characters").
URL_WEIGHT: Final = 23
#: Code points of weight one; others weigh two (the same page: configuration 3 of twitter-text).
_LIGHT: Final = ((0x0000, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))
#: Top-level domains that are hardly the ending of a file or a name in code.
_DOMAINS: Final = (
    "com|net|org|info|biz|io|co|ai|app|dev|xyz|top|site|online|shop|store|live|link|click|club|pro|tv|us|uk|eu|de|fr|es"
    "|it|nl|ru|cn|jp|kr|br|ch|at|be|se|fi|dk|cz|ly|gg|page|cloud|tech|blog|news|space|website|example"
)
# Possessive, without overlapping beginnings: each character is read a fixed number of times.
_ADDRESS: Final = re.compile(
    rf"(?<![\w+.-])[a-z][\w+.-]*+://\S*+|(?<![\w.])www\.\S*+|(?<![\w.-])[\w-]++(?:\.[\w-]++)*?\.(?:{_DOMAINS})(?![\w-])",
    re.IGNORECASE,
)
#: Words with a dot that the service may count as an address, e.g. ``README.md``.
_DOTTED: Final = re.compile(r"(?<![\w.-])[\w-]++(?:\.[\w-]++)*?\.[^\W\d_]{2,}+[\w/-]*+")
_MENTION: Final = re.compile(
    r"(?<![\w@\uff20$])[@\uff20$]++(?=[^\W\d]|(?<!\$)\w)|(?<![\w\uff03#])[\uff03#]++(?=\w*[^\W\d])"
)
_PLAIN: Final = re.compile(r"[*~_]")


def inert(text: str) -> str:
    """Return one line of foreign text, plain in and Markdown out: no link, no mention, no hashtag, no structure."""
    return inline(inactive(text))


def inactive(text: str) -> str:
    """Return one line of plain text in which nothing is an address, a mention or a hashtag."""
    return _MENTION.sub("", _ADDRESS.sub(_defanged, plain(text)))


def _defanged(found: re.Match[str]) -> str:
    return found[0].replace("://", "[:]//").replace(".", "[.]")


def weight(text: str) -> int:
    """Return the weight of a text without addresses as X counts it, or more.

    Emoji and most scripts beyond Europe count as 2 a character. An emoji of several code points counts as 2 at X, and
    a word with a dot may count as an address.
    """
    dotted = sum(max(0, URL_WEIGHT - len(found[0])) for found in _DOTTED.finditer(text))
    return dotted + sum(1 if any(low <= ord(sign) <= high for low, high in _LIGHT) else 2 for sign in text)


def plain_url(url: str) -> str:
    """Return an address that :func:`safe_url` gave as text that no renderer changes."""
    scheme, _, rest = url.replace("&amp;", "&").partition("://")
    host, slash, path = rest.partition("/")
    # A bare ampersand begins no entity: that would need a semicolon, and `safe_url` leaves none.
    return f"{scheme}://{host}{slash}{_PLAIN.sub(lambda sign: f'%{ord(sign[0]):02X}', path)}"


def hashtag(name: str) -> str:
    """Return a hashtag made of a name: ``tea-kettle`` is ``#TeaKettle``; ``""`` if nothing is left of it."""
    words = re.findall(r"[^\W_]+", storable(name))
    tag = "".join(word if any(letter.isupper() for letter in word) else word.capitalize() for word in words)
    return f"#{tag}" if tag and not tag.isdigit() else ""
