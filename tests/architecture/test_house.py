"""Rules of the code base that no linter checks."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import cast

import grimp
import pytest
from tests.contracts.choose import LISTS

import contentsvc_core
from contentsvc_core.content.changelog.tables import Table
from contentsvc_core.on_demand import late
from contentsvc_core.testing import BRANDS, KEYS, POSTS, RUNS, TRIGGERS

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PACKAGES = ("contentsvc_core", "contentsvc_adapters", "contentsvc_mcp", "contentsvc_http", "contentsvc_cli")


def test_drivers_name_adapters_in_their_wiring_alone() -> None:
    graph = grimp.build_graph(*PACKAGES)
    importers = {
        importer
        for module in graph.modules
        if module.split(".")[0] == "contentsvc_adapters"
        for importer in graph.find_modules_that_directly_import(module)
        if importer.split(".")[0] in {"contentsvc_mcp", "contentsvc_http", "contentsvc_cli"}
    }

    assert {re.sub(r"\.wiring\..*", ".wiring", name) for name in importers} == {
        "contentsvc_http.wiring",
        "contentsvc_cli.wiring",
    }


def test_only_admit_makes_a_verified_delivery() -> None:
    makers = {
        path.relative_to(ROOT / "src").as_posix()
        for path in SOURCES
        # Parsing all of them takes a second.
        if "VerifiedDelivery(" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "VerifiedDelivery"
    }

    assert makers == {"contentsvc_core/webhooks/decision.py"}


@pytest.mark.parametrize(
    ("names", "spared"),
    [
        ("*", {"asyncio", "cattrs", "hypothesis", "litestar", "logging", "sqlalchemy"}),
        # A service that only receives does not pay for the writer.
        ("Receiver, Trigger, admit, answer, decide, settlement", {"contentsvc_core.content.changelog.writer"}),
    ],
)
def test_importing_the_core_imports_no_framework_and_no_event_loop(names: str, spared: set[str]) -> None:
    code = f"from contentsvc_core import {names}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "contentsvc_core" in loaded
    assert not spared & set(loaded)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package: str) -> None:
    assert (ROOT / "src" / package / "py.typed").is_file()


def test_no_module_is_longer_than_its_ceiling() -> None:
    longest = max((len(path.read_text("utf-8").splitlines()), path.name) for path in SOURCES)

    assert longest[0] <= 400, longest


def test_every_constant_that_a_docstring_names_exists() -> None:
    texts = "\n".join(path.read_text("utf-8") for path in SOURCES)
    used = set(re.findall(r"\w+", re.sub(r"``\w+``", "", texts)))

    assert {name for name in re.findall(r"``([A-Z]+_[A-Z_]+)``", texts) if name not in used} == set()


def test_a_converter_of_the_core_names_the_type_of_its_items() -> None:
    # mypy refuses every argument of a converter whose type is generic, such as `tuple`.
    bare = re.compile(r"converter=(?:tuple|list|frozenset|set|dict)\b(?!\[)")

    assert [path for path in SOURCES if "contentsvc_core" in path.parts and bare.search(path.read_text("utf-8"))] == []


def test_modules_are_named_for_their_subject() -> None:
    kinds = re.compile(r"(utils?|helpers?|common|misc|models|services|managers?|handlers?)\.py")

    assert [path for path in SOURCES if kinds.fullmatch(path.name)] == []


@pytest.mark.parametrize(("name", "least"), [("requirements.lock", 30), ("requirements-build.lock", 1)])
def test_the_lock_pins_hashes_and_names_no_address(name: str, least: int) -> None:
    lock = (ROOT / name).read_text("utf-8")
    pins = re.findall(r"^[a-z0-9.-]+==\S+", lock, re.MULTILINE)

    assert len(pins) >= least
    assert "://" not in lock
    for block in re.split(r"\n(?=[a-z0-9.-]+==)", lock):
        assert "--hash=sha256:" in block


def test_nothing_is_installed_without_its_hash() -> None:
    """What builds the package is in the lock; what installs the lock has a lock of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    recipes = (ROOT / "Makefile").read_text("utf-8")
    installing = re.findall(r"pip (?:install|sync) .*", recipes)

    assert installing
    for call in installing:
        assert "--require-hashes" in call or ("--no-deps" in call and "--no-build-isolation" in call), call
    (builder,) = project["build-system"]["requires"]
    assert builder in project["dependency-groups"]["dev"]
    assert re.search(r"^uv-build==0\.13\.", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    (installer,) = project["dependency-groups"]["build"]
    assert (ROOT / "requirements-build.lock").read_text("utf-8").startswith(f"{installer} ")


@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS)
def test_every_contract_that_is_chosen_for_a_database_exists(names: Path) -> None:
    guarantees = {each.name for contract in (BRANDS, KEYS, POSTS, RUNS, TRIGGERS) for each in contract}
    for chosen in names.read_text("utf-8").splitlines():
        file, _, test = chosen.partition("::")
        name, _, guarantee = test.removesuffix("]").partition("[")
        assert re.search(rf"^(?:async )?def {name}\(", (names.parent / file).read_text("utf-8"), re.MULTILINE), chosen
        assert guarantee in {"", *guarantees}, chosen


def test_no_possessive_group_has_a_look_around() -> None:
    """Python 3.11.2, which Debian 12 has, never matches such a group."""
    names = [found.name for found in pkgutil.walk_packages(contentsvc_core.__path__, "contentsvc_core.")]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    found = (cast("re.Pattern[str]", value) for value in values if isinstance(value, re.Pattern | type(late(""))))
    patterns = {each.pattern: each.flags for each in found}
    patterns |= {row: 0 for value in values if isinstance(value, Table) for row in value.rows}

    assert len(patterns) > 900
    assert [pattern for pattern, flags in patterns.items() if _has_possessive_look_around(pattern, flags)] == []
    assert _has_possessive_look_around(r"a(?:b|(?!c)d)*+", 0)
    assert not _has_possessive_look_around(r"(?:b|(?!c)d)*b++(?=c)", 0)


def _has_possessive_look_around(pattern: str, flags: int) -> bool:
    # Only the parsed form shows what a group contains.
    parsed = str(re._parser.parse(pattern, flags & ~re.DEBUG).data)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    return any("ASSERT" in _group(parsed, found.end()) for found in re.finditer(r"\(POSSESSIVE_REPEAT, \(", parsed))


def _group(parsed: str, start: int) -> str:
    depth = 1
    for at in range(start, len(parsed)):
        depth += {"(": 1, ")": -1}.get(parsed[at], 0)
        if not depth:
            return parsed[start:at]
    return parsed[start:]
