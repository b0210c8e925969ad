"""Who uses the service, and what they have connected."""

from datetime import datetime
from typing import final

from attrs import field, frozen

from contentsvc_core.journal import RETENTION_DAYS


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
