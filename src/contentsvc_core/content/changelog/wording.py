"""Foreign text as one printable line: without e-mail addresses, cut at a word, with a capital."""

import re
from typing import Final

from contentsvc_core.text import one_line

#: The replacement of an address: without spaces and balanced, so that a link target around it stays one target.
HIDDEN_ADDRESS: Final = "(email-hidden)"

_LOCAL: Final = r"[^\s@<>()\[\]\"',:;\\`/=?]"
_LABEL: Final = r"[^\s@<>()\[\]\"',:;\\`/=?.!#$%&*+^{|}~]"
# Possessive, and without overlapping beginnings: each character is read a fixed number of times.
# A backtick or a slash before the sign begins no address: `@app.route` is a decorator, `/@ada.b` a page.
# The last label has letters only: `checkout@v4.1` and `lodash@4.17.21` are versions.
_ADDRESS: Final = re.compile(
    rf'<?(?:"[^"\n]{{1,64}}"|(?<!{_LOCAL}){_LOCAL}++|[=?\'])@(?:{_LABEL}++\.)+(?:xn--[\w-]++|[^\W\d_]{{2,}}+)>?',
    re.IGNORECASE,
)
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:-[a-z]+)*[,:]?(?= |\Z)")
_FINAL_PERIOD: Final = re.compile(r"(?<=[\w)`'\"”])[.;,]\Z")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)*\.\Z")


def mask_addresses(text: str) -> str:
    """Return a text without e-mail addresses, in time proportional to its length."""
    return _ADDRESS.sub(HIDDEN_ADDRESS, text) if "@" in text else text


def masked_line(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, without control characters and e-mail addresses."""
    # Addresses are masked before the cut: the pattern does not find a cut address.
    room = 4 * limit
    line = one_line(text, room)
    if len(text) > 8 * room or line.endswith("…"):
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
    return f"{cut.rstrip(' ,;:.-')}…"


def without_period(text: str) -> str:
    """Return a line without the period or semicolon at its end; ``...`` and ``e.g.`` keep theirs."""
    if not text.endswith((".", ";", ",")):
        return text
    last_word = text.rpartition(" ")[2]
    ends = last_word.count(".") <= 1 or _VERSION.match(last_word) is not None
    return _FINAL_PERIOD.sub("", text) if ends else text


def with_period(text: str) -> str:
    """Return a line with a period, unless it ends like a sentence."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def sentence(text: str) -> str:
    """Return ``text`` with a capital if its first word is a plain word.

    A possible identifier (with an underscore, a digit, a dot, brackets or a capital inside) stays unchanged.
    """
    return text[0].upper() + text[1:] if _PLAIN_WORD.match(text) else text
