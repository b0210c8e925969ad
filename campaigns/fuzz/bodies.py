"""Malformed bodies and headers, from nearly valid ones to noise, by a seeded generator."""

import json
import random
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Final, cast, final

from tests.golden import OTHERS, golden_address

from contentsvc_core.testing import address, push_body, release_body
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers

AT: Final[Address] = address(repository_id=1)
SECRET: Final = "the hook's secret"
_SOUND_DEFAULT: Final[list[tuple[bytes, dict[str, Any]]]] = [
    (b"push", push_body("feat: a lamp", "fix(api)!: the beam\n\nBREAKING CHANGE: it turns\nFixes #1")),
    (b"push", {**push_body("feat: aside", branch="side/way"), "created": False, "deleted": False}),
    (b"push", {**push_body(), "deleted": True, "after": "0" * 40}),
    (b"release", release_body("v1.0.0", body="## Notes\r\n\r\n* a lamp by @ada in #1")),
    (b"release", release_body("v2.0.0-rc.1", action="prereleased", prerelease=True)),
    (b"ping", {"zen": "Keep it simple.", "hook_id": 1}),
    (b"issues", {"action": "opened", "issue": {"number": 1}}),
]
#: Valid bodies to begin from: those above, and the golden deliveries of the other providers.
_SOUND: Final[dict[Address, list[tuple[bytes, dict[str, Any]]]]] = {
    AT: _SOUND_DEFAULT,
    **{
        golden_address(provider=slug): [
            (each.event.encode(), json.loads(each.body))
            for each in OTHERS
            if each.provider == slug and each.expected["status"] == HTTPStatus.OK
        ]
        for slug in sorted({each.provider for each in OTHERS})
    },
}
#: Values that often break parsers.
_ODD: Final[tuple[Any, ...]] = (  # pyright: ignore[reportUnknownVariableType]  # values of all kinds
    *(None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400, 0.5, 1e308, -0.0),
    *("", " ", "\0", "\x1b[31m", "\u202e", "\ufeff", "é" * 300, "a" * 5000, "\ud800", "\udfff\ud800", "𐍈", "1" * 5000),
    *("refs/heads/", "refs/tags/main", "0" * 40, "9999-99-99T99:99:99Z", "0001-01-01T00:00:00Z", "javascript:alert(1)"),
    *([], {}, [[]], [None], {"": None}, [{}] * 50, {"name": None, "email": None}),
)
_WORDS: Final = (
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x00",
        b"NaN",
        b"Infinity",
        b"-",
        b"1e999999",
        b"\\ud800",
        b"\\u0000",
        b'"',
        b"}",
    ),
    *(
        b"]",
        b"{",
        b"[",
        b",",
        b":",
        b"\\",
        b"\x80",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"[" * 2000,
        b'{"a":' * 500,
        b"0" * 5000,
    ),
)
_EVENTS: Final = (b"push", b"release", b"ping", b"issues", b"", b"\xff", b"PUSH", b"push\x00", b" push ", b"p" * 300)
_IDS: Final = (
    b"d-1",
    b"",
    b" ",
    b"x" * 255,
    b"x" * 256,
    b"\xe9",
    b"a b",
    b"\x7f",
    b"72d3162e-cc78-11e3-81ab-4c9367dc0958",
)
_TYPES: Final = (
    *(
        b"application/json",
        b"application/json; charset=utf-8",
        b"",
        b"text/plain",
        b"\xff/\xff",
        b";",
        b"application/x-www-form-urlencoded",
    ),
    b"application/vnd.x+json",
)


