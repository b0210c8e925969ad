"""The machine and the versions of a measurement."""

import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Final

_ROOT: Final = Path(__file__).parents[1]
_PACKAGES: Final = ("contentsvc", "litestar", "uvicorn", "uvloop", "httptools", "sqlalchemy", "aiosqlite", "asyncpg")
_FSYNCS: Final = 50


def describe(*, postgresql: str, cores: str, loader: str, peers: Sequence[str]) -> dict[str, str]:
    """Describe machine and versions."""
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "fsync": f"{lone_fsync_ms():.2f} ms (median of {_FSYNCS}, 4 KiB appended each)",
        "cores": cores,
        "loader": loader,
        # Also the build: an interpreter without optimizations takes a quarter longer.
        "python": f"{platform.python_implementation()} {sys.version}",
        "databases": f"SQLite {sqlite3.sqlite_version}, PostgreSQL {postgresql}",
        "packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "peers": ", ".join(peers),
    }


def revision() -> str:
    """Return the checked out commit, marked when files under ``src`` differ from it; empty outside a clone."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    return f"{commit}+changes" if commit and _git("status", "--porcelain", "--", "src") else commit


def lone_fsync_ms() -> float:
    """Measure the time of a small durable append in the folder of temporary files."""
    took: list[float] = []
    with tempfile.TemporaryFile() as file:
        for _ in range(_FSYNCS):
            file.write(b"\0" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return median(took)


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=_ROOT, check=False, capture_output=True, text=True)  # noqa: S603, S607  # constants
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
