from collections.abc import Mapping
from typing import Any, Final

import click
from msgspec import to_builtins

from contentsvc_cli.content.following import WAIT, check_completed, followed, followed_on_server
from contentsvc_cli.terminal.completing import connected_repository_ids
from contentsvc_cli.terminal.options import given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, show
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.usecases.generate import GeneratePost
from contentsvc_core.workflows.jobs import GenerationJobBody

_NAMES: Final = {"content_type": "--type", "repository_ids": "--repository-id", "brand_identity_id": "--brand"}
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "repository_ids": {"shell_complete": connected_repository_ids},
    "brand_identity_id": {"metavar": "ID"},
}


@click.command()
@ORGANIZATION
@options(GeneratePost, _NAMES, _MORE, without=("repository_names", "include_commits", "include_releases"))
@WAIT
@JSON
def generate(organization: str, wait_s: float | None, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Start writing a post about recent changes. A server that performs runs writes it."""
    command = accepted(read_command(GeneratePost, given(fields)))

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        job = accepted(await app.generator.request(owner.id, command))
        return to_builtins(GenerationJobBody.of(await followed(app, job, wait_s)))

    def remote(api: Api) -> dict[str, Any]:
        named = ("contentType", "lookbackWindow", "brandIdentityId", "repositoryIds")
        body = {name: value for name, value in to_builtins(command).items() if name in named}
        return followed_on_server(api, "/v1/posts/generate", body, wait_s)

    job = with_app(work, busy=None, remote=remote)
    show(job)
    check_completed(job, wait_s)
    if job["postId"] is not None:
        hint("contentsvc post show", job["postId"])
    elif wait_s is None:
        hint("contentsvc run list")