@final
class Fuzzer:
    """Creates deliveries."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311  # reproducible from the seed
        self._ways: tuple[Callable[[dict[str, Any]], bytes], ...] = (
            self._with_odd_values,
            self._with_odd_values,
            self._with_odd_values,
            self._with_noise,
            self._with_noise,
            self._cut,
            self._in_another_encoding,
            self._not_an_object,
            self._with_repeated_keys,
        )

    def next(self) -> Delivery:
        """Create a delivery, nearly always with a right signature, so that its body is decided."""
        rng = self._rng
        at = rng.choice([*_SOUND])
        event, sound = rng.choice(_SOUND[at])
        body = rng.choice(self._ways)(sound)
        return Delivery(address=at, headers=Headers.of(self._headers(at, event, body)), body=body)

    def _headers(self, at: Address, event: bytes, body: bytes) -> Iterable[tuple[bytes, bytes]]:
        rng = self._rng
        provider = at.dialect
        event_header, delivery_header = (
            header.lower().encode() for header in (provider.event_header, provider.delivery_header)
        )
        headers = [
            (provider.scheme.header.lower().encode(), provider.scheme.value(body, SECRET).encode()),
            (event_header, event),
            (delivery_header, b"d-%d" % rng.getrandbits(40)),
            (b"content-type", b"application/json"),
        ]
        draw = rng.random()
        if draw > 0.1:
            return headers
        place = rng.randrange(len(headers))
        name, value = headers[place]
        odd = rng.choice(
            (self._noisy(value), *{event_header: _EVENTS, delivery_header: _IDS, b"content-type": _TYPES}.get(name, ()))
        )
        if draw < 0.02:
            del headers[place]
        elif draw < 0.04:
            headers.append((name.upper(), odd))
        else:
            headers[place] = (name, odd)
        return headers

    def _with_odd_values(self, sound: dict[str, Any]) -> bytes:
        """Return a body with odd values in some places."""
        changed = sound
        for _ in range(self._rng.choice((1, 1, 1, 2, 5))):
            changed = self._changed(changed)
        return _encoded(changed)

    def _changed(self, value: Any) -> Any:
        """Return a copy with one place changed."""
        rng = self._rng
        if isinstance(value, dict) and value and rng.random() < 0.9:
            named = cast("dict[str, Any]", value)
            key = rng.choice([*named])
            if rng.random() < 0.1:
                return {name: each for name, each in named.items() if name != key}
            return {**named, key: self._changed(named[key])}
        if isinstance(value, list) and value and rng.random() < 0.9:
            listed = cast("list[Any]", value)
            place = rng.randrange(len(listed))
            return [*listed[:place], self._changed(listed[place]), *listed[place + 1 :]]
        if isinstance(value, str) and rng.random() < 0.3:
            place = rng.randint(0, len(value))
            return value[:place] + rng.choice([each for each in _ODD if isinstance(each, str)]) + value[place:]
        return rng.choice(_ODD)

    def _with_noise(self, sound: dict[str, Any]) -> bytes:
        """Change bytes of a valid body."""
        return self._noisy(_encoded(sound))

    def _noisy(self, text: bytes) -> bytes:
        rng = self._rng
        changed = bytearray(text)
        for _ in range(rng.choice((1, 1, 2, 8))):
            place = rng.randint(0, len(changed))
            draw = rng.random()
            if draw < 0.3 and changed:
                changed[place % len(changed)] = rng.getrandbits(8)
            elif draw < 0.5:
                del changed[place : place + rng.randint(1, 20)]
            else:
                changed[place:place] = rng.choice(_WORDS)
        return bytes(changed)

    def _cut(self, sound: dict[str, Any]) -> bytes:
        text = _encoded(sound)
        return text[: self._rng.randint(0, len(text))]

    def _in_another_encoding(self, sound: dict[str, Any]) -> bytes:
        text = json.dumps(sound, ensure_ascii=False)
        return text.encode(self._rng.choice(("utf-8-sig", "utf-16", "utf-32", "latin-1")), "replace")

    def _not_an_object(self, _sound: dict[str, Any]) -> bytes:
        return _encoded(self._rng.choice(_ODD))

    def _with_repeated_keys(self, sound: dict[str, Any]) -> bytes:
        text = _encoded(sound)
        key = self._rng.choice([*sound])
        return b'{"' + key.encode() + b'":' + _encoded(self._rng.choice(_ODD)) + b"," + text[1:]


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=_escapes(value)).encode("utf-8", "surrogatepass")


def _escapes(value: Any) -> bool:
    """Decide by the value whether to escape non-ASCII characters, so that both ways occur."""
    return len(repr(value)) % 2 == 0
