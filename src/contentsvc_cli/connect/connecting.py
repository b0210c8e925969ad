import sys
from typing import Final
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from contentsvc_cli.connect.webhooks import CALLING
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, hint, show
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, full_name_in, is_loopback
from contentsvc_core.refusals import AT_HOST, Refusal
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, Provider
from contentsvc_http.v1.schemas_integrations import IntegrationBody, WebhookBody, integration_body, webhook_body

#: Variable of the token; an argument would be visible in process lists.
TOKEN_VARIABLE: Final = "CONTENTSVC_CODEHOST_TOKEN"  # noqa: S105  # its name


def _named(provider: Provider) -> str:
    return provider.slug if provider.name == provider.slug else f"{provider.slug} for {provider.name}"


@click.command()
@click.argument("repository", metavar="OWNER/REPO")
@ORGANIZATION
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    help="Repository id at the code host.  [default: looked up]",
)
@click.option(
    "--provider",
    type=click.Choice([provider.slug for provider in PROVIDERS]),
    default=DEFAULT_PROVIDER.slug,
    show_default=True,
    help=f"Provider: {', '.join(_named(provider) for provider in PROVIDERS)}.",
)
@click.option(
    "--branch",
    help="Default branch.  [default: looked up at the code host]",
)
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    metavar="TOKEN|-",
    help="Token to create the webhook with; '-' reads standard input. It is stored encrypted and never shown.",
)
@JSON
def connect(
    repository: str, organization: str, repository_id: int | None, provider: str, branch: str | None, token: str | None
) -> None:
    """Connect a repository.

    Without a token, this prints the webhook's URL and secret. Enter them at the code host. They are shown only once.
    """
    read, repository = _read_token(token), full_name_in(repository)

    async def work(app: Application) -> dict[str, object]:
        owner = await organization_named(app, organization)
        answered = await app.connector.connect(
            owner.id, full_name=repository, provider=provider, repository_id=repository_id, branch=branch, token=read
        )
        source = click.get_current_context().get_parameter_source("provider")
        if isinstance(answered, Refusal) and answered.kind in AT_HOST and source is ParameterSource.DEFAULT:
            fail(f"{answered.message()}; for a repository of another code host, add --provider, such as github")
        connected = accepted(answered)
        body = integration_body(connected.integration, connected.integration.repositories[0])
        return {"organizationId": owner.id, **_shown(body, webhook_body(connected))}

    def remote(api: Api) -> dict[str, object]:
        owner, _, name = repository.rpartition("/")
        body = {
            "owner": owner,
            "repo": name,
            "repositoryId": None if repository_id is None else str(repository_id),
            "branch": branch,
            "token": read,
        }
        answer = api.send("POST", f"/v1/integrations/{provider}", body)
        return _shown(answer[provider], answer["webhook"])

    connection_body = with_app(work, busy=CALLING, remote=remote)
    show(connection_body)
    hint("contentsvc trigger create --event release --repository-id", str(connection_body["repositoryId"]))
    if is_loopback(urlsplit(str(connection_body["webhookUrl"])).hostname or ""):
        warning = "The address above works on this machine alone; CONTENTSVC_BASE_URL sets another one."
        click.echo(warning, err=True)


def _shown(connected: IntegrationBody, webhook: WebhookBody) -> dict[str, object]:
    return {
        "integrationId": connected["id"],
        "repositoryId": connected["repositoryId"],
        "branch": connected["defaultBranch"],
        "webhookUrl": webhook["url"],
        "webhookSecret": webhook["secret"],
        "createdAtHost": webhook["createdAtHost"],
    }


def _read_token(option: str | None) -> str | None:
    if option != "-":
        return option
    token = sys.stdin.readline().strip()
    if not token:
        fail("there is no token on standard input")
    return token
