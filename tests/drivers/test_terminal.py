"""Output on a real terminal: whole secrets and ids, fitting tables, and no foreign escape sequences."""

import hashlib
import json
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from tests.drivers.commands import perform
from tests.server_process import Installation
from tests.terminal import on_terminal

from contentsvc_cli.main import main
from contentsvc_cli.terminal.grid import Grid
from contentsvc_core.testing import push_body

HOSTILE = "lamp \x1b]0;pwn\x07 \u202eon\u2066 \x9b31m end"
VISIBLE = r"lamp \x1b]0;pwn\x07 \u202eon\u2066 \x9b31m end"


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An organization with a trigger, and a post about a push whose message has control characters."""
    folder = tmp_path_factory.mktemp("acme")
    installation = Installation(folder)
    environment = installation.environment

    def command(*arguments: str, stdin: str | None = None) -> Any:
        done = CliRunner(env=environment).invoke(main, [*arguments, "--json"], input=stdin)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    command("organization", "create", "Acme")
    created = command("integration", "connect", "acme/lamp", "--organization", "acme", "--repository-id", "4242")
    command(
        "trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242", "--name", "changelog"
    )
    lines = [{"event": "push", "delivery": "0d5f-1", "body": push_body(f"feat: {HOSTILE}", repository_id=4242)}]
    (folder / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command("receive", str(folder / "x.jsonl"), "--integration", created["integrationId"])

    perform(f"sqlite:///{installation.database}")
    (post,) = command("post", "list", "--organization", "acme")
    command("post", "edit", post["id"], "--markdown", "-", stdin=f"# A lamp\n\n\t{HOSTILE}\n")
    return installation


def records(shown: str) -> dict[str, str]:
    """Read the fields of a record from the output of a command."""
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in shown.splitlines())}


@pytest.mark.slow("starts a command on a terminal")
@pytest.mark.parametrize("width", [40, 60, 80])
def test_secrets_that_are_shown_once_are_whole_at_any_width(acme: Installation, width: int) -> None:
    connected = records(
        on_terminal(
            width,
            *("integration", "connect", f"acme/app{width}", "--organization", "acme", "--repository-id", str(width)),
            environment=acme.environment,
        )
    )
    issued = records(on_terminal(width, "key", "issue", "--organization", "acme", environment=acme.environment))

    (of_key,) = acme.rows("SELECT digest FROM api_keys WHERE prefix = ?", issued["prefix"])
    assert hashlib.sha256(issued["key"].encode()).hexdigest() == of_key["digest"]
    assert connected["webhookUrl"].endswith(f"/{connected['organizationId']}/{connected['integrationId']}/{width}")
    assert len(connected["webhookSecret"]) == len("whsec_") + 40


@pytest.mark.slow("starts a command on a terminal")
@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(
    "listed",
    [
        *(("log", "list"), ("run", "list"), ("post", "list"), ("integration", "list"), ("trigger", "list")),
        *(("key", "list"), ("context", "list"), ("context", "search", "lamp")),
    ],
    ids=" ".join,
)
def test_a_list_fits_the_terminal_and_its_ids_can_be_used(
    acme: Installation, listed: tuple[str, ...], width: int
) -> None:
    done = CliRunner(env=acme.environment).invoke(main, [*listed, "--json"])
    rows = json.loads(done.stdout)
    if listed[0] == "context":
        # A narrower terminal breaks the lines of custom ids.
        width = max(width, 60)

    lines = on_terminal(width, *listed, environment=acme.environment).splitlines()

    # A custom id is complete, on a line of its own.
    assert not [line for line in lines if len(line) > width and not line.startswith("  customId")]
    assert not {character for line in lines for character in line if not character.isprintable()}
    words = {word for line in lines for word in line.split()}
    assert {row["status"] for row in rows if "status" in row} <= words
    for row in rows:
        id_ = row.get("id") or row.get("customId") or row["prefix"]
        (shown,) = {word for word in words if id_.startswith(word) and len(word) > len("csk_00000")}
        if "id" in row:
            read = CliRunner(env=acme.environment).invoke(main, [listed[0], "show", shown, "--json"])
            assert json.loads(read.stdout)["id"] == id_


@pytest.mark.slow("starts a command on a terminal")
def test_a_wide_list_has_all_columns_and_whole_ids(acme: Installation) -> None:
    (run,) = json.loads(CliRunner(env=acme.environment).invoke(main, ["run", "list", "--json"]).stdout)

    head, row = on_terminal(60, "run", "list", "--wide", environment=acme.environment).splitlines()

    assert "deliveryId" in head.split()
    assert {run["id"], run["postId"], "0d5f-1"} <= set(row.split())


@pytest.mark.slow("starts a command on a terminal")
def test_the_next_command_is_named_on_a_terminal_alone(acme: Installation) -> None:
    command = ("endpoint", "create", "https://acme.example/hook")

    shown = on_terminal(80, *command, environment=acme.environment)
    piped = CliRunner(env=acme.environment).invoke(main, command)

    assert shown.splitlines()[-1].startswith("next: contentsvc endpoint test whe_")
    assert (piped.exit_code, piped.stderr) == (0, "")
    assert "next:" not in on_terminal(80, *command, "--json", environment=acme.environment)


@pytest.mark.slow("starts a command on a terminal")
@pytest.mark.parametrize("shown", ["post", "context"])
def test_a_terminal_gets_no_escape_of_a_tenants_and_a_pipe_the_exact_text(acme: Installation, shown: str) -> None:
    (post,) = acme.rows("SELECT id FROM posts")
    (record,) = acme.rows("SELECT custom_id AS id FROM context_records")
    of = {"post": [post["id"]], "context": [record["id"], "--organization", "acme"]}
    command = (shown, "show", *of[shown])

    screen = on_terminal(80, *command, environment=acme.environment)

    # A record's text is JSON, which escapes some control characters.
    assert (VISIBLE if shown == "post" else r"\u202eon\u2066 \x9b31m end") in screen
    assert {each for each in screen if not each.isprintable()} <= {"\n", "\t"}
    assert HOSTILE[-13:] in CliRunner(env=acme.environment).invoke(main, command).stdout


@pytest.mark.slow("starts a command on a terminal")
def test_an_error_that_repeats_a_text_has_no_escapes_on_a_terminal(acme: Installation) -> None:
    shown = on_terminal(80, "post", "show", HOSTILE, environment=acme.environment, code=1)

    assert shown == f"Error: there is no post '{VISIBLE}'\n"


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=60)


@settings(max_examples=40)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=3), st.integers(40, 200))
def test_a_table_fits_any_terminal_and_cuts_no_id(found: list[tuple[str, ...]], width: int) -> None:
    columns = ("state", "id", "title", "otherId")
    rows = [
        dict(zip(columns, (state[:9], id_, f"a {title}", other), strict=True)) for state, id_, title, other in found
    ]
    grid = Grid([{column: Text(text) for column, text in row.items()} for row in rows], columns)

    grid.fit(width, ["state"])

    lines = list(grid.lines())
    beneath = [parts for parts in lines if len(parts) == 2 and parts[0].plain.strip() in {"id", "otherId"}]
    for parts in lines:
        assert parts in beneath or sum(part.cell_len for part in parts) + 2 * (len(parts) - 1) <= width
    shown = {part.plain.rstrip() for parts in lines for part in parts}
    for column in ("id", "otherId"):
        if max(cell_len(row[column]) for row in rows) > 24:
            assert {row[column] for row in rows} - {""} <= shown
