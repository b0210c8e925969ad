from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Protocol, Self, TypeVar, final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.values import Value
from contentsvc_core.zones import DEFAULT_ZONE

#: How long deliveries that are signed with the previous webhook secret are also accepted: by default, and at most, in
#: hours. A month is enough to change webhooks that were created by hand.
OVERLAP_HOURS: Final = 24
MAX_OVERLAP_HOURS: Final = 24 * 30
#: The age of missed deliveries that are requested again, in hours: by default what GitHub redelivers ("Redelivering
#: webhooks"), at most what GitLab does.
LOOK_BACK_HOURS: Final = 72
MAX_LOOK_BACK_HOURS: Final = 24 * 7
#: The plans' retention periods, in days (specification 8.2).
RETENTION_DAYS: Final = (7, 30)
#: The maximum length of the name of an organization or a key, in characters.
NAME_LENGTH: Final = 100


@final
class Organization(Value, frozen=True, kw_only=True):
    """A tenant: everything else belongs to one, and is invisible to the others."""

    id: str
    slug: str
    name: str
    #: The retention period of webhook logs, in days, by plan (specification 8.2).
    retention_days: int = 30
    #: ``None``: the defaults.
    house_style: HouseStyle | None = None
    #: The time zone of its schedules, and of the days and dates that people read.
    time_zone: ZoneInfo = DEFAULT_ZONE
    created_at: datetime

    def __post_init__(self) -> None:
        if self.retention_days not in RETENTION_DAYS:
            plans = " or ".join(map(str, RETENTION_DAYS))
            message = f"log retention is {plans} days, by plan; not {self.retention_days}"
            raise ValueError(message)


@final
class OrganizationBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An organization."""

    id: str
    slug: str
    name: str
    retention_days: Annotated[int, Meta(description="How long webhook logs are kept, in days.")]
    time_zone: Annotated[str, Meta(description="IANA name of the time zone of schedules and of days.")]
    created_at: str

    @classmethod
    def of(cls, organization: Organization) -> Self:
        return cls(
            id=organization.id,
            slug=organization.slug,
            name=organization.name,
            retention_days=organization.retention_days,
            time_zone=organization.time_zone.key,
            created_at=iso_ms(organization.created_at),
        )


class OrganizationSettings(Command, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH, description="Name, for people.")]
    time_zone: Annotated[str, Meta(max_length=100, description="IANA name of the time zone, such as Europe/Berlin.")]


@final
@changing(OrganizationSettings)
class ChangeOrganization(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


@final
class Repository(Value, frozen=True, kw_only=True):
    """A repository that is connected through an integration."""

    #: The code host's id; a renamed repository keeps its id.
    id: int
    #: ``owner/name`` when it was connected.
    full_name: str
    #: The branch that content is generated from on demand; pushes carry their own default branch.
    branch: str | None


@final
class Integration(Value, frozen=True, kw_only=True):
    """A connection to a code host: an incoming address, its secret, and its repositories."""

    id: str
    organization_id: str
    provider: str
    enabled: bool = True
    repositories: tuple[Repository, ...]
    created_at: datetime


def webhook_path(integration: Integration, repository_id: int) -> str:
    """Return the path of the webhook of a repository (specification 4.1)."""
    return f"/api/webhooks/{integration.provider}/{integration.organization_id}/{integration.id}/{repository_id}"


def webhook_url(base_url: str, integration: Integration, repository_id: int) -> str:
    return f"{base_url}{webhook_path(integration, repository_id)}"


class _Owned(Protocol):
    @property
    def organization_id(self) -> str: ...


_Due = TypeVar("_Due", bound=_Owned)


def within_shares(
    due: Iterable[_Due], *, per_organization: int, at_work: Mapping[str, int] | None = None
) -> list[_Due]:
    """Return the items whose organizations have a free place, in order; ``at_work`` counts the taken places."""
    used = Counter[str](at_work)
    chosen: list[_Due] = []
    for each in due:
        if used[each.organization_id] < per_organization:
            used[each.organization_id] += 1
            chosen.append(each)
    return chosen
