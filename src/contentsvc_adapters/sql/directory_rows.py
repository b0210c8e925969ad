from collections.abc import Iterable
from typing import Any

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.errors import UnreadableRow
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.zones import stored_zone


def organization_of(row: AnyRow) -> Organization:
    try:
        return read_row(Organization, row, house_style=style_of(row.house_style), time_zone=stored_zone(row.time_zone))
    except Exception as exc:
        # Any exception: a later version may have stored it.
        message = f"the organization '{row.slug}' cannot be read: {type(exc).__name__}: {exc}"
        raise UnreadableRow(message) from exc


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
    connected = (
        Repository(id=each.repository_id, full_name=each.full_name, branch=each.branch) for each in repositories
    )
    return read_row(Integration, row, repositories=tuple(connected))
