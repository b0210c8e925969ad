"""Foreign text in Markdown: inert in CommonMark and in its GFM extensions, and links that cannot break out."""

import re
from typing import Final
from urllib.parse import quote

from contentsvc_core.text import storable

# CommonMark 0.31, section 2.4: a backslash makes any ASCII punctuation literal. An underscore inside a word is left
# (6.2: it can open and close nothing there), so that `add_many` stays readable. The colon and the dot break the
# addresses that GFM would turn into links.
_SPECIAL: Final = re.compile(
    r"[\\`*\[\]<~|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=[#A-Za-z0-9])|:(?=//)|(?<=www)\.", re.IGNORECASE
)
# Openings of headings, lists, quotations and underlines.
_LEADING: Final = re.compile(r"[#+\-=>]|[0-9]+[.)](?= |\Z)")
_CODE_SPAN: Final = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")

_URL: Final = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_HOST: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
#: An address that needs no quoting, like nearly all.
_INERT_URL: Final = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._~/-]*")
_URL_LIMIT: Final = 1_000
_BARE_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def inline(text: str) -> str:
    """Return one line of foreign text, escaped so that it renders as itself; ``code spans`` stay code."""
    pieces: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(text) if "`" in text else ():
        if span[1].isspace():
            continue
        pieces += (_SPECIAL.sub(r"\\\g<0>", text[end : span.start()]), span[0])
        end = span.end()
    pieces.append(_SPECIAL.sub(r"\\\g<0>", text[end:]))
    line = "".join(pieces)
    if leading := _LEADING.match(line):
        at = leading.end() - 1
        line = f"{line[:at]}\\{line[at:]}"
    return line


def link(text: str, url: str | None) -> str:
    """Return a link with Markdown as its text; ``url`` comes from :func:`safe_url`."""
    return text if url is None else f"[{text}]({url})"


def safe_url(url: str) -> str | None:
    """Return an http or https address that cannot end a link early; ``None`` for any other text.

    An address with a user name is refused: it may be an e-mail address, and code hosts send none.
    """
    if len(url) <= _URL_LIMIT and _INERT_URL.fullmatch(url):
        return url
    found = _URL.fullmatch(url) if len(url) <= _URL_LIMIT else None
    if found is None or not _HOST.fullmatch(found[2]):
        return None
    rest = quote(storable(found[3]), safe="%-._~:/?#!$&*+,=")
    # An ampersand could begin an entity (CommonMark 0.31, section 2.5), which counts in link targets too.
    rest = _BARE_PERCENT.sub("%25", rest).replace("&", "&amp;")
    return f"{found[1].lower()}://{found[2]}{rest}"


#: The code host's limit for the name of a ref, in characters.
_TAG_LINKED: Final = 255


def compare_url(before: str | None, after: str, base: str | None) -> str | None:
    """Return the page that compares two tags; ``None`` if a tag or the repository's address is unknown."""
    tags = (before or "", after)
    if base is None or not all(tags) or tags[0] == tags[1] or any(len(tag) > _TAG_LINKED for tag in tags):
        return None
    return f"{base}/compare/{'...'.join(quote(storable(tag), safe='') for tag in tags)}"
