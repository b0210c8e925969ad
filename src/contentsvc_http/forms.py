import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, final
from urllib.parse import parse_qsl

from attrs import frozen
from litestar import Request

from contentsvc_core.text import storable
from contentsvc_http.errors import Refused

#: The most fields of a form: thousands of repositories are ticked boxes, and parsing stays below 8 ms.
_MOST_FIELDS: Final = 4000
_TOO_MANY: Final = f"it has more than {_MOST_FIELDS:,} fields. Choose fewer items at once"
#: Forms up to this size, in bytes, are parsed on the event loop, in 8 ms at most. Only forms with a post are larger.
_AT_ONCE: Final = 64 * 1024
_TYPE: Final = "application/x-www-form-urlencoded"
_UPLOAD: Final = "multipart/form-data"
#: Browsers and clients draw boundaries from these characters (RFC 2046, section 5.1.1), in quotes or not.
_BOUNDARY: Final = re.compile(r"""boundary="?([A-Za-z0-9'()+_,./:=?-]{1,70})"?""")
_NAME: Final = re.compile(rb'[; ]name="([^"]*)"')


@final
@frozen
class Form:
    values: Mapping[str, Sequence[str]]

    def text(self, name: str) -> str:
        return self.raw(name).strip()

    def raw(self, name: str) -> str:
        values = self.values.get(name)
        # Browsers send the line ends of text areas as CRLF (HTML, 4.10.21.4).
        return values[-1].replace("\r\n", "\n") if values else ""

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(text for value in self.values.get(name, ()) if (text := value.strip()))

    def is_on(self, name: str) -> bool:
        return bool(self.values.get(name))


def by_field(faults: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return faults for templates: fields without a fault have an empty text."""
    return defaultdict(str, faults or {})


async def read_form(request: Request[Any, Any, Any]) -> Form:
    """Read a request's form; refuse a body that is no form with 400 or 415."""
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Refused(415, {"error": f"Unsupported content type: a form is sent as {_TYPE}"})
    body = await request.body()
    try:
        pairs = _fields(body) if len(body) <= _AT_ONCE else await asyncio.to_thread(_fields, body)
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except ValueError:
        _refuse(_TOO_MANY)
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        # As in bodies of `/v1`: unstorable characters are replaced once, on entry.
        values.setdefault(name, []).append(storable(value))
    return Form(values)


async def read_upload(request: Request[Any, Any, Any]) -> tuple[Form, bytes]:
    """Read a request's form with one file (RFC 7578); refuse another body with 400 or 415."""
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != _UPLOAD:
        raise Refused(415, {"error": f"Unsupported content type: a file is sent as {_UPLOAD}"})
    boundary = _BOUNDARY.search(request.headers.get("Content-Type", ""))
    if boundary is None:
        _refuse("its content type has no boundary")
    values: dict[str, list[str]] = {}
    content = b""
    # What precedes the first field and follows the last one are parts as well.
    parts = (b"\r\n" + await request.body()).split(f"\r\n--{boundary[1]}".encode(), _MOST_FIELDS + 2)
    if len(parts) > _MOST_FIELDS + 2:
        _refuse(_TOO_MANY)
    for part in parts[1:-1]:
        head, _, body = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if name is None:
            _refuse("a part has no name")
        if b"filename=" in head:
            content = body
        else:
            values.setdefault(name[1].decode("utf-8", "replace"), []).append(storable(body.decode("utf-8", "replace")))
    return Form(values), content


def _refuse(fault: str) -> NoReturn:
    raise Refused(400, {"error": f"Invalid form: {fault}"}) from None


def _fields(body: bytes) -> list[tuple[str, str]]:
    return parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
