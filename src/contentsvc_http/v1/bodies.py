from codecs import BOM_UTF8
from datetime import timedelta
from typing import Annotated, Any, Final, NoReturn, TypeVar, cast

import msgspec
from litestar import Request
from msgspec import Meta

from contentsvc_core.organizations import MAX_OVERLAP_HOURS, OVERLAP_HOURS
from contentsvc_core.refusals import NOTHING_TO_CHANGE
from contentsvc_core.schemas import InvalidStruct, decode_json, syntax_fault
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.decision import is_encoded
from contentsvc_http.errors import Refused, refused

_Body = TypeVar("_Body", bound=msgspec.Struct)
_Encoded = TypeVar("_Encoded")
_FAULT_LENGTH: Final = 1000


class SecretRotation(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The hours for which the previous secret stays valid; 0 ends it at once."""

    overlap_hours: Annotated[int, Meta(ge=0, le=MAX_OVERLAP_HOURS)] = OVERLAP_HOURS

    @property
    def overlap(self) -> timedelta:
        return timedelta(hours=self.overlap_hours)


async def read_body(request: Request[Any, Any, Any], shape: type[_Body]) -> _Body:
    """Return the body as ``shape``; U+0000 becomes U+FFFD. Refused: 415 if it is no JSON, 400 if it does not fit."""
    announced = request.headers.get("Content-Type", "application/json").split(";")[0].strip().lower()
    if announced != "application/json" and not announced.endswith("+json"):
        error = f"Content type '{one_line(announced, 64)}' is not supported: send 'application/json'"
        raise Refused(415, {"error": error})
    if is_encoded([value for name, value in request.scope["headers"] if name == b"content-encoding"]):
        raise Refused(415, {"error": "Content-Encoding is not supported: send the body uncompressed"})
    # Some clients write a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
    raw = (await request.body()).removeprefix(BOM_UTF8)
    if not raw:
        _refuse("the body is empty: send a JSON object")
    try:
        # msgspec does not check the UTF-8 of fields that it skips.
        raw.decode()
        # The syntax of the whole body comes before its fields.
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        if request.method == "PATCH" and not fields:
            raise refused(NOTHING_TO_CHANGE)
        return decode_json(raw, shape)
    except InvalidStruct as exc:
        _refuse(str(exc))
    except msgspec.ValidationError:
        _refuse("the body must be a JSON object")
    except (msgspec.MsgspecError, ValueError, RecursionError) as exc:
        _refuse(syntax_fault(raw, exc))


def encoded(body: _Encoded) -> _Encoded:
    """Return a body as JSON, which the response only copies: so a thread can encode large bodies one by one."""
    return cast("_Encoded", msgspec.Raw(msgspec.json.encode(body)))


def _refuse(fault: str) -> NoReturn:
    raise Refused(400, {"error": one_line(f"Invalid request: {fault}", _FAULT_LENGTH)}) from None
