"""The quickstart is run, command by command, as it stands on its page."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.docs.pages import fences, read

pytestmark = pytest.mark.slow("starts the command for each step of a guide")

#: The page needs little of curl, and not every machine that runs the tests has it.
CURL: Final = """\
import sys, urllib.request
headers = dict(value.split(": ", 1) for flag, value in zip(sys.argv, sys.argv[1:]) if flag == "-H")
try:
    with urllib.request.urlopen(urllib.request.Request(sys.argv[-1], headers=headers), timeout=10) as answer:
        print(answer.read().decode())
except OSError as exc:
    sys.exit(str(exc))
"""
LONGEST_S: Final = 90


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def tools_in(folder: Path) -> Path:
    """Make the programs that the page calls."""
    folder.mkdir()
    (folder / "curl.py").write_text(CURL, "utf-8")
    calls = {"curl": f'"{folder / "curl.py"}"', "contentsvc": "-m contentsvc_cli", "python3": ""}
    for name, arguments in calls.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', "utf-8")
        (folder / name).chmod(0o755)
    return folder


def run(script: str, folder: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """Run a shell script; whatever becomes of it, nothing that it started is left behind."""
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as shell:
        try:
            stdout, stderr = shell.communicate(timeout=LONGEST_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    return shell.returncode, stdout, stderr


def test_the_quickstart_leads_to_a_post(tmp_path: Path) -> None:
    page = read("docs/quickstart.md")
    port = free_port()
    tools = tools_in(tmp_path / "tools")
    work = tmp_path / "work"
    work.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}
    environment |= {"PATH": f"{tools}:{environment['PATH']}", "CONTENTSVC_BASE_URL": f"http://127.0.0.1:{port}"}
    script = "".join(fence.text for fence in fences(page, "sh")).replace("8000", port)

    code, said, complaints = run(script, work, environment)

    assert code == 0, complaints + (work / "serve.log").read_text("utf-8")
    assert re.search(r"^1 +200 +processed", said, re.MULTILINE), said
    assert re.search(r"^1 +200 +duplicate", said, re.MULTILINE), said
    assert re.search(r"completed +1 +post_", said), said
    (markdown,) = fences(page, "markdown")
    assert markdown.text.replace("\n", "\\n") in said, said
