"""The command on a pseudo terminal of a given width."""

import contextlib
import os
import re
import termios
from collections.abc import Mapping

from tests import preloaded
from tests.server_process import PATIENCE_S

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(
    width: int,
    *arguments: str,
    environment: Mapping[str, str],
    code: int = 0,
    typed: str = "",
    folder: str | None = None,
) -> str:
    """Run the command with its output on a pseudo terminal; return the text without styles.

    Args:
        width: The terminal's columns.
        arguments: The command's arguments.
        environment: The whole environment.
        code: The expected exit code.
        typed: The input, sent before the questions; without it, the command's input is no terminal.
        folder: The command's working directory.
    """
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (50, width))
    own = {name: value for name, value in environment.items() if name != "COLUMNS"} | {"TERM": "xterm"}
    with os.fdopen(master, "r+b", buffering=0) as screen:
        os.write(master, typed.encode())
        with os.fdopen(slave, "r+b", buffering=0) as terminal:
            started = preloaded.start(
                arguments,
                environment=own,
                stdin=terminal if typed else None,
                stdout=terminal,
                stderr=terminal,
                folder=folder,
            )
        shown = b""
        # Linux raises EIO when the last writer has closed the terminal.
        with contextlib.suppress(OSError):
            while part := screen.read(65536):
                shown += part
        assert started.wait(PATIENCE_S) == code, shown
    return _STYLE.sub("", shown.decode()).replace("\r\n", "\n")
