"""Every Python example of the documentation runs, and prints the output on its page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, Fence, fences, name_of, read

PYTHON_PAGES = [name_of(page) for page in PAGES if fences(page.read_text("utf-8"), "python")]


def patched(text: str, diff: str) -> str:
    """Apply a change of a page: lines with ``-`` and ``+``, hunks separated by ``@@``."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def tree_with(titled: list[Fence], folder: Path) -> Path:
    """Return a copy of the sources with the page's files and changes."""
    tree = folder / "tree"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for fence in titled:
        assert fence.title is not None
        path = tree / fence.title
        if fence.language == "diff":
            path.write_text(patched(path.read_text("utf-8"), fence.text), "utf-8")
        else:
            assert not path.exists(), path
            path.parent.mkdir(exist_ok=True)
            path.write_text(fence.text, "utf-8")
    return tree / "src"


@pytest.mark.slow("starts a Python process for each page")
@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_the_examples_of_a_page_run_and_print_the_shown_output(page: str, tmp_path: Path) -> None:
    every = fences(read(page))
    titled = [fence for fence in every if fence.title]
    sources = tree_with(titled, tmp_path) if titled else ROOT / "src"
    changed = [str(fence.title).removeprefix("src/").removesuffix(".py").removesuffix("/__init__") for fence in titled]
    imports = "".join(f"import {module.replace('/', '.')}\n" for module in changed)
    script = "\n".join(fence.text for fence in every if fence.language == "python" and not fence.title)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", imports + script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(sources), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(fence.text for fence in every if (fence.language, fence.rest) == ("text", "output"))


@pytest.mark.slow("runs the type checker")
def test_the_examples_are_accepted_by_the_type_checker(tmp_path: Path) -> None:
    for number, page in enumerate(PYTHON_PAGES):
        every = fences(read(page))
        # A page with files of its own changes the package.
        if not any(fence.title for fence in every):
            script = "\n".join(fence.text for fence in every if fence.language == "python")
            (tmp_path / f"page_{number}.py").write_text(f"# {page}\n{script}", "utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "pythonVersion": "3.11"}', "utf-8")

    checker = Path(sys.executable).with_name("basedpyright")
    done = subprocess.run(
        [checker, "--pythonpath", sys.executable, "--project", tmp_path], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def test_examples_import_only_public_names_of_the_core() -> None:
    imported = {
        f"{page}: {module}"
        for page in PYTHON_PAGES
        for fence in fences(read(page), "python")
        for module in re.findall(r"^ *(?:from|import) (contentsvc_core[\w.]*)", fence.text, re.MULTILINE)
        if module.removeprefix("contentsvc_core") not in {"", ".ports", ".testing", ".strategies"}
    }

    assert imported == set()


def test_the_example_in_the_readme_has_20_lines() -> None:
    (example,) = fences(read("README.md"), "python")

    assert len(example.text.splitlines()) <= 20


@pytest.mark.parametrize("page", [name_of(page) for page in PAGES if page.parent.name == "howto"] + ["docs/library.md"])
def test_every_guide_has_an_example_with_its_output(page: str) -> None:
    text = read(page)

    assert fences(text, "python")
    assert [fence for fence in fences(text, "text") if fence.rest == "output"]
