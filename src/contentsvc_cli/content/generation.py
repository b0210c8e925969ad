from typing import TYPE_CHECKING, Any

import click

from contentsvc_cli.content.following import WAIT, check_completed, followed, followed_on_server
from contentsvc_cli.terminal.completing import connected_repository_ids
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, hint, show
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.usecases.generate import GenerationRequest
from contentsvc_core.workflows.jobs import generation_job_body

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api


@click.command()
@ORGANIZATION
@click.option(
    "--type",
    "content_type",
    required=True,
    type=click.Choice([kind.value for kind in ContentType]),
    help="Content type.",
)
@click.option(
    "--lookback",
    type=click.Choice([lookback.value for lookback in Lookback]),
    default=DEFAULT_LOOKBACK.value,
    show_default=True,
    help="Time window of the post.",
)
@click.option(
    "--repository-id",
    "repository_ids",
    multiple=True,
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    shell_complete=connected_repository_ids,
    help="Only this connected repository. Repeat for several.  [default: all]",
)
@click.option("--brand", metavar="ID", help="Brand identity of the post.  [default: the default brand identity]")
@WAIT
@JSON
def generate(
    organization: str,
    content_type: str,
    lookback: str,
    repository_ids: tuple[int, ...],
    brand: str | None,
    wait_s: float | None,
    *,
    as_json: bool,
) -> None:
    """Start writing a post about recent changes. A server that performs runs writes it."""

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        request = GenerationRequest(
            content_type=ContentType(content_type),
            lookback=Lookback(lookback),
            brand_identity_id=brand,
            repository_ids=repository_ids or None,
        )
        job = accepted(await app.generator.request(owner.id, request))
        return generation_job_body(await followed(app, job, wait_s))

    def remote(api: "Api") -> dict[str, Any]:
        body: dict[str, Any] = {"contentType": content_type, "lookbackWindow": lookback, "brandIdentityId": brand}
        if repository_ids:
            body["repositoryIds"] = list(map(str, repository_ids))
        return followed_on_server(api, "/v1/posts/generate", body, wait_s)

    job = with_app(work, busy=None, remote=remote)
    show(job, as_json=as_json)
    check_completed(job, wait_s)
    if job["postId"] is not None:
        hint(f"contentsvc post show {job['postId']}", as_json=as_json)
    elif wait_s is None:
        hint("contentsvc run list", as_json=as_json)
