"""Payloads, readable: JSON with its parts told apart, made safe here and nowhere else."""

import re
from typing import Final, final

import msgspec
from attrs import frozen
from markupsafe import Markup, escape

#: How much is shown on a page, in characters; the rest is a click away.
SHOWN: Final = 200_000

#: Written by the encoder: strings are closed on the line on which they begin, so that no search runs astray.
_TOKEN: Final = re.compile(
    r'(?P<text>"(?:[^"\\\n]++|\\.)*+")(?P<colon>:)?|(?P<other>-?[0-9][0-9.eE+-]*+|true|false|null)'
)
#: What hides or reorders what is read (Unicode Technical Report 36, section 3.5); in JSON it can be written as digits.
_HIDDEN: Final = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@final
@frozen(kw_only=True)
class Shown:
    """A payload as a page shows it."""

    html: Markup
    #: How many characters the whole of it has.
    length: int

    @property
    def is_cut(self) -> bool:
        """Tell whether only its beginning is shown."""
        return self.length > SHOWN


def payload_text(payload: object) -> str:
    """Write a payload for people: indented JSON, in which nothing is hidden."""
    text = msgspec.json.format(msgspec.json.encode(payload), indent=2).decode()
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown(payload: object) -> Shown:
    """Give a payload as a page shows it."""
    text = payload_text(payload)
    return Shown(html=highlighted(text[:SHOWN], is_whole=len(text) <= SHOWN), length=len(text))


def highlighted(text: str, *, is_whole: bool = True) -> Markup:
    """Mark keys, texts and other values of indented JSON; all of it is escaped.

    Args:
        text: As :func:`payload_text` writes it, or its beginning.
        is_whole: Tells which; a last line that may be cut is left unmarked.
    """
    end = len(text) if is_whole else text.rfind("\n") + 1
    parts: list[str] = []
    at = 0
    for token in _TOKEN.finditer(text, 0, end):
        parts.append(escape(text[at : token.start()]))
        kind, name = ("j-other", "other") if token["text"] is None else ("j-text", "text")
        if token["colon"]:
            kind = "j-key"
        parts.append(f'<span class="{kind}">{escape(token[name])}</span>{token["colon"] or ""}')
        at = token.end()
    parts.append(escape(text[at:]))
    return Markup("".join(parts))  # noqa: S704  # all in it went through escape(), or is ours
