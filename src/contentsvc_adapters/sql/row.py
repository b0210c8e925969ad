from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Row

from contentsvc_core.timestamps import from_ms, to_ms

AnyRow: TypeAlias = Row[*tuple[Any, ...]]


def json_of(value: object) -> str:
    return msgspec.json.encode(value).decode()


def optional_ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def optional_time(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)
