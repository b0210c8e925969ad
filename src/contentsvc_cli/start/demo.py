import asyncio
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import click
import httpx
from attrs import define, field
from rich.console import Console
from rich.text import Text

from contentsvc_cli.develop.git import GitFailed
from contentsvc_cli.develop.recordings import RecordedDelivery, headers_for
from contentsvc_cli.develop.sending import DeliveryAnswer, client_for, send_recorded, send_request
from contentsvc_cli.start.demo_history import RELEASE, DemoHistory, history_of, release_without_notes, sample
from contentsvc_cli.start.local_server import LocalServer, free_port, start, stop, until_ready
from contentsvc_cli.start.sample import REPOSITORY, other_kinds
from contentsvc_cli.terminal.output import json_text, printable
from contentsvc_cli.terminal.waiting import ProgressDisplay, waiting
from contentsvc_cli.wiring import accepted, open_app, sign_in_link
from contentsvc_core.access.keys import Scope
from contentsvc_core.application import Application
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.changelog.release_notes import plain_line
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import LinkBody
from contentsvc_core.content.public.changes import ChangeChangelog
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.style_fields import AUDIENCE, Audience
from contentsvc_core.organizations import Organization, webhook_url
from contentsvc_core.ports import RunLists
from contentsvc_core.usecases.operate import Connection, IssuedKey
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_core.workflows.schedules import CreateSchedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http.settings import Settings

#: The maximum wait for the end of one more run, in seconds. A run takes milliseconds; the first one loads the writer.
_RUN_S: Final = 60.0
#: The maximum wait for a page, in seconds: the first one may load its part of the server on a busy machine.
_PAGE_S: Final = 60.0
#: The width of the output in a pipe, in columns: enough for a title and a line of a changelog.
_PIPE_WIDTH: Final = 110
#: The number of listed posts, and of the lines of one changelog: with the links, the output stays within 25 lines.
_TITLES: Final = 3
_CHANGELOG_LINES: Final = 9


@click.command()
@click.option(
    "--keep/--no-keep", "keeps", default=None, help="Keep the server running.  [default: on a terminal, not in a pipe]"
)
@click.option(
    "--repository",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="PATH",
    help="Use the history of a local git repository instead of the sample.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON; progress goes to standard error.")
def demo(*, keeps: bool | None, repository: Path | None, as_json: bool) -> None:
    """Start a local server, send it sample webhooks, and print a link to the public changelog.

    The demo uses a temporary folder and a free local port. The exit code is 0 if every delivery was answered as
    expected, every workflow run ended, and the pages are available.
    """
    keep = sys.stdout.isatty() if keeps is None else keeps
    try:
        history = sample(datetime.now(UTC)) if repository is None else history_of(repository)
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
    outcome = _DemoOutcome()
    # A terminated demo must not leave its server running.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    server = start(settings, folder, port, keep=keep)
    try:
        faults = asyncio.run(_perform(server, settings, folder, history, console, outcome))
        _print_links(console, outcome)
        if not keep:
            # Check the printed links: open each page and use the sign-in link.
            faults += _open_all(outcome.links)
    except BaseException:
        stop(server)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if keep:
        _print_next(console, _write_environment(settings, folder, outcome.key), server.pid)
    else:
        console.print(Text("The server has stopped. Keep it up with: contentsvc demo --keep"), soft_wrap=True)
        stop(server)
        shutil.rmtree(folder)
    if as_json:
        summary = {
            "answers": outcome.answers,
            "runs": outcome.runs,
            "post": outcome.post,
            "links": outcome.links,
            "faults": faults,
        }
        click.echo(json_text(summary, indent=2))
    if faults:
        raise click.ClickException("; ".join(faults))


def _write_environment(settings: Settings, folder: Path, key: str) -> Path:
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


def _print_links(console: Console, outcome: "_DemoOutcome") -> None:
    width = max(map(len, outcome.links), default=0)
    for name, url in outcome.links.items():
        # One line each, even on a narrow terminal, so that they can be clicked or copied.
        console.print(Text(f"{name:{width}}  {url}"), soft_wrap=True)


def _open_all(links: Mapping[str, str]) -> list[str]:
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=_PAGE_S) as browser:
        answers = {name: browser.get(url).status_code for name, url in links.items()}
    return [f"{name} was answered {status}" for name, status in answers.items() if status != httpx.codes.OK.value]


def _print_next(console: Console, environment: Path, pid: int) -> None:
    lines = (
        "The dashboard's link signs you in once, in a browser on this machine, within 10 minutes.",
        "Look there at the refused delivery (Logs), the drafts (Posts) and the weekly post (Schedules).",
        f"For commands such as 'contentsvc log list --organization acme', first: . {shlex.quote(str(environment))}",
        f"The server runs on; stop it, and remove its files, with: kill {pid}",
    )
    for line in lines:
        console.print(Text(line), soft_wrap=True)


