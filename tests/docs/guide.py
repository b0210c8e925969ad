"""Runs the shell blocks of a guide in their order in one shell: with the command, a server and a code host.

The command is forked from a process that has imported it (``tests/preloaded``). The shell also finds the programs that
the guides use: ``curl``, ``openssl``, ``sqlite3``, ``make``.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, final

import httpx
from attrs import field, frozen
from tests import preloaded
from tests.docs.pages import ROOT, Fence, fences, read
from tests.server_process import PATIENCE_S, PLAIN, until

#: The public URL of the guides' server.
PUBLIC: Final = "https://hooks.example.org"
LONGEST_S: Final = 120
#: Replaces the command in the shell: passes on its files, arguments and signals, and ends with its exit code.
_COMMAND: Final = """\
import json, os, signal, socket, sys
asked = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asked.connect({path!r})
order = {{"arguments": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}}
socket.send_fds(asked, [json.dumps(order).encode()], [0, 1, 2])
pid = int(asked.recv(64))
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda got, _: os.kill(pid, got))
code = int(asked.recv(64))
sys.exit(code if code >= 0 else 128 - code)
"""
_CURL: Final = """\
import sys, urllib.error, urllib.request
words = sys.argv[1:]
headers = dict(value.split(": ", 1) for flag, value in zip(words, words[1:]) if flag == "-H")
url = words[-1].replace({public!r}, {local!r})
try:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
        if "-i" in words:
            print(f"HTTP/1.1 {{answer.status}} {{answer.reason}}")
        print(answer.read().decode())
except urllib.error.URLError as exc:
    sys.exit(str(exc))
"""
_OPENSSL: Final = "import base64, os, sys; assert sys.argv[1:3] == ['rand', '-base64']\n"
_OPENSSL_DOES: Final = "print(base64.b64encode(os.urandom(int(sys.argv[3]))).decode())\n"
_SQLITE: Final = "import sqlite3, sys\nsqlite3.connect(sys.argv[1]).execute(sys.argv[2])\n"


@final
@frozen(kw_only=True)
class Ran:
    """The result of a guide's session."""

    code: int
    stdout: str
    stderr: str
    #: The folder of its commands.
    folder: Path


@final
@frozen(kw_only=True)
class Guide:
    """A page, and the preconditions of its reader."""

    page: str
    #: Commands of an earlier page, which the page requires.
    setup: str = ""
    #: The reader's files, by name.
    files: Mapping[str, str] = field(factory=dict[str, str])
    #: The reader's input.
    typed: str = ""
    #: The reader's environment variables.
    environment: Mapping[str, str] = field(factory=dict[str, str])
    #: Actions of others before the block with the given words.
    before: Mapping[str, Callable[[str, Path], None]] = field(factory=dict[str, Callable[[str, Path], None]])


def blocks(page: str) -> list[Fence]:
    """Return the shell blocks of a page that are run."""
    return [fence for fence in fences(read(page), "sh") if not fence.rest.startswith("no-run")]


def run(guide: Guide, folder: Path, *, then: str = "") -> Ran:
    """Run a guide in a folder; stop all processes that it has started.

    Args:
        guide: The guide.
        folder: An empty folder.
        then: Commands of the test, after those of the page.
    """
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Bound and never listening: the server's own socket may share the port, and no other process gets it.
        reserved.bind(("127.0.0.1", 0))
        port = str(reserved.getsockname()[1])
        with _commands(port) as tools:
            return _run(guide, folder, tools, port, then)


