"""The source distribution has what its documentation describes."""

import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
#: What the pages, and the targets of ``make``, use.
_PARTS: Final = ("src", "tests", "campaigns", "benchmarks", "docs", "deploy", "examples")
_FILES: Final = ("Makefile", "README.md", "conftest.py", "requirements.lock", "requirements-build.lock")


def is_shipped(path: Path) -> bool:
    """Check that a file is neither hidden nor made by a program."""
    made = {"__pycache__", "node_modules"}
    return path.is_file() and not any(part.startswith(".") or part in made for part in path.relative_to(ROOT).parts)


def test_the_source_distribution_is_a_checkout(tmp_path: Path) -> None:
    subprocess.run([Path(sys.executable).with_name("uv-build"), "build-sdist", tmp_path], cwd=ROOT, check=True)

    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        found = {Path(*Path(name).parts[1:]) for name in opened.getnames()}
    files = [path for part in _PARTS for path in (ROOT / part).rglob("*") if is_shipped(path)]
    assert {*map(Path, _FILES), *(path.relative_to(ROOT) for path in files)} - found == set()
