"""``demo``: the main job, end to end, in a temporary folder, against a real server process."""

import asyncio
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, final

import click
import httpx
from attrs import define, field
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from contentsvc_cli.demo_history import RELEASE, SAMPLE, DemoHistory, history_of, release_without_notes
from contentsvc_cli.git import GitFailed
from contentsvc_cli.local_server import free_port, start, stop, until_ready
from contentsvc_cli.output import printable, show
from contentsvc_cli.recordings import RecordedDelivery, headers_for
from contentsvc_cli.sample import other_kinds
from contentsvc_cli.sending import Answer, send_recorded
from contentsvc_cli.waiting import Waiting, waiting
from contentsvc_cli.wiring import accepted, open_desk
from contentsvc_core.access.keys import Scope
from contentsvc_core.organizations import webhook_url
from contentsvc_core.ports import Insights
from contentsvc_core.usecases.operate import Connection
from contentsvc_core.webhooks.providers import CODEHOST
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_http.settings import Settings

_RUNS_S: Final = 30.0
#: The width of the output in a pipe, in columns: a title and a line of a changelog fit.
_PIPE_WIDTH: Final = 110
#: The longest post that is shown whole, in lines: with the frame and what stands around it, a terminal of 25 holds it.
_LINES: Final = 19


@click.command()
@click.option("--keep", is_flag=True, help="Leave the server up, and say where.")
@click.option(
    "--repository",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="PATH",
    help="Use the history of a local git repository instead of the sample.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print what came of it as JSON; the story goes to standard error."
)
def demo(*, keep: bool, repository: Path | None, as_json: bool) -> None:
    """Send a history as webhooks to a server on this machine, and show the changelog that comes out.

    Everything happens in a temporary folder, on a free port of this machine alone. Exit code 0 when every delivery was
    answered as it should be and every workflow run has ended.
    """
    try:
        history = SAMPLE if repository is None else history_of(repository)
    except GitFailed as failed:
        raise click.UsageError(str(failed)) from failed
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-demo-"))
    port = free_port()
    settings = Settings(
        database_url=f"sqlite+aiosqlite:///{folder / 'contentsvc.db'}",
        base_url=f"http://127.0.0.1:{port}",
        log_format="json",
    )
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, stderr=as_json)
    told = _Told()
    # Ended from outside, it must not leave the server behind.
    signal.signal(signal.SIGTERM, _give_up)
    server = start(settings, folder, port, keep=keep)
    try:
        faults = asyncio.run(_tell(settings, folder, history, console, told))
    except BaseException:
        stop(server)
        raise
    if keep:
        _print_next(console, settings, _write_environment(settings, folder, told.key), told.key, server.pid)
    else:
        console.print(Text("Look around in the dashboard, the log and the API: contentsvc demo --keep"), soft_wrap=True)
        stop(server)
        shutil.rmtree(folder)
    if as_json:
        show({"answers": told.answers, "runs": told.runs, "post": told.post, "faults": faults}, as_json=True)
    if faults:
        raise click.ClickException("; ".join(faults))


