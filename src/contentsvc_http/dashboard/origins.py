from collections.abc import Mapping
from typing import Any, Final, cast, final

import msgspec
from attrs import field, frozen

_SHOWN: Final = frozenset(
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
    values = metadata or {}
    return Origin(
        trigger_id=_text(values, "triggerId"),
        job_id=_text(values, "jobId"),
        schedule_id=_text(values, "scheduleId"),
        brand_id=_text(values, "brandIdentityId"),
        writer=_text(values, "writer"),
        repositories=_texts(values, "repositories"),
        event_types=_texts(values, "eventTypes"),
        delivery_ids=_texts(values, "deliveryIds"),
        warnings=_texts(values, "warnings"),
        more=[(name, msgspec.json.encode(value).decode()) for name, value in values.items() if name not in _SHOWN],
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value: object = values.get(name)
    return value if isinstance(value, str) else ""


def _texts(values: Mapping[str, Any], name: str) -> list[str]:
    value: object = values.get(name)
    return [text for text in cast("list[object]", value) if isinstance(text, str)] if isinstance(value, list) else []
