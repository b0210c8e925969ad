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


#: Connected repositories, by provider.
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
