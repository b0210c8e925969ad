"""The shapes of answers about integrations, for the OpenAPI document."""

from typing import TypedDict, final


@final
class IntegrationBody(TypedDict):
    """A connected repository (decisions, ``/v1`` 'Integrations')."""

    id: str
    displayName: str
    owner: str
    repo: str
    defaultBranch: str | None
    #: The code host's id of the repository.
    repositoryId: str


@final
class IntegrationListBody(TypedDict):
    """The connected repositories, by provider."""

    codehost: list[IntegrationBody]
    github: list[IntegrationBody]


@final
class WebhookBody(TypedDict):
    """What the code host's webhook is, or has to become."""

    url: str
    #: Null when the webhook was created at the code host.
    secret: str | None
    createdAtHost: bool


@final
class ConnectedCodehostBody(TypedDict):
    """A repository that was connected."""

    codehost: IntegrationBody
    webhook: WebhookBody


@final
class ConnectedGithubBody(TypedDict):
    """A repository that was connected."""

    github: IntegrationBody
    webhook: WebhookBody


@final
class IntegrationRemovedBody(TypedDict):
    """An integration that is no more, and what was switched off with it."""

    id: str
    disabledSchedules: list[str]
    disabledEvents: list[str]
