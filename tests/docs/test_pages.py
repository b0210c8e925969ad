"""Statements of the documentation: links, commands, options, settings, dependencies, tests."""

import json
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import unquote

import attrs
import click
import pytest
from click.testing import CliRunner
from tests import postgres
from tests.docs.pages import (
    PAGES,
    ROOT,
    anchors,
    code,
    command_at,
    fences,
    leaves,
    name_of,
    options_of,
    read,
    rows,
    section,
    shell_lines,
    without_fences,
)

from contentsvc_cli.connect.connecting import TOKEN_VARIABLE
from contentsvc_cli.develop.send import send
from contentsvc_cli.main import main
from contentsvc_cli.servers import KEY_VARIABLE, SERVER_VARIABLE
from contentsvc_cli.terminal.output import ORGANIZATION_VARIABLE
from contentsvc_core import MAX_BODY, ports
from contentsvc_core.content.posts import MARKDOWN_LIMIT, PostBody
from contentsvc_core.lists.pagination import MAX_LIMIT
from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.testing import push_body
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.providers.native import MAX_COMMITS
from contentsvc_core.workflows.runs import MAX_ATTEMPTS
from contentsvc_http.settings import Settings, api_variable, variable

_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_TEST: Final = re.compile(r"(?:tests|campaigns)/[\w/]+\.py(?:::\w+)+")


def test_every_relative_link_leads_to_a_file_and_a_heading() -> None:
    for page in PAGES:
        for target in _LINK.findall(without_fences(page.read_text("utf-8"))):
            if target.startswith(("https://", "http://")):
                continue
            path, _, anchor = unquote(target).partition("#")
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), (name_of(page), target)
            assert there.is_relative_to(ROOT), (name_of(page), target)
            if anchor:
                assert anchor in _anchors(there), (name_of(page), target)


@cache
def _anchors(page: Path) -> set[str]:
    return set(anchors(page.read_text("utf-8")))


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = _LINK.findall(without_fences(page.read_text("utf-8")))
        found = ((page.parent / target.partition("#")[0]).resolve() for target in targets if "://" not in target)
        waiting += [path for path in found if path.suffix == ".md"]

    assert set(PAGES) <= reached


def test_every_command_that_is_shown_exists_with_its_options() -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text("utf-8")
        shown = [words for fence in fences(text, "sh") for words in shell_lines(fence.text)]
        inline = (span for span in code(without_fences(text)) if span.startswith("contentsvc "))
        for words in [*shown, *(words for span in inline for words in shell_lines(span))]:
            where = (name_of(page), words)
            if words[0] == "make":
                assert set(words[1:]) <= targets, where
                continue
            command, rest = command_at(words[1:])
            options = {word for word in rest if re.match(r"--?[a-z]", word)}
            assert options <= options_of(command) | {"--help", "-h"}, where
            # A group followed by other words has no such command; a span may name a whole group.
            assert not (isinstance(command, click.Group) and rest and not options), where


def test_the_command_line_page_shows_every_command_and_option() -> None:
    page = read("docs/cli.md")
    shared = page.partition("\n## ")[0]
    for name, command in leaves():
        text = section(page, f"### `{name}`")

        assert [words for fence in fences(text, "sh") for words in shell_lines(fence.text)], name
        # The beginning of the page explains the options that many commands share.
        for option in options_of(command):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", shared + text) or option == "-v", (name, option)


def test_the_command_line_page_shows_no_other_command() -> None:
    shown = re.findall(r"^### `(.+)`$", read("docs/cli.md"), re.MULTILINE)

    assert sorted(shown) == sorted(name for name, _ in leaves())


#: They need an object of a server; ``tests/drivers/test_brand_command.py`` runs these.
_NEEDS_A_BRAND: Final = {"brand list", "brand show", "brand edit", "brand delete"}
#: They need a post of a run; ``tests/drivers/test_post_command.py`` runs these.
_NEEDS_A_POST: Final = {
    *("post search", "post show", "post create", "post edit", "post versions", "post restore", "post bulk"),
    *("post publish", "post unpublish", "post delete"),
}
#: They need a code host, or another integration; ``tests/drivers/test_hooks.py`` runs these.
_NEEDS_A_CODE_HOST: Final = {"integration reconcile", "integration delete"}
#: They need a server, another repository, or completed runs.
_ALONE: Final = {"preview", "init", "serve", "mcp", "history", "send", "tail", "post list", "demo", "login", "listen"}
#: Readers subscribe on the public page; ``tests/drivers/test_subscriber_command.py`` runs these.
_NEEDS_A_READER: Final = {"subscriber list", "subscriber delete"}
#: It needs time between two mails; ``tests/drivers/test_endpoint_command.py`` runs it.
_NEEDS_TIME: Final = {"endpoint confirm"}
NOT_RUN: Final = _NEEDS_TIME | _NEEDS_A_READER | _ALONE | _NEEDS_A_BRAND | _NEEDS_A_POST | _NEEDS_A_CODE_HOST


