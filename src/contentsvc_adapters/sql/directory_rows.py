from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

import attrs
import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.sessions import Session
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.filters import options_from_json, options_to_json
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import cron_body, cron_of
from contentsvc_core.workflows.triggers import Trigger


def organization_of(row: AnyRow) -> Organization:
    return Organization(
        id=row.id,
        slug=row.slug,
        name=row.name,
        retention_days=row.retention_days,
        house_style=style_of(row.house_style),
        time_zone=ZoneInfo(row.time_zone),
        created_at=from_ms(row.created_at),
    )


def style_column(style: HouseStyle | None) -> str | None:
    return None if style is None else json_of(style_body(style))


def style_of(stored: str | None) -> HouseStyle | None:
    return None if stored is None else HouseStyle(msgspec.json.decode(stored))


def repository_rows(integration: Integration) -> list[dict[str, Any]]:
    return [
        {
            "organization_id": integration.organization_id,
            "provider": integration.provider,
            "repository_id": repository.id,
            "integration_id": integration.id,
            "position": position,
            "full_name": repository.full_name,
            "name_key": repository.full_name.lower(),
            "branch": repository.branch,
        }
        for position, repository in enumerate(integration.repositories)
    ]


def integration_of(row: AnyRow, repositories: Iterable[AnyRow]) -> Integration:
    return Integration(
        id=row.id,
        organization_id=row.organization_id,
        provider=row.provider,
        enabled=row.enabled,
        repositories=tuple(
            Repository(id=each.repository_id, full_name=each.full_name, branch=each.branch) for each in repositories
        ),
        created_at=from_ms(row.created_at),
    )


def _ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def _at(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)


#: The fields that have another form in their columns, with the functions that store and read them.
_FORMS: Final[Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "repository_ids": (json_of, msgspec.json.decode),
    "event_types": (json_of, msgspec.json.decode),
    "output_type": (attrgetter("value"), ContentType),
    "lookback": (attrgetter("value"), Lookback),
    "house_style": (style_column, style_of),
    "options": (options_to_json, options_from_json),
    "cron": (lambda cron: json_of(cron_body(cron)), lambda stored: cron_of(msgspec.json.decode(stored))),
    "created_at": (to_ms, from_ms),
    "updated_at": (to_ms, from_ms),
    "due_at": (_ms, _at),
    "since": (_ms, _at),
    "last_slot": (_ms, _at),
}
_Stored = TypeVar("_Stored", Trigger, Schedule)


def row_of(found: Trigger | Schedule) -> dict[str, Any]:
    row = {each.name: getattr(found, each.name) for each in attrs.fields(type(found)) if each.init}
    return {name: _FORMS[name][0](value) if name in _FORMS else value for name, value in row.items()}


def read_row(kind: type[_Stored], row: AnyRow) -> _Stored:
    values: dict[str, Any] = {each.name: getattr(row, each.name) for each in attrs.fields(kind) if each.init}
    values |= {name: _FORMS[name][1](value) for name, value in values.items() if name in _FORMS}
    return kind(**values)


def key_row(key: ApiKey) -> dict[str, Any]:
    return {
        "prefix": key.prefix,
        "organization_id": key.organization_id,
        "name": key.name,
        "digest": key.digest,
        "scopes": json_of([scope.value for scope in key.scopes if scope is not Scope.ADMIN]),
        "may_issue": Scope.ADMIN in key.scopes,
        "created_at": to_ms(key.created_at),
        "issued_by": key.issued_by,
        "expires_at": _ms(key.expires_at),
        "revoked_at": _ms(key.revoked_at),
        "last_used_at": _ms(key.last_used_at),
    }


def key_of(row: AnyRow) -> ApiKey:
    return ApiKey(
        prefix=row.prefix,
        organization_id=row.organization_id,
        name=row.name,
        digest=row.digest,
        scopes=(*map(Scope, msgspec.json.decode(row.scopes)), *([Scope.ADMIN] if row.may_issue else [])),
        created_at=from_ms(row.created_at),
        issued_by=row.issued_by,
        expires_at=_at(row.expires_at),
        revoked_at=_at(row.revoked_at),
        last_used_at=_at(row.last_used_at),
    )


def session_row(session: Session) -> dict[str, Any]:
    return {
        "digest": session.digest,
        "key_prefix": session.key_prefix,
        "created_at": to_ms(session.created_at),
        "expires_at": to_ms(session.expires_at),
    }


def session_of(row: AnyRow) -> Session:
    return Session(
        digest=row.digest,
        key_prefix=row.key_prefix,
        created_at=from_ms(row.created_at),
        expires_at=from_ms(row.expires_at),
    )
