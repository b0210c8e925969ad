"""The source of a post, read from its metadata."""

from collections.abc import Mapping
from typing import Any, Final, cast, final

import msgspec
from attrs import field, frozen

_TOLD: Final = frozenset(
    {
        *("triggerId", "jobId", "scheduleId", "runId", "repositories", "deliveryIds", "eventTypes", "writer"),
        *("brandIdentityId", "occurredAt", "warnings"),
    }
)


@final
@frozen(kw_only=True)
class Origin:
    trigger_id: str = ""
    job_id: str = ""
    schedule_id: str = ""
    brand_id: str = ""
    writer: str = ""
    repositories: tuple[str, ...] = field(converter=tuple, default=())
    event_types: tuple[str, ...] = field(converter=tuple, default=())
    delivery_ids: tuple[str, ...] = field(converter=tuple, default=())
    warnings: tuple[str, ...] = field(converter=tuple, default=())
    more: tuple[tuple[str, str], ...] = field(converter=tuple, default=())


def read_origin(metadata: Mapping[str, Any] | None) -> Origin:
    """Read a post's source metadata, which older versions may have written in other forms."""
    given = metadata or {}
    return Origin(
        trigger_id=_text(given, "triggerId"),
        job_id=_text(given, "jobId"),
        schedule_id=_text(given, "scheduleId"),
        brand_id=_text(given, "brandIdentityId"),
        writer=_text(given, "writer"),
        repositories=_texts(given, "repositories"),
        event_types=_texts(given, "eventTypes"),
        delivery_ids=_texts(given, "deliveryIds"),
        warnings=_texts(given, "warnings"),
        more=[(name, msgspec.json.encode(value).decode()) for name, value in given.items() if name not in _TOLD],
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value: object = given.get(name)
    return value if isinstance(value, str) else ""


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    value: object = given.get(name)
    return [each for each in cast("list[object]", value) if isinstance(each, str)] if isinstance(value, list) else []
