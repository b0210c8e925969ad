from typing import Any, Final, Self, TypedDict, final

from msgspec import Struct

from contentsvc_core.code_hosts import HostAnswer, HostRefusal
from contentsvc_core.organizations import Integration, Repository
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.connect import Connected
from contentsvc_core.usecases.reconcile import Missed, MissedEnd, Reconciled
from contentsvc_core.usecases.rotate import Rotated
from contentsvc_core.webhooks.providers import PROVIDERS


class IntegrationBody(TypedDict):
    """A connected repository."""

    id: str
    displayName: str
    owner: str
    repo: str
    defaultBranch: str | None
    repositoryId: str


def integration_body(integration: Integration, repository: Repository) -> IntegrationBody:
    owner, _, repo = repository.full_name.rpartition("/")
    return IntegrationBody(
        id=integration.id,
        displayName=repository.full_name,
        owner=owner,
        repo=repo,
        defaultBranch=repository.branch,
        repositoryId=str(repository.id),
    )


class WebhookBody(TypedDict):
    """The webhook at the code host, or the one that you have to create there."""

    url: str
    secret: str | None
    createdAtHost: bool


def webhook_body(connected: Connected) -> WebhookBody:
    return WebhookBody(
        url=connected.url,
        secret=None if connected.created_at_host else connected.secret,
        createdAtHost=connected.created_at_host,
    )


class IntegrationStateBody(TypedDict):
    """The state of an integration. A disabled integration refuses deliveries with 403."""

    id: str
    enabled: bool


class IntegrationSecretBody(TypedDict):
    """A rotated webhook secret."""

    id: str
    secret: str | None
    overlapUntil: str
    changedAtHost: bool
    hostError: str | None


def integration_secret_body(rotated: Rotated) -> IntegrationSecretBody:
    at_host = rotated.at_host
    is_changed = isinstance(at_host, HostAnswer)
    return IntegrationSecretBody(
        id=rotated.integration.id,
        secret=None if is_changed else rotated.secret,
        overlapUntil=iso_ms(rotated.overlap_until),
        changedAtHost=is_changed,
        hostError=at_host.reason if isinstance(at_host, HostRefusal) else None,
    )


class IntegrationRemovedBody(TypedDict):
    """The deleted integration, and the ids of the schedules and triggers that were disabled with it."""

    id: str
    disabledSchedules: list[str]
    disabledEvents: list[str]


@final
class MissedBody(Struct, rename="camel", frozen=True):
    """A delivery that failed at the code host, or that this service did not accept."""

    delivery_id: str
    repository: str
    event: str
    action: str | None
    status_code: int
    delivered_at: str
    result: MissedEnd
    error: str | None

    @classmethod
    def of(cls, missed: Missed) -> Self:
        attempt = missed.attempt
        return cls(
            delivery_id=attempt.delivery_id,
            repository=missed.repository,
            event=attempt.event,
            action=attempt.action,
            status_code=attempt.status_code,
            delivered_at=iso_ms(attempt.delivered_at),
            result=missed.end,
            error=None if missed.refusal is None else missed.refusal.reason,
        )


@final
class ReconciledBody(Struct, rename="camel", frozen=True):
    """The missed deliveries of an integration."""

    deliveries: list[MissedBody]
    complete: bool

    @classmethod
    def of(cls, reconciled: Reconciled) -> Self:
        return cls(deliveries=[MissedBody.of(missed) for missed in reconciled.missed], complete=reconciled.complete)


def _shape(name: str, description: str, fields: dict[str, object]) -> object:
    typed_dict: Any = TypedDict
    shape: Any = typed_dict(name, fields)
    shape.__doc__ = description
    return shape


IntegrationListBody: Final = _shape(
    "IntegrationListBody",
    "Connected repositories, by provider.",
    {provider.slug: list[IntegrationBody] for provider in PROVIDERS},
)


def connected_body(slug: str) -> object:
    return _shape(
        f"Connected{slug.title()}Body",
        "The connected repository and its webhook.",
        {slug: IntegrationBody, "webhook": WebhookBody},
    )