def _write_environment(settings: Settings, folder: Path, key: str) -> Path:
    """Write a file for a shell to source: what the commands need to work on the demo; return its path."""
    variables = {
        "CONTENTSVC_DATABASE_URL": settings.database_url,
        "CONTENTSVC_BASE_URL": settings.base_url,
        "CONTENTSVC_API_KEY": key,
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    programs = Path(sys.executable).parent
    if (programs / "contentsvc").exists():
        lines.append(f'export PATH={shlex.quote(str(programs))}:"$PATH"')
    environment = folder / "env"
    environment.write_text("\n".join([*lines, ""]), "utf-8")
    return environment


def _print_next(console: Console, settings: Settings, environment: Path, key: str, pid: int) -> None:
    port = settings.base_url.rpartition(":")[2]
    lines = (
        f"\nThe server is up at {settings.base_url} (process {pid}).",
        f"Open {settings.base_url}/dashboard and sign in with this key:",
        f"  {key}",
        "For the commands, source its settings first:",
        f"  . {shlex.quote(str(environment))}",
        "  contentsvc log list --organization acme",
        f"  contentsvc doctor --port {port}",
        "Stop it, which removes its files as well:",
        f"  kill {pid}",
    )
    for line in lines:
        # One line each, however narrow the terminal is: they are copied.
        console.print(Text(line), soft_wrap=True)


def _give_up(_number: int, _frame: object) -> NoReturn:
    sys.exit(1)


@final
@define
class _Told:
    """What a program may want to know of the story."""

    #: How many deliveries got which answer.
    answers: dict[str, int] = field(factory=dict[str, int])
    #: How many workflow runs ended how.
    runs: dict[str, int] = field(factory=dict[str, int])
    #: The key that was issued; the demo is gone, or is somebody's own.
    key: str = field(default="", repr=False)
    #: The post that is shown.
    post: dict[str, object] | None = None


async def _tell(settings: Settings, folder: Path, history: DemoHistory, console: Console, told: _Told) -> list[str]:
    """Run the demo; return what was not as it should be."""
    with waiting("starting a server"):
        await until_ready(settings.base_url, folder)
    async with open_desk(settings) as desk:
        organization = accepted(await desk.operator.create_organization("Acme", slug="acme"))
        key = accepted(await desk.operator.issue_key(organization, name="demo", scopes=tuple(Scope)))
        told.key = key.key
        connection = accepted(
            await desk.operator.connect(
                organization,
                full_name=history.repository,
                repository_id=history.repository_id,
                provider="codehost",
                branch=history.branch,
            )
        )
        url = webhook_url(settings.base_url, connection.integration, history.repository_id)
        accepted(
            await desk.triggers.create(
                organization.id, repository_ids=[history.repository_id], auto_publish=True, name="changelog"
            )
        )
        with waiting("sending") as shown:
            answers, faults = await _send_all(history, url, connection, shown)
        told.answers = dict(Counter(answer.kind for answer in answers))
        with waiting("waiting for the runs"):
            runs = await _until_ended(desk.stores.insights, organization.id)
        told.runs = dict(Counter(run.status.value for run in runs))
        faults += [f"run {run.id} {run.status.value}: {run.error}" for run in runs if run.status.value not in _ENDED]
        _print_counts(console, history, answers, told.runs)
        told.post = await _release_post(settings.base_url, key.key)
    if told.post is None:
        return [*faults, "no post was written"]
    _print_post(console, told.post)
    return faults


_ENDED: Final = frozenset({"completed", "skipped"})
#: Runs that the demo waits for at most: its history starts some hundred.
_MOST_RUNS: Final = 10_000


async def _send_all(
    history: DemoHistory, url: str, connection: Connection, shown: Waiting
) -> tuple[list[Answer], list[str]]:
    """Send the history and everything else; return the answers, and those that are not as they should be."""
    secret = connection.secret
    faults: list[str] = []
    answers: list[Answer] = []
    answered = 0

    async def send(what: str, sent: Iterable[RecordedDelivery], expected: set[str]) -> None:
        for answer in await send_recorded(sent, url=url, secret=secret, on_answer=count):
            answers.append(answer)
            if answer.kind not in expected:
                faults.append(f"{what} {answer.delivery}: {answer.kind} ({answer.text})")

    def count(_: Answer) -> None:
        nonlocal answered
        answered += 1
        shown.count(answered)

    others = other_kinds(history.repository, history.repository_id)
    await send("history", history.deliveries, {"processed"})
    await send("release without notes", [release_without_notes(history)], {"processed"})
    await send("other kinds", others, {"processed", "filtered", "ignored", "pong"})
    await send("sent again", history.deliveries[-1:], {"duplicate"})
    tampered = await _send_tampered(history.deliveries[-1], url, secret)
    answers.append(tampered)
    if tampered.status != httpx.codes.UNAUTHORIZED.value:
        faults.append(f"a tampered delivery was answered {tampered.status}")
    return answers, faults


async def _send_tampered(delivery: RecordedDelivery, url: str, secret: str) -> Answer:
    """Sign a delivery, change its body on the way, and send it."""
    headers = headers_for(delivery, CODEHOST, secret)
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(url, content=delivery.body + b" ", headers=headers)
    return Answer(
        position=0,
        event=delivery.event,
        delivery=delivery.delivery,
        status=response.status_code,
        kind="error",
        text=response.text,
        ms=0.0,
        retries=0,
    )


async def _until_ended(insights: Insights, organization_id: str) -> Sequence[ListedRun]:
    deadline = time.monotonic() + _RUNS_S
    while True:
        runs = await insights.runs(organization_id, limit=_MOST_RUNS)
        open_runs = [run for run in runs if run.status.value in {"pending", "running"}]
        if not open_runs or time.monotonic() > deadline:
            return runs
        await asyncio.sleep(0.1)


async def _release_post(base_url: str, key: str) -> dict[str, object] | None:
    """Return the post of the release that the demo made, as the API has it."""
    async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
        response = await client.get("/v1/posts", params={"limit": 100}, headers={"Authorization": f"Bearer {key}"})
    posts: list[dict[str, Any]] = response.raise_for_status().json()["posts"]
    return next((post for post in posts if RELEASE in post["sourceMetadata"]["deliveryIds"]), None)


def _print_counts(console: Console, history: DemoHistory, answers: Sequence[Answer], runs: dict[str, int]) -> None:
    """Print what was sent and what came of it."""
    kinds = Counter("refused (401)" if answer.kind == "error" else answer.kind for answer in answers)
    lines = (
        f"{len(answers)} deliveries of {history.repository} to a server on this machine:",
        f"  {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}",
        f"{sum(runs.values())} workflow runs: {', '.join(f'{count} {each}' for each, count in sorted(runs.items()))}",
    )
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _print_post(console: Console, post: Mapping[str, object]) -> None:
    """Print a post in a frame, as far as it fits into a terminal."""
    text = printable(str(post["markdown"]), console.file)
    rendered = console.render_lines(Markdown(text), console.options.update_width(console.width - 4))
    shown = rendered if len(rendered) <= _LINES else rendered[: _LINES - 1]
    body = Text("\n").join(Text.assemble(*((each.text, each.style or "") for each in line)) for line in shown)
    hidden = len(rendered) - len(shown)
    console.print(
        Panel(body, title=Text(str(post["title"])), subtitle=Text(f"and {hidden} more lines") if hidden else None)
    )
