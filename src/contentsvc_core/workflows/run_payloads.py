from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.causes import Generation, SiteReading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cattrs import Converter

_KINDS: Final["Mapping[str, type[Generation | SiteReading]]"] = {
    Generation.kind: Generation,
    SiteReading.kind: SiteReading,
}
#: The kinds of requested causes; a store distinguishes them from events by these names.
REQUESTED_KINDS: Final = frozenset(_KINDS)


@cache
def _converter() -> "Converter":
    # Imported on first use: cattrs is slow to import.
    from cattrs import Converter  # noqa: PLC0415

    def moment(ms: Any, _type: Any) -> datetime:  # noqa: ANN401  # any JSON
        return from_ms(ms)

    converter = Converter()
    converter.register_unstructure_hook(datetime, to_ms)
    converter.register_structure_hook(datetime, moment)
    return converter


def payload_to_json(cause: Generation | SiteReading) -> str:
    return msgspec.json.encode(_converter().unstructure(cause)).decode()


def payload_from_json(kind: str, text: str | bytes) -> Generation | SiteReading:
    return _converter().structure(msgspec.json.decode(text), _KINDS[kind])
