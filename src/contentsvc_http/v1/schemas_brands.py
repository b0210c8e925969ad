from typing import TypedDict, final

from contentsvc_core.content.brand import BrandBody
from contentsvc_core.workflows.jobs import BrandJobBody


@final
class BrandListBody(TypedDict):
    """All brand identities, oldest first."""

    brandIdentities: list[BrandBody]


@final
class OneBrandBody(TypedDict):
    """One brand identity."""

    brandIdentity: BrandBody


@final
class BrandRemovedBody(TypedDict):
    """The deleted brand identity, and the ids of the schedules and triggers that were disabled with it."""

    id: str
    disabledSchedules: list[str]
    disabledEvents: list[str]


@final
class BrandJobAnswer(TypedDict):
    """The current state of a job."""

    job: BrandJobBody
