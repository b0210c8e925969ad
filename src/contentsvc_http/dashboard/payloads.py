import re
from typing import Final, final

import msgspec
from attrs import frozen
from markupsafe import Markup, escape

#: The shown part, in characters; the rest is behind a link.
SHOWN: Final = 200_000

#: The encoder writes each string on one line, so the pattern stays linear.
_TOKEN: Final = re.compile(
    r'(?P<text>"(?:[^"\\\n]++|\\.)*+")(?P<colon>:)?|(?P<other>-?[0-9][0-9.eE+-]*+|true|false|null)'
)
#: Characters that hide or reorder text (Unicode Technical Report 36, section 3.5); JSON can escape them.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
#: The shown part of a text of several lines, in characters: a few screens.
_TEXT: Final = 5_000


@final
@frozen(kw_only=True)
class ShownPayload:
    html: Markup
    length: int

    @property
    def is_cut(self) -> bool:
        return self.length > SHOWN


def payload_text(payload: object) -> str:
    """Write a payload for people: indented JSON, in which nothing is hidden."""
    return visible(_indented(payload))


def visible(text: str) -> str:
    """Return ``text`` with escapes in place of invisible and reordering characters."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def beginning(text: str) -> str:
    return visible(text[:_TEXT] + ("…" if len(text) > _TEXT else ""))


def shown(payload: object) -> ShownPayload:
    text = _indented(payload)
    # Cut first: a payload may have 25 MiB.
    return ShownPayload(html=highlighted(visible(text[:SHOWN]), is_complete=len(text) <= SHOWN), length=len(text))


def _indented(payload: object) -> str:
    return msgspec.json.format(msgspec.json.encode(payload), indent=2).decode()


def highlighted(text: str, *, is_complete: bool = True) -> Markup:
    """Mark keys, texts and other values of indented JSON; all of it is escaped."""
    end = len(text) if is_complete else text.rfind("\n") + 1
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
    return Markup("".join(parts))  # noqa: S704  # all parts are escaped or our own