@define
class _DemoOutcome:
    answers: dict[str, int] = field(factory=dict[str, int])
    runs: dict[str, int] = field(factory=dict[str, int])
    #: The issued API key. It is only valid for this demo.
    key: str = field(default="", repr=False)
    post: dict[str, object] | None = None
    links: dict[str, str] = field(factory=dict[str, str])


async def _perform(
    server: LocalServer,
    settings: Settings,
    folder: Path,
    history: DemoHistory,
    console: Console,
    outcome: _DemoOutcome,
) -> list[str]:
    with waiting("starting a server"):
        await until_ready(server, settings.base_url, folder)
    async with open_app(settings) as app:
        organization, key, connection = await _seed(app, history)
        outcome.key = key.key
        url = webhook_url(settings.base_url, connection.integration, history.repository_id)
        with waiting("sending") as shown:
            answers, faults = await _send_all(history, url, connection, shown)
        outcome.answers = dict(Counter(answer.kind for answer in answers))
        with waiting("waiting for the runs"):
            runs = await _until_ended(app.stores.run_lists, organization.id)
        outcome.runs = dict(Counter(run.status.value for run in runs))
        faults += [f"run {run.id} {run.status.value}: {run.error}" for run in runs if run.status.value not in _ENDED]
        posts = await _published(settings.base_url, key.key)
        port = int(settings.base_url.rpartition(":")[2])
        changelog = ChangelogLinks(base_url=settings.base_url, slug=organization.slug)
        outcome.links = {
            "Public changelog": changelog.home,
            "Dashboard": await sign_in_link(app, key.record, port),
            "Feed": changelog.atom,
        }
    outcome.post = next((post for post in posts if RELEASE in post["sourceMetadata"]["deliveryIds"]), None)
    _print_counts(console, history, answers, outcome.runs, posts)
    if outcome.post is not None:
        _print_changelog(console, str(outcome.post["markdown"]))
    return faults if outcome.post is not None else [*faults, "no post was written"]


async def _seed(app: Application, history: DemoHistory) -> tuple[Organization, IssuedKey, Connection]:
    organization = accepted(await app.operator.create_organization("Acme Lighthouses", slug="acme"))
    key = accepted(await app.operator.issue_key(organization, name="demo", scopes=tuple(Scope)))
    connection = accepted(
        await app.operator.connect(
            organization,
            full_name=history.repository,
            repository_id=history.repository_id,
            provider=DEFAULT_PROVIDER.slug,
            branch=history.branch,
        )
    )
    now = app.clock.now()
    brand = BrandIdentity(
        id=app.ids.new_id("brand_"),
        organization_id=organization.id,
        name="Acme Lighthouses",
        is_default=True,
        website_url="https://lighthouse.example",
        company_name="Acme Lighthouses",
        company_description="Lamps, horns and charts for harbours.",
        created_at=now,
        updated_at=now,
    )
    accepted(await app.stores.brands.add(brand))
    await app.stores.directory.set_house_style(organization.id, HouseStyle({AUDIENCE: Audience.PUBLIC.value}))
    repository_ids = [history.repository_id]
    create = app.trigger_editor.create
    accepted(
        await create(
            organization.id,
            CreateTrigger(
                repository_ids=repository_ids, event_types=_RELEASES, auto_publish=True, name="Changelog of releases"
            ),
        )
    )
    accepted(
        await create(
            organization.id,
            CreateTrigger(
                repository_ids=repository_ids,
                event_types=_RELEASES,
                output_type=ContentType.LINKEDIN_POST,
                name="LinkedIn drafts",
            ),
        )
    )
    accepted(
        await app.planner.create(
            organization.id,
            CreateSchedule(
                name="What was new this week",
                cron=Cron(frequency=Frequency.WEEKLY, hour=9, minute=0, day_of_week=1),
                repository_ids=repository_ids,
                output_type=ContentType.BLOG_POST,
            ),
        )
    )
    await app.changelog_editor.change(organization, ChangeChangelog(is_public=True))
    if history.repository == REPOSITORY:
        await _brand_changelog(app, organization)
    return organization, key, connection


async def _brand_changelog(app: Application, organization: Organization) -> None:
    await app.changelog_editor.change(organization, _IDENTITY)
    picture = files("contentsvc_cli").joinpath("lighthouse.png").read_bytes()
    for kind in (ImageKind.LOGO, ImageKind.ICON):
        await app.changelog_editor.set_image(await app.changelog_editor.first(organization), kind, picture)


_IDENTITY: Final = ChangeChangelog(
    title="Acme Lighthouses",
    description="What is new in lamps, horns and charts for harbours.",
    product_url="https://lighthouse.example",
    accent="#12456b",
    header_links=(LinkBody("Docs", "https://lighthouse.example/docs"),),
)
_RELEASES: Final = ("release",)
_ENDED: Final = frozenset({"completed", "skipped"})
#: The maximum number of runs that the demo waits for: its history starts some hundred.
_MOST_RUNS: Final = 10_000


