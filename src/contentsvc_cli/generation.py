"""``generate``: a post about a stretch of time, on demand."""

import click

from contentsvc_cli.completing import connected_repository_ids
from contentsvc_cli.following import WAIT, check_completed, followed
from contentsvc_cli.output import JSON, ORGANIZATION, show
from contentsvc_cli.wiring import Desk, accepted, at_desk
from contentsvc_core.content.jobs import Job, generation_job_body
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.usecases.generate import GenerationRequest


@click.command()
@ORGANIZATION
@click.option(
    "--type",
    "content_type",
    required=True,
    type=click.Choice([kind.value for kind in ContentType]),
    help="What is written.",
)
@click.option(
    "--lookback",
    type=click.Choice([lookback.value for lookback in Lookback]),
    default=DEFAULT_LOOKBACK.value,
    show_default=True,
    help="How far back it reports.",
)
@click.option(
    "--repository-id",
    "repository_ids",
    multiple=True,
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    shell_complete=connected_repository_ids,
    help="A connected repository; may be repeated.  [default: every one]",
)
@click.option("--brand", metavar="ID", help="The brand identity that speaks.  [default: the default one]")
@WAIT
@JSON
def generate(  # one parameter an option
    organization: str,
    content_type: str,
    lookback: str,
    repository_ids: tuple[int, ...],
    brand: str | None,
    wait_s: float | None,
    *,
    as_json: bool,
) -> None:
    """Ask for a post about what has happened lately; a server that performs runs writes it."""

    async def work(desk: Desk) -> Job:
        owner = await desk.organization(organization)
        wanted = GenerationRequest(
            content_type=ContentType(content_type),
            lookback=Lookback(lookback),
            brand_identity_id=brand,
            repository_ids=repository_ids or None,
        )
        return await followed(desk, accepted(await desk.generator.request(owner.id, wanted)), wait_s)

    job = at_desk(work, busy=None)
    show(generation_job_body(job), as_json=as_json)
    check_completed(job, wait_s)