def keys_of(value: Any) -> dict[str, list[str] | None]:
    """Return the keys of a body, and of the objects directly inside it."""
    body = cast("dict[str, Any]", value[0] if isinstance(value, list) else value)
    return {
        name: sorted(cast("dict[str, Any]", inner)) if isinstance(inner, dict) else None for name, inner in body.items()
    }


@pytest.mark.slow("runs each command of a page")
def test_the_json_on_the_command_line_page_has_the_keys_that_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = read("docs/cli.md")
    created: dict[str, str] = {}
    delivery = {"event": "push", "delivery": "d-1", "body": push_body("feat: turn the beam", repository_id=4242)}
    Path("history.jsonl").write_text(json.dumps(delivery), "utf-8")
    # In the page's order, that of a first use.
    names = [name for name in re.findall(r"^### `contentsvc (.+)`$", page, re.MULTILINE) if name not in NOT_RUN]
    for name in names:
        text = section(page, f"### `contentsvc {name}`")
        ((_, *words),) = [words for fence in fences(text, "sh") for words in shell_lines(fence.text)]
        for prefix, own in created.items():
            words = [own if word.startswith(prefix) else word for word in words]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, (words, done.output)
        printed = json.loads(done.stdout)
        (shown,) = fences(text, "json")
        assert keys_of(printed) == keys_of(json.loads(shown.text)), name
        values = list(cast("dict[str, Any]", printed).values()) if isinstance(printed, dict) else []
        for value in values:
            if isinstance(value, str) and (found := re.match(r"((?:int|trg|sch|csk|whe)_)[A-Za-z0-9-]+", value)):
                created[found[1]] = found[0]
        if name == "log list":
            created["log_"] = cast("list[dict[str, Any]]", printed)[0]["id"]
        if name == "context list":
            created["codehost:"] = cast("list[dict[str, Any]]", printed)[0]["customId"]
        if name == "run list":
            # The ids of runs have no prefix.
            created[json.loads(shown.text)[0]["id"]] = cast("list[dict[str, Any]]", printed)[0]["id"]

    assert len(names) == len(leaves()) - len(NOT_RUN)


def test_a_post_on_the_command_line_page_has_the_specified_fields() -> None:
    (shown,) = fences(section(read("docs/cli.md"), "### `contentsvc post list`"), "json")

    assert sorted(json.loads(shown.text)[0]) == sorted(PostBody.__struct_encode_fields__)


def test_the_documented_limits_equal_the_code() -> None:
    limits = dict(rows(section(read("docs/operations.md"), "## Limits")))

    assert limits["body of a delivery"] == f"{MAX_BODY // 1024**2} MiB"
    assert limits["commits in a push"] == f"{MAX_COMMITS:,}"
    assert limits["items in a page"] == str(MAX_LIMIT)
    assert limits["Markdown of a post"] == f"{MARKDOWN_LIMIT:,} characters"
    assert limits["attempts of a run"] == str(MAX_ATTEMPTS)


def test_the_metrics_page_has_every_outcome_of_an_attempt() -> None:
    shown = next(row[2] for row in rows(read("docs/operations.md")) if row[0] == "`contentsvc_webhook_attempts_total`")

    assert code(shown) == ["outcome", *(result.name.lower() for result in AttemptResult)]


def test_the_settings_page_has_every_setting_with_its_default() -> None:
    table = rows(section(read("docs/operations.md"), "## Settings"))
    shown = {code(row[0])[0]: (code(row[1]) or [""])[0] for row in table}

    def text(default: object) -> str:
        reveal = getattr(default, "get_secret_value", None)
        return str(default if reveal is None else reveal())

    plain = {variable(field.name): text(field.default) for field in attrs.fields(Settings) if field.name != "_api_urls"}
    assert shown == plain | {api_variable(provider.slug): provider.api_url for provider in PROVIDERS}
    for row in table:
        assert row[1] in {f"`{shown[code(row[0])[0]]}`", "empty"}


def test_every_variable_that_is_named_is_one() -> None:
    known = {variable(field.name) for field in attrs.fields(Settings)}
    # The provider of the page about new providers.
    known |= {api_variable(slug) for slug in (*(provider.slug for provider in PROVIDERS), "foundry")}
    known |= {str(option.envvar) for option in send.params if isinstance(option, click.Option) and option.envvar}
    known |= {postgres.VARIABLE, TOKEN_VARIABLE, KEY_VARIABLE, ORGANIZATION_VARIABLE, SERVER_VARIABLE}

    for page in PAGES:
        assert set(re.findall(r"\bCONTENTSVC_[A-Z_]*[A-Z]", page.read_text("utf-8"))) <= known, name_of(page)


