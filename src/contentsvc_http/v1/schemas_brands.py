from typing import Literal, TypedDict, final

from contentsvc_core.content.brand import BrandBody


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
class BrandJobBody(TypedDict):
    """A job that makes a brand identity."""

    id: str
    organizationId: str
    status: Literal["queued", "running", "completed", "failed", "skipped"]
    name: str | None
    websiteUrl: str
    step: Literal["scraping", "extracting", "saving"]
    currentStep: int
    totalSteps: int
    brandIdentityId: str | None
    error: str | None
    createdAt: str
    updatedAt: str
    completedAt: str | None


@final
class BrandJobAnswer(TypedDict):
    """The current state of a job."""

    job: BrandJobBody
