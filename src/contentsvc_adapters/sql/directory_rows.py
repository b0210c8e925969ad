from collections.abc import Iterable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.sessions import Session
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.timestamps import from_ms, to_ms


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


def optional_ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def optional_time(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)


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
        "expires_at": optional_ms(key.expires_at),
        "revoked_at": optional_ms(key.revoked_at),
        "last_used_at": optional_ms(key.last_used_at),
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
        expires_at=optional_time(row.expires_at),
        revoked_at=optional_time(row.revoked_at),
        last_used_at=optional_time(row.last_used_at),
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
