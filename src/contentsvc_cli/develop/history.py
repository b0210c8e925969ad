import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

import click
import msgspec

from contentsvc_cli.develop.git import Checkout, GitFailed, NoRepository, Tag
from contentsvc_cli.develop.native_bodies import HostedRepository, push_body, release_body, stable_id
from contentsvc_cli.develop.recordings import RecordedDelivery, line_of
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.events.normalized import MAX_COMMITS, Commit
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_full_name
from contentsvc_core.text import one_line

#: The web address of a repository without a remote; the name is reserved (RFC 2606).
NO_HOST: Final = "https://codehost.example"
#: The namespace of delivery ids, so that equal histories have equal ids on every machine.
_DELIVERIES: Final = uuid5(NAMESPACE_URL, "https://codehost.example/deliveries")

_URL: Final = re.compile(
    r"(?P<scheme>https?|ssh|git|git\+ssh|git\+https)://(?:[^/]*@)?(?P<host>[A-Za-z0-9.-]+)(?::(?P<port>\d+))?/(?P<path>[\w./~-]+)",
    re.ASCII,
)
#: ``git@host:owner/name``, as in scp; a single letter before the colon is a drive.
_SCP: Final = re.compile(r"(?:[^/@:]*@)?(?P<host>[A-Za-z0-9.-]{2,}):(?!/)(?P<path>[\w./~-]+)", re.ASCII)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def hosted_repository(
    *, origin: str | None, folder: str, branch: str, full_name: str | None = None, repository_id: int | None = None
) -> HostedRepository:
    """Return a local repository as a code host would describe it.

    The name is ``full_name``, else that in the URL ``origin``, else that of the folder; the id is :func:`stable_id` of
    it.
    """
    hosted = _hosted_at(origin or "")
    if hosted is not None and full_name in (None, hosted[0]):
        name, html_url = hosted
    else:
        name = full_name or f"local/{_NOT_IN_NAMES.sub('-', folder)[:100].strip('.-') or 'repository'}"
        html_url = f"{NO_HOST}/{name}"
    return HostedRepository(
        id=repository_id or stable_id(name), full_name=name, default_branch=branch, html_url=html_url
    )


def deliveries(
    hosted: HostedRepository,
    pushes: Sequence[Sequence[str]],
    tags: Sequence[Tag],
    commits: Callable[[Iterator[str]], Iterator[Commit]],
) -> Iterator[RecordedDelivery]:
    """Yield a history as deliveries, oldest first. ``tags`` whose commits are in no push are omitted."""
    for event, of, body in bodies(hosted, pushes, tags, commits):
        # Deterministic ids: deliveries sent before are answered as duplicates.
        delivery = uuid5(_DELIVERIES, f"{hosted.full_name} {event} {of}")
        yield RecordedDelivery(event=event, delivery=str(delivery), body=body)


def bodies(
    hosted: HostedRepository,
    pushes: Sequence[Sequence[str]],
    tags: Sequence[Tag],
    commits: Callable[[Iterator[str]], Iterator[Commit]],
) -> Iterator[tuple[str, str, bytes]]:
    """Yield the deliveries' event type, commit id or tag, and body."""
    tagged: defaultdict[str, list[Tag]] = defaultdict(list)
    for tag in tags:
        tagged[tag.commit_id].append(tag)
    read = commits(chain.from_iterable(push[-MAX_COMMITS:] for push in pushes))
    for push in pushes:
        brought = tuple(islice(read, min(len(push), MAX_COMMITS)))
        head = brought[-1]
        yield "push", head.id, msgspec.json.encode(push_body(hosted, brought))
        for tag in chain.from_iterable(tagged[commit] for commit in push if commit in tagged):
            at = tag.created_at or head.timestamp
            body = release_body(hosted, tag=tag.name, notes=notes(tag), published_at=at)
            yield "release", tag.name, msgspec.json.encode(body)


