"""Mapping between rows and values of the directory and of API keys."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.sessions import Session
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.timestamps import from_ms, to_ms
from contentsvc_core.workflows.triggers import Trigger


def organization_of(row: AnyRow) -> Organization:
    """Return the organization of a row."""
    return Organization(
        id=row.id,
        slug=row.slug,
        name=row.name,
        retention_days=row.retention_days,
        house_style=style_of(row.house_style),
        created_at=from_ms(row.created_at),
    )


def style_column(style: HouseStyle | None) -> str | None:
    """Return the stored form of a house style."""
    return None if style is None else json_of(style_body(style))


def style_of(stored: str | None) -> HouseStyle | None:
    """Return a stored house style, which was checked before it was stored."""
    return None if stored is None else HouseStyle(msgspec.json.decode(stored))


def repository_rows(integration: Integration) -> list[dict[str, Any]]:
    """Return the rows of an integration's repositories."""
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
    """Return an integration with its repositories, which are in order."""
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


def trigger_row(trigger: Trigger) -> dict[str, Any]:
    """Return the row of a trigger."""
    return {
        "id": trigger.id,
        "organization_id": trigger.organization_id,
        "name": trigger.name,
        "source_type": trigger.source_type,
        "enabled": trigger.enabled,
        "repository_ids": json_of(trigger.repository_ids),
        "event_types": json_of(trigger.event_types),
        "output_type": trigger.output_type.value,
        "brand_identity_id": trigger.brand_identity_id,
        "auto_publish": trigger.auto_publish,
        "house_style": style_column(trigger.house_style),
        "created_at": to_ms(trigger.created_at),
    }


def trigger_of(row: AnyRow) -> Trigger:
    """Return the trigger of a row."""
    return Trigger(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        source_type=row.source_type,
        enabled=row.enabled,
        repository_ids=msgspec.json.decode(row.repository_ids),
        event_types=msgspec.json.decode(row.event_types),
        output_type=ContentType(row.output_type),
        brand_identity_id=row.brand_identity_id,
        auto_publish=row.auto_publish,
        house_style=style_of(row.house_style),
        created_at=from_ms(row.created_at),
    )


def key_row(key: ApiKey) -> dict[str, Any]:
    """Return the row of an API key."""
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
    """Return the API key of a row."""
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
    """Return the row of a session."""
    return {
        "digest": session.digest,
        "key_prefix": session.key_prefix,
        "created_at": to_ms(session.created_at),
        "expires_at": to_ms(session.expires_at),
    }


def session_of(row: AnyRow) -> Session:
    """Return the session of a row."""
    return Session(
        digest=row.digest,
        key_prefix=row.key_prefix,
        created_at=from_ms(row.created_at),
        expires_at=from_ms(row.expires_at),
    )


def _ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)


def _at(ms: int | None) -> datetime | None:
    return None if ms is None else from_ms(ms)