async def _send_all(
    history: DemoHistory, url: str, connection: Connection, shown: ProgressDisplay
) -> tuple[list[DeliveryAnswer], list[str]]:
    secret = connection.secret
    faults: list[str] = []
    answers: list[DeliveryAnswer] = []
    answered = 0

    async def send(what: str, sent: Iterable[RecordedDelivery], expected: set[str]) -> None:
        for answer in await send_recorded(sent, url=url, secret=secret, on_answer=count):
            answers.append(answer)
            if answer.kind not in expected:
                faults.append(f"{what} {answer.delivery}: {answer.kind} ({answer.text})")

    def count(_: DeliveryAnswer) -> None:
        nonlocal answered
        answered += 1
        shown.count(answered)

    kinds = other_kinds(history.repository, history.repository_id, when=datetime.now(UTC))
    # A pre-release without changes would be the newest post.
    others = [delivery for delivery in kinds if b'"prereleased"' not in delivery.body]
    await send("history", history.deliveries, {"processed"})
    await send("release without notes", [release_without_notes(history)], {"processed"})
    await send("other kinds", others, {"filtered", "ignored", "pong"})
    await send("sent again", history.deliveries[-1:], {"duplicate"})
    tampered = await _send_tampered(history.deliveries[-1], url, secret)
    answers.append(tampered)
    if tampered.status != httpx.codes.UNAUTHORIZED.value:
        faults.append(f"a tampered delivery was answered {tampered.status}")
    return answers, faults


async def _send_tampered(delivery: RecordedDelivery, url: str, secret: str) -> DeliveryAnswer:
    headers = headers_for(delivery, DEFAULT_PROVIDER, secret)
    async with client_for(url, 1) as client:
        request = client.build_request("POST", url, content=delivery.body + b" ", headers=headers)
        return await send_request(client, request, (0, delivery), 0)


async def _until_ended(run_lists: RunLists, organization_id: str) -> Sequence[ListedRun]:
    fewest, deadline = _MOST_RUNS, 0.0
    while True:
        runs = await run_lists.runs(organization_id, limit=_MOST_RUNS)
        open_runs = sum(run.status.value in {"pending", "running"} for run in runs)
        if open_runs < fewest:
            fewest, deadline = open_runs, time.monotonic() + _RUN_S
        if not open_runs or time.monotonic() > deadline:
            return runs
        await asyncio.sleep(0.1)


async def _published(base_url: str, key: str) -> list[dict[str, Any]]:
    parameters = {"limit": 100, "status": "published"}
    async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=_PAGE_S) as client:
        response = await client.get("/v1/posts", params=parameters, headers={"Authorization": f"Bearer {key}"})
    posts: list[dict[str, Any]] = response.raise_for_status().json()["posts"]
    return sorted(posts, key=lambda post: post["sourceMetadata"]["occurredAt"], reverse=True)


def _print_counts(
    console: Console,
    history: DemoHistory,
    answers: Sequence[DeliveryAnswer],
    runs: dict[str, int],
    posts: Sequence[Mapping[str, Any]],
) -> None:
    kinds = Counter("forged and refused" if answer.kind == "error" else answer.kind for answer in answers)
    text = f"{len(posts)} published" if len(posts) <= _TITLES else f"{len(posts)} published, the newest"
    lines = (
        f"{len(answers)} deliveries of {history.repository} to a server on this machine:",
        f"  {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}",
        f"{sum(runs.values())} workflow runs: {', '.join(f'{count} {state}' for state, count in sorted(runs.items()))}",
        f"Posts about releases, {text}:",
    )
    for line in lines:
        console.print(Text(printable(line, console.file)), soft_wrap=True)
    for post in posts[:_TITLES]:
        line = f"  {post['sourceMetadata']['occurredAt'][:10]}  {post['title']}"
        console.print(Text(printable(line, console.file)), no_wrap=True, overflow="ellipsis")


def _print_changelog(console: Console, markdown: str) -> None:
    lines = [line for line in markdown.splitlines() if line.startswith(("## ", "- "))]
    shown = lines if len(lines) <= _CHANGELOG_LINES else lines[: _CHANGELOG_LINES - 1]
    console.print(Text("The changelog of the newest release:"))
    for line in shown:
        text = printable(plain_line(line.removeprefix("## "), _PIPE_WIDTH), console.file)
        style, indent = ("bold", 2) if line.startswith("## ") else ("", 4)
        console.print(Text(" " * indent + text, style=style), no_wrap=True, overflow="ellipsis")
    if len(shown) < len(lines):
        console.print(Text(f"    and {len(lines) - len(shown)} lines more"))