def notes(tag: Tag) -> str | None:
    if tag.message is None:
        return None
    text = re.sub(r"^(?:release|version|tag)\b[\s:]*|[.!\s]+$", "", tag.message.strip(), flags=re.IGNORECASE)
    same = text.lower().removeprefix("v") == tag.name.rpartition("/")[2].lower().removeprefix("v")
    return None if same or text in ("", tag.name) else tag.message


def _hosted_at(url: str) -> tuple[str, str] | None:
    if (match := _URL.fullmatch(url)) is not None:
        # Only an https URL has the port of the web pages.
        port = f":{match['port']}" if match["scheme"] == "https" and match["port"] else ""
    elif (match := _SCP.fullmatch(url)) is not None:
        port = ""
    else:
        return None
    path = match["path"].strip("/").removesuffix(".git")
    name = "/".join(path.split("/")[-2:])
    # A host without a dot is an alias in an ssh configuration, or a local machine.
    host = match["host"].lower() if "." in match["host"] else None
    if not is_full_name(name):
        return None
    return name, f"https://{host}{port}/{path}" if host else f"{NO_HOST}/{name}"


def _full_name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_full_name(value):
        message = "use OWNER/NAME with ASCII letters, digits, '_', '.' and '-'"
        raise click.BadParameter(message)
    return value


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--repository",
    "full_name",
    metavar="OWNER/NAME",
    callback=_full_name,
    help="Repository name in the deliveries.  [default: from the remote 'origin', else local/<folder>]",
)
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    metavar="N",
    help="Repository id in the deliveries.  [default: the CRC-32 of its lower-case name]",
)
@click.option(
    "--branch",
    metavar="BRANCH",
    help="Branch to read; the default branch in the deliveries.  [default: the checked-out branch]",
)
@click.option("--json", "_as_json", is_flag=True, help="No effect: the output is always JSON.")
def history(
    path: Path, full_name: str | None, repository_id: int | None, branch: str | None, *, _as_json: bool
) -> None:
    """Print the history of the git repository at PATH as recorded deliveries, for 'contentsvc send'.

    Prints one JSON object a line, oldest first: a push for each commit of the branch's first-parent line (a merge
    includes the merged commits), and a published release for each tag, after the push that contains it. The delivery
    ids depend only on the repository's name, the commit and the tag, so sending them twice gives duplicates.

    PATH is the current folder by default. The repository is only read.
    """
    try:
        with waiting("reading the branch and its tags"):
            repository = Checkout(path)
            line = repository.line(branch)
            hosted = hosted_repository(
                origin=repository.origin(),
                folder=repository.folder_name,
                branch=line.branch,
                full_name=full_name,
                repository_id=repository_id,
            )
            pushes = repository.pushes(line.tip)
            tags = repository.tags()
        _print(deliveries(hosted, pushes, tags, repository.commits), pushes=len(pushes))
    except GitFailed as exc:
        more = ": name a checkout as in 'contentsvc history PATH'" if isinstance(exc, NoRepository) else ""
        raise click.ClickException(one_line(f"{exc}{more}", 1000)) from exc


def _print(deliveries: Iterator[RecordedDelivery], *, pushes: int) -> None:
    from rich.console import Console  # noqa: PLC0415  # other commands use this module, and print no bar
    from rich.progress import Progress  # noqa: PLC0415  # as above

    stdout = sys.stdout.buffer
    console = Console(stderr=True)
    # If the lines go to the same terminal, they would break the progress bar.
    with Progress(console=console, transient=True, disable=not console.is_terminal or stdout.isatty()) as progress:
        task = progress.add_task("Reading pushes", total=pushes)
        for delivery in deliveries:
            if stdout.isatty():
                _show(line_of(delivery))
            else:
                stdout.write(line_of(delivery))
            progress.advance(task, delivery.event == "push")
    stdout.flush()


def _show(line: bytes) -> None:
    from contentsvc_cli.terminal.output import say  # noqa: PLC0415  # a recording is written to a file, as a rule

    say(line.decode().removesuffix("\n"))