def _run(guide: Guide, folder: Path, tools: Path, port: str, then: str) -> Ran:
    local = f"http://127.0.0.1:{port}"
    _make_tools(tools, local)
    work = folder / "work"
    work.mkdir()
    (work / "examples").symlink_to(ROOT / "examples")
    for name, text in guide.files.items():
        (work / name).write_text(text, "utf-8")
    (folder / "typed").write_text(guide.typed, "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")}
    environment |= {"PATH": f"{tools}:{environment['PATH']}", "CONTENTSVC_BASE_URL": local, **guide.environment}
    listed = blocks(guide.page)
    asked, asking = os.pipe()
    answered, answering = os.pipe()
    script = [
        f"trap 'echo end >&{asking}' EXIT",
        guide.setup,
        *(_scripted(number, fence, asking, answered) for number, fence in enumerate(listed)),
        then,
    ]
    with (
        (folder / "typed").open("rb") as stdin,
        (folder / "stdout").open("wb") as stdout,
        (folder / "stderr").open("wb") as stderr,
        subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", "\n".join(script).replace("8000", port)],
            cwd=work,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[asking, answered],
            process_group=0,
        ) as shell,
    ):
        try:
            for end in (asking, answered):
                os.close(end)
            with os.fdopen(asked) as questions, os.fdopen(answering, "w", buffering=1) as answers:
                # Background processes also hold the pipe open.
                for question in iter(questions.readline, "end\n"):
                    _prepare(guide, listed, int(question), local, work)
                    answers.write("\n")
            shell.wait(LONGEST_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    output, complaints = ((folder / name).read_text("utf-8") for name in ("stdout", "stderr"))
    return Ran(code=shell.returncode, stdout=output, stderr=complaints, folder=work)


def _scripted(number: int, fence: Fence, asking: int, answered: int) -> str:
    """Return a block for the script: after a request, and in the background for another terminal."""
    ask = f"echo {number} >&{asking}; read -r _ <&{answered}\n"
    close = f"{asking}>&- {answered}<&-"
    if fence.rest != "another-terminal":
        return f"{ask}{fence.text}"
    return f"{ask}(\n{fence.text}) > terminal-{number}.log 2>&1 < /dev/null {close} &\n"


def _prepare(guide: Guide, listed: Sequence[Fence], number: int, local: str, work: Path) -> None:
    """Perform the steps before a block: wait for a started server, and act for others."""
    if number and listed[number - 1].rest == "another-terminal":
        until(lambda: _is_ready(local), f"the server is ready, whose log is terminal-{number - 1}.log")
    for words, act in guide.before.items():
        if words in listed[number].text:
            act(local, work)


def _is_ready(local: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{local}/health/ready", trust_env=False, verify=PLAIN).is_success
    return False


def _make_tools(tools: Path, local: str) -> None:
    programs = {
        "curl": _CURL.format(public=PUBLIC, local=local),
        "openssl": f"{_OPENSSL}{_OPENSSL_DOES}",
        "sqlite3": _SQLITE,
    }
    for name, program in programs.items():
        _make_tool(tools / name, f"#!{sys.executable} -IS\n{program}")
    for name in ("python", "python3"):
        _make_tool(tools / name, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    _make_tool(tools / "make", '#!/bin/sh\n[ "$*" = serve ] && exec contentsvc serve\n')


def _make_tool(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


@contextlib.contextmanager
def _commands(port: str) -> Generator[Path]:
    """Create a folder with the command in it, and serve its calls until the end."""
    # Not in the test's folder, whose name exceeds the limit of a socket's address.
    folder = Path(tempfile.mkdtemp(prefix="guide-"))
    path = folder / "socket"
    _make_tool(folder / "contentsvc", f"#!{sys.executable} -IS\n{_COMMAND.format(path=str(path))}")
    started: set[int] = set()
    threads: list[threading.Thread] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    asked, _ = listening.accept()
                    thread = threading.Thread(target=_forked, args=(asked, port, started), daemon=True)
                    thread.start()
                    threads.append(thread)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield folder
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for pid in tuple(started):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for thread in threads:
                thread.join(PATIENCE_S)
            shutil.rmtree(folder)


def _forked(asked: socket.socket, port: str, started: set[int]) -> None:
    """Start the command for one call of the shell, and send its exit code."""
    with asked, contextlib.ExitStack() as stack:
        message, numbers, _, _ = socket.recv_fds(asked, 1024 * 1024, 3)
        files: list[IO[bytes]] = [
            stack.enter_context(os.fdopen(number, "rb" if index == 0 else "wb")) for index, number in enumerate(numbers)
        ]
        order = json.loads(message)
        arguments = order["arguments"]
        if arguments[:1] == ["serve"] and "--port" not in arguments:
            arguments = [*arguments, "--port", port]
        forked = preloaded.start(
            arguments,
            environment=order["environment"],
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            folder=order["folder"],
        )
        started.add(forked.pid)
        asked.send(str(forked.pid).encode())
        # The shell waits for the end of a pipe: this process must not hold it.
        for file in files:
            file.close()
        code = forked.wait()
        started.discard(forked.pid)
        # The command in the shell may have been killed.
        with contextlib.suppress(OSError):
            asked.send(str(code).encode())
