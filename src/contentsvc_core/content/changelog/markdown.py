"""Untrusted text: as one line without e-mail addresses, and inert in Markdown, with links that cannot break out."""

import re
from typing import Final
from urllib.parse import quote

from contentsvc_core.on_demand import late
from contentsvc_core.text import one_line, storable

#: The replacement of an address: without spaces and balanced, so that a link target around it stays one target.
HIDDEN_ADDRESS: Final = "(email-hidden)"

_LOCAL: Final = r"[^\s@<>()\[\]\"',:;\\`/=?]"
_LABEL: Final = r"[^\s@<>()\[\]\"',:;\\`/=?.!#$%&*+^{|}~]"
#: A dot, also in one of its disguises in Markdown.
_DOT: Final = r"(?:\\?\.|&(?:period|#0{0,6}46|#x0{0,6}2e);)"
# Possessive, and without overlapping beginnings: each character is read a fixed number of times. `@app.route` is a
# decorator, `/@ada.b` a page. The last label has letters only: `checkout@v4.1` and `lodash@4.17.21` are versions.
_ADDRESS: Final = late(
    rf'<?(?:"[^"\n]{{1,64}}"|(?<!{_LOCAL}){_LOCAL}++|[=?\'])@(?:{_LABEL}++{_DOT})+(?:xn--[\w-]++|[^\W\d_]{{2,}}+)>?',
    re.IGNORECASE,
)
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:['-][a-z]+)*[,:]?(?= |\Z)")
_PERIODS: Final = frozenset(".:;,\u3002\uff0e\uff1b\uff0c\u3001")
#: The words at the end of a cut text that say nothing without the next one: ``Add a lid and close…``.
_HANGING: Final = late(
    r"(?<=\w)[,;:]?(?: (?:and|or|und|oder|et|ou) [^ ]{1,20}"
    r"| (?:an?|and|as|at|by|for|from|in|of|on|or|the|to|when|with|und|oder|et|ou))"
    r"(?: (?:an?|for|in|of|on|the|to|with))*\Z"
)
_FINAL_PERIOD: Final = late(r"(?<=[\w)`'\"”\uff09\u300d])[.:;,\u3002\uff0e\uff1b\uff0c\u3001]\Z")
_VERSION: Final = late(r"v?\d+(?:\.\d+)*\.\Z")


def mask_addresses(text: str) -> str:
    """Return a text without e-mail addresses, in time proportional to its length."""
    return _ADDRESS.sub(HIDDEN_ADDRESS, text) if "@" in text else text


def masked_line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, without control characters and e-mail addresses."""
    # Addresses are masked before the cut: the pattern does not find a cut address.
    read_limit = 4 * limit
    line = one_line(text, read_limit)
    if len(text) > 8 * read_limit or line.endswith("…"):
        head, _, last = line.rpartition(" ")
        line = f"{head}…" if "@" in last else line
    return cut_at_word(mask_addresses(line), limit)


def cut_at_word(text: str, limit: int) -> str:
    """Return a line of at most ``limit`` characters, cut at the end of a word in its second half."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    if text[limit - 1] != " " and space >= limit // 2:
        cut = cut[:space]
    return f"{_HANGING.sub('', cut.rstrip(' ,;:.-'))}…"


def without_period(text: str) -> str:
    """Return a line without the period, colon or semicolon at its end; ``...`` and ``e.g.`` keep theirs."""
    if text[-1:] not in _PERIODS:
        return text
    last_word = text.rpartition(" ")[2]
    ends = last_word.count(".") <= 1 or _VERSION.match(last_word) is not None
    return _FINAL_PERIOD.sub("", text) if ends else text


#: The least length of a first sentence, in characters.
_SHORT: Final = 12
#: Not behind an abbreviation.
NOT_ABBREVIATED: Final = (
    r"(?i:(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\bapprox\.)(?<!\bno\.)(?<!\bincl\.))"
)
#: Emoji between two sentences belong to none.
_SENTENCE_END: Final = late(
    rf"(?<=[\w)`'\"”][.!?]){NOT_ABBREVIATED} +(?:[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+ +)?(?=[A-Z`\"“])"
)


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a line, and the rest."""
    # Most lines are one sentence, and these tests cost less than the pattern.
    for match in _SENTENCE_END.finditer(text) if ". " in text or "! " in text or "? " in text else ():
        if match.start() >= _SHORT:
            return text[: match.start()], text[match.end() :]
    return text, ""


#: The end of a sentence, with emoji behind it.
_ENDED: Final = late(r"[.!?…\u3002\uff0e\uff01\uff1f](?: ?[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff])*\Z")

#: A line whose last sign is Chinese or Japanese, maybe in brackets. Korean has the period of Latin.
_CHINESE_OR_JAPANESE: Final = late(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff][)\]`'\"\uff09\u300d\u300f\u300b\u201d]*\Z"
)


def with_period(text: str) -> str:
    """Return a line with a period, in the script of its last word, unless it ends like a sentence."""
    if _ENDED.search(text):
        return text
    return f"{text}\u3002" if _CHINESE_OR_JAPANESE.search(text) else f"{text}."


def is_bare(text: str) -> bool:
    """Return whether a text is one word: all readers need the part of the code with it."""
    return " " not in text


def sentence(text: str) -> str:
    """Return ``text`` with a capital if its first word is a plain word.

    A possible identifier (with an underscore, a digit, a dot, brackets or a capital inside) stays unchanged.
    """
    return text[0].upper() + text[1:] if text[:1].islower() and _PLAIN_WORD.match(text) else text


# CommonMark 0.31, section 2.4: a backslash makes any ASCII punctuation literal. An underscore inside a word is left
# (6.2), so that `add_many` stays readable. The colon and the dot break the addresses that GFM would turn into links.
_SPECIAL: Final = late(
    r"[\\`*\[\]<~|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=[#A-Za-z0-9])|:(?=//)|(?<=www)\.", re.IGNORECASE
)
#: Most lines: nothing to escape.
_INERT: Final = re.compile(r"(?![#+=>0-9-])[^\\`*\[\]<~|_&:.]*(?:(?::(?!/)|(?<![wW])\.)[^\\`*\[\]<~|_&:.]*)*")
# Openings of headings, lists, quotations and underlines.
_LEADING: Final = late(r"[#+\-=>]|[0-9]+[.)](?= |\Z)")
_CODE_SPAN: Final = late(r"(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)")

_URL: Final = late(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_HOST: Final = late(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*)|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
#: Most addresses: nothing to encode, and nothing that could end a link.
_INERT_URL: Final = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9._~/-]*")
_URL_LIMIT: Final = 1_000
_BARE_PERCENT: Final = late(r"%(?![0-9A-Fa-f]{2})")


def inline(text: str) -> str:
    """Return one line of untrusted text, escaped so that it renders as itself; ``code spans`` stay code."""
    if _INERT.fullmatch(text):
        return text
    pieces: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(text) if "`" in text else ():
        if span[2].isspace():
            continue
        pieces += (_SPECIAL.sub(r"\\\g<0>", text[end : span.start()]), f"`{span[2]}`")
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
    match = _URL.fullmatch(url) if len(url) <= _URL_LIMIT else None
    if match is None or not _HOST.fullmatch(match[2]):
        return None
    rest = quote(storable(match[3]), safe="%-._~:/?#!$&*+,=")
    # An ampersand could begin an entity (CommonMark 0.31, section 2.5), which counts in link targets too.
    rest = _BARE_PERCENT.sub("%25", rest).replace("&", "&amp;")
    return f"{match[1].lower()}://{match[2]}{rest}"


#: The code host's limit for the name of a ref, in characters.
_TAG_LINKED: Final = 255


def compare_url(before: str | None, after: str, base: str | None) -> str | None:
    """Return the page that compares two tags; ``None`` if a tag or the repository's address is unknown."""
    tags = (before or "", after)
    if base is None or not all(tags) or tags[0] == tags[1] or any(len(tag) > _TAG_LINKED for tag in tags):
        return None
    return f"{base}/compare/{'...'.join(quote(storable(tag), safe='') for tag in tags)}"