def test_the_text_for_package_indexes_has_no_links() -> None:
    text = tomllib.loads(read("pyproject.toml"))["project"]["readme"]["text"]

    assert _LINK.findall(text) == []
    assert "://" not in text
    for fence in fences(text, "sh"):
        for words in shell_lines(fence.text):
            if words[0] == "contentsvc":
                assert not isinstance(command_at(words[1:])[0], click.Group), words


def requirement_names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~! ]", requirement)[0] for requirement in requirements}


@pytest.mark.parametrize(
    ("heading", "path"),
    [
        ("## At run time", ("project", "dependencies")),
        ("## For tests of services that use the core", ("project", "optional-dependencies", "testing")),
        ("## For PostgreSQL", ("project", "optional-dependencies", "postgresql")),
        ("## For traces", ("project", "optional-dependencies", "otel")),
        ("## For agents", ("project", "optional-dependencies", "mcp")),
        ("## For development", ("dependency-groups", "dev")),
    ],
)
def test_every_direct_dependency_has_its_reason(heading: str, path: tuple[str, ...]) -> None:
    found: Any = tomllib.loads(read("pyproject.toml"))
    for key in path:
        found = found[key]
    table = rows(section(read("docs/dependencies.md"), heading))

    assert sorted(code(row[0])[0] for row in table) == sorted(requirement_names(found))
    assert all(len(row) == 3 and all(row) for row in table)


def test_the_core_is_installed_with_versions_that_the_project_supports() -> None:
    required = tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]
    needed = [each for each in required if requirement_names([each]) & {"attrs", "cattrs", "msgspec"}]

    assert f"pip install {shlex.join(needed)}\n" in read("docs/library.md")


def test_every_test_that_is_named_exists() -> None:
    for page in PAGES:
        for named in _TEST.findall(page.read_text("utf-8")):
            file, _, name = named.partition("::")
            assert (ROOT / file).is_file(), named
            for depth, part in enumerate(name.split("::")):
                assert re.search(rf"^ {{{4 * depth}}}(?:async def|def|class) {part}\b", read(file), re.MULTILINE), named


def test_every_silent_point_names_its_choice_and_a_test() -> None:
    before, _, _ = read("docs/silent-points.md").partition("## Not pinned yet")
    table = rows(before)

    assert len(table) > 60
    for row in table:
        point, choice, pinned = row
        assert point, row
        assert choice, row
        assert _TEST.findall(pinned) == code(pinned), row


def test_the_table_of_ports_has_every_port() -> None:
    table = rows(section(read("docs/architecture.md"), "## Ports"))
    # A protocol of the module, which a class of another module implements.
    defined = {name for name in dir(ports) if getattr(getattr(ports, name), "_is_protocol", False)}

    assert {code(row[0])[0] for row in table} == defined
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for row in table:
        for implementation in code(row[2]):
            assert f"class {implementation}" in sources, implementation


def test_every_path_of_the_project_that_is_named_exists() -> None:
    for page in PAGES:
        added = {fence.title for fence in fences(page.read_text("utf-8"))}
        for span in code(without_fences(page.read_text("utf-8"))):
            if re.fullmatch(r"(?:src|tests|docs|benchmarks)/[\w./-]+", span) and span not in added:
                assert (ROOT / span).exists(), (name_of(page), span)


def test_every_module_that_is_named_by_the_end_of_its_path_exists() -> None:
    modules = [path.as_posix() for folder in ("src", "tests", "examples") for path in (ROOT / folder).rglob("*.py")]
    for page in PAGES:
        added = {str(fence.title) for fence in fences(page.read_text("utf-8"))}
        for span in code(without_fences(page.read_text("utf-8"))):
            if re.fullmatch(r"\w+(?:/\w+)+\.py", span) and not any(title.endswith(span) for title in added):
                ends = (f"/{span}", f"/contentsvc_{span}")
                assert any(module.endswith(ends) for module in modules), (name_of(page), span)


def test_every_decision_is_in_the_index() -> None:
    files = {path.name for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}

    assert set(_LINK.findall("\n".join(row[0] for row in rows(read("docs/decisions/README.md"))))) == files


def test_the_glossary_is_in_the_order_of_the_alphabet() -> None:
    words = re.findall(r"^\*\*(.+?)\*\*:", read("docs/glossary.md"), re.MULTILINE)

    assert len(words) > 40
    assert words == sorted(words, key=str.lower)
