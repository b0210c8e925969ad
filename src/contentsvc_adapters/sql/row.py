from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Row

AnyRow: TypeAlias = Row[*tuple[Any, ...]]


def json_of(value: object) -> str:
    return msgspec.json.encode(value).decode()
