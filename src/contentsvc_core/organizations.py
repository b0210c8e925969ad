"""Organizations and their integrations."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Protocol, final

from attrs import field, frozen

from contentsvc_core.content.house_style import HouseStyle

#: The plans' retention periods, in days (specification 8.2).
RETENTION_DAYS: Final = (7, 30)


def _a_plan(_organization: object, _attribute: object, value: int) -> None:
    if value not in RETENTION_DAYS:
        message = f"log retention is {' or '.join(map(str, RETENTION_DAYS))} days, by plan; not {value}"
        raise ValueError(message)


@final
@frozen(kw_only=True)
class Organization:
    """A tenant: everything else belongs to one, and is invisible to the others."""

    id: str
    #: The unique name in commands.
    slug: str
    name: str
    #: The retention period of webhook logs, in days, by plan (specification 8.2).
    retention_days: int = field(default=30, validator=_a_plan)
    #: ``None``: the defaults.
    house_style: HouseStyle | None = None
    created_at: datetime


@final
@frozen(kw_only=True)
class Repository:
    """A repository that is connected through an integration."""

    #: The code host's id; a renamed repository keeps its id.
    id: int
    #: ``owner/name`` when it was connected.
    full_name: str
    #: The branch that content is generated from on demand; pushes carry their own default branch.
    branch: str | None


@final
@frozen(kw_only=True)
class Integration:
    """A connection to a code host: an incoming address, its secret, and its repositories."""

    id: str
    organization_id: str
    #: The provider's slug.
    provider: str
    enabled: bool = True
    repositories: tuple[Repository, ...] = field(converter=tuple)
    created_at: datetime


@final
@frozen
class Disabled:
    """A trigger or a schedule that was disabled because a resource that it names was removed."""

    id: str
    #: For people; may be empty.
    name: str


class _Named(Protocol):
    """A trigger, a schedule, or a row of one."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


def _disabled(found: Iterable[_Named]) -> tuple[Disabled, ...]:
    return tuple(Disabled(each.id, each.name) for each in sorted(found, key=lambda each: each.id))


@final
@frozen(kw_only=True)
class Removed:
    """The triggers and schedules that were disabled with the removal of an integration or a brand identity."""

    #: The triggers that were enabled until then, in ascending order of their ids.
    disabled_events: tuple[Disabled, ...] = field(converter=_disabled)
    #: The schedules, in the same order.
    disabled_schedules: tuple[Disabled, ...] = field(converter=_disabled)


def removed_body(removed: Removed) -> dict[str, Any]:
    """Return the wire form: the ids of disabled triggers and schedules (decisions, ``/v1``)."""
    return {
        "disabledSchedules": [each.id for each in removed.disabled_schedules],
        "disabledEvents": [each.id for each in removed.disabled_events],
    }


def webhook_path(integration: Integration, repository_id: int) -> str:
    """Return the path of the webhook of a repository (specification 4.1)."""
    return f"/api/webhooks/{integration.provider}/{integration.organization_id}/{integration.id}/{repository_id}"


def webhook_url(base_url: str, integration: Integration, repository_id: int) -> str:
    """Return the whole address of the webhook; ``base_url`` has no trailing slash."""
    return f"{base_url}{webhook_path(integration, repository_id)}"
