"""Response schemas of integrations, for the OpenAPI document."""

from typing import TypedDict, final


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
class IntegrationListBody(TypedDict):
    """Connected repositories, by provider."""

    codehost: list[IntegrationBody]
    github: list[IntegrationBody]


@final
class WebhookBody(TypedDict):
    """The webhook at the code host, or the one that you have to create there."""

    url: str
    #: Null if contentsvc created the webhook at the code host.
    secret: str | None
    createdAtHost: bool


@final
class ConnectedCodehostBody(TypedDict):
    """The connected repository and its webhook."""

    codehost: IntegrationBody
    webhook: WebhookBody


@final
class ConnectedGithubBody(TypedDict):
    """The connected repository and its webhook."""

    github: IntegrationBody
    webhook: WebhookBody


@final
class IntegrationRemovedBody(TypedDict):
    """The deleted integration, and the ids of the schedules and triggers that were disabled with it."""

    id: str
    disabledSchedules: list[str]
    disabledEvents: list[str]
