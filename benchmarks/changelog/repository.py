"""A history as a real git repository."""

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.changelog.history import FILE, PAGE, Made, MadePush

_GIT_TIMEOUT_S: Final = 120.0


def write_repository(pushes: Sequence[MadePush], folder: Path) -> None:
    """Create a repository in a folder: the commits on one branch, a lightweight tag for each release, a remote."""
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "fast-import", "--quiet", stdin=b"".join(_stream(pushes)))
    _git(folder, "remote", "add", "origin", f"{PAGE}.git")
    (folder / "package.json").write_text('{"name": "lighthouse", "version": "1.21.0"}\n', "utf-8")


def _stream(pushes: Sequence[MadePush]) -> Iterator[bytes]:
    """Write the input of `git fast-import`."""
    for push in pushes:
        for commit in push.commits:
            yield _commit(commit)
        if push.tag is not None:
            yield f"reset refs/tags/{push.tag}\nfrom refs/heads/main\n\n".encode()
    yield b"done\n"


def _commit(commit: Made) -> bytes:
    message = commit.message.encode()
    stamp = f"{commit.name} <{commit.login}@mail.example> {int(commit.at.timestamp())} +0000"
    head = f"commit refs/heads/main\nauthor {stamp}\ncommitter {stamp}\ndata {len(message)}\n"
    # Each commit changes a file, as real commits do.
    return head.encode() + message + f"\nM 100644 inline {FILE}\n".encode() + _file(commit.id)


def _file(text: str) -> bytes:
    return f"data {len(text)}\n{text}\n".encode()


def _git(folder: Path, *arguments: str, stdin: bytes | None = None) -> None:
    # Without the user's configuration, which must not influence the benchmark.
    subprocess.run(  # noqa: S603  # git, with arguments written here
        ["git", "-c", "core.fsync=none", *arguments],  # noqa: S607  # the same git as the other side
        cwd=folder,
        input=stdin,
        check=True,
        capture_output=True,
        timeout=_GIT_TIMEOUT_S,
    )
