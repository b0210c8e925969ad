"""Who uses the service, and what they have connected."""

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
    #: Unique; names it in commands.
    slug: str
    name: str
    #: How long webhook logs are kept, in days, by plan (specification 8.2).
    retention_days: int = field(default=30, validator=_a_plan)
    #: ``None``: the defaults hold.
    house_style: HouseStyle | None = None
    created_at: datetime


@final
@frozen(kw_only=True)
class Repository:
    """A repository that is connected through an integration."""

    #: The code host's id; it stays when the repository is renamed.
    id: int
    #: ``owner/name`` when it was connected.
    full_name: str
    #: The branch that content is generated from on demand; pushes carry their own default branch.
    branch: str | None


@final
@frozen(kw_only=True)
class Integration:
    """A connection to a code host: an address that receives, its secret, and its repositories."""

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
    """A trigger or a schedule that was disabled because something else was removed."""

    id: str
    #: For people; a trigger may have none: "".
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
    """What was disabled with an integration or a brand identity that was removed."""

    #: The triggers that were enabled until then, in ascending order of their ids.
    disabled_events: tuple[Disabled, ...] = field(converter=_disabled)
    #: The schedules, in the same order.
    disabled_schedules: tuple[Disabled, ...] = field(converter=_disabled)


def removed_body(removed: Removed) -> dict[str, Any]:
    """Return the wire form of what was disabled: ids (decisions, ``/v1``)."""
    return {
        "disabledSchedules": [each.id for each in removed.disabled_schedules],
        "disabledEvents": [each.id for each in removed.disabled_events],
    }


@final
@frozen(kw_only=True)
class TooMany:
    """Why something was not added: the organization has as many as it may have. Nothing was written."""

    #: What there are too many of, in the plural.
    what: str
    at_most: int

    @property
    def reason(self) -> str:
        """Return the sentence for people, with the number."""
        return f"An organization has at most {self.at_most} {self.what}"


def webhook_path(integration: Integration, repository_id: int) -> str:
    """Give the path that a code host sends a repository's deliveries to (specification 4.1)."""
    return f"/api/webhooks/{integration.provider}/{integration.organization_id}/{integration.id}/{repository_id}"


def webhook_url(base_url: str, integration: Integration, repository_id: int) -> str:
    """Give the whole address; ``base_url`` has no slash at its end."""
    return f"{base_url}{webhook_path(integration, repository_id)}"
