"""House style: the format of an organization's changelogs. An absent field has the default of the audience."""

from collections.abc import Mapping
from typing import Any, final

from attrs import field, frozen

from contentsvc_core.refusals import Refusal


@final
@frozen
class HouseStyle:
    fields: Mapping[str, Any] = field(hash=False)


def style_fault(refused: Refusal, path: str = "") -> str:
    """Return the reason of a refused house style; ``path`` is that of its object, such as ``houseStyle``."""
    return refused.message(".".join(part for part in (path, refused.field) if part) or "the house style")


def style_body(style: HouseStyle | None) -> dict[str, Any] | None:
    return None if style is None else dict(style.fields)


def merged_styles(organization: HouseStyle | None, override: HouseStyle | None) -> HouseStyle | None:
    """Return the house style of an organization with the fields of an override instead of its own."""
    if organization is None or override is None:
        return override or organization
    return HouseStyle({**organization.fields, **override.fields})
