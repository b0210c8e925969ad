from typing import Any, Final, TypedDict, final

from contentsvc_core.webhooks.providers import PROVIDERS


@final
class IntegrationBody(TypedDict):
    """A connected repository."""

    id: str
    displayName: str
    owner: str
    repo: str
    defaultBranch: str | None
    #: Id of the repository at the code host.
    repositoryId: str


@final
class WebhookBody(TypedDict):
    """The webhook at the code host, or the one that you have to create there."""

    url: str
    #: Null if contentsvc created the webhook at the code host.
    secret: str | None
    createdAtHost: bool


@final
class IntegrationStateBody(TypedDict):
    """The state of an integration. A disabled integration refuses deliveries with 403."""

    id: str
    enabled: bool


@final
class IntegrationSecretBody(TypedDict):
    """A rotated webhook secret."""

    id: str
    #: The new secret, shown only once. Null if contentsvc has set it at the code host.
    secret: str | None
    #: Until then, deliveries signed with the previous secret are accepted, too.
    overlapUntil: str
    changedAtHost: bool
    #: Why the code host refused the new secret: enter it there yourself. Null if it did not refuse.
    hostError: str | None


@final
class IntegrationRemovedBody(TypedDict):
    """The deleted integration, and the ids of the schedules and triggers that were disabled with it."""

    id: str
    disabledSchedules: list[str]
    disabledEvents: list[str]


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
