"""`python -m tests.preloaded FD`: import the modules of `contentsvc`, and fork a process for each order.

An order is one message on the socket FD, with four files: the connection for the exit status, and the standard three.
This process ends when the other end is closed; forked processes continue.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
from typing import Final, final

from attrs import frozen

import contentsvc_core
import contentsvc_core.ports
from contentsvc_adapters import sql
from contentsvc_cli import main

_LONGEST: Final = 1024 * 1024
#: Modules that commands import on demand.
_ON_DEMAND: Final = (
    *("contentsvc_http.server", "contentsvc_http.instrumentation", "contentsvc_http.metrics", "contentsvc_http.scrape"),
    *("contentsvc_adapters.sql.dialects.postgresql", "contentsvc_adapters.engine.dbos", "contentsvc_core.events.wire"),
    *("contentsvc_http.wiring.diagnostics", "contentsvc_cli.terminal.grid", "rich.progress"),
    *("alembic.command", "alembic.config", "alembic.script", "cattrs", "cattrs.gen", "comrak", "httptools"),
)


@final
@frozen(kw_only=True)
class _Order:
    """The fields of an order."""

    arguments: list[str]
    program: str | None
    environment: dict[str, str]
    folder: str


def _orders(asked: socket.socket) -> tuple[_Order, list[int]]:
    """Fork a process for each order; return in the forked processes, each with its order."""
    woken, waking = socket.socketpair()
    for end in (woken, waking):
        end.setblocking(False)
    signal.set_wakeup_fd(waking.fileno())
    signal.signal(signal.SIGCHLD, _woken)
    controls: dict[int, socket.socket] = {}
    selector = selectors.DefaultSelector()
    selector.register(asked, selectors.EVENT_READ)
    selector.register(woken, selectors.EVENT_READ)
    while True:
        ready = {key.fileobj for key, _ in selector.select()}
        if woken in ready:
            woken.recv(4096)
            _tell_of_ends(controls)
        if asked not in ready:
            continue
        message, files, _, _ = socket.recv_fds(asked, _LONGEST, 4)
        if not message:
            # The test run has ended.
            os._exit(0)
        control = socket.socket(fileno=files[0])
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # A test run under `nohup` ignores it, and so would the server.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            selector.close()
            for each in (asked, woken, waking, control, *controls.values()):
                each.close()
            return _Order(**json.loads(message)), files[1:]
        # In parent and child, since either may run first.
        os.setpgid(pid, pid)
        control.send(str(pid).encode())
        controls[pid] = control
        for file in files[1:]:
            os.close(file)


def _woken(_number: int, _frame: object) -> None:
    """Do nothing: the handler only wakes the loop."""


def _tell_of_ends(controls: dict[int, socket.socket]) -> None:
    for pid, control in list(controls.items()):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            del controls[pid]
            with control:
                try:
                    control.send(str(os.waitstatus_to_exitcode(status)).encode())
                except OSError:
                    # The parent has closed its connection.
                    continue


def _become(order: _Order, files: list[int]) -> None:
    """Set the process's own group, folder, environment and files."""
    os.setpgid(0, 0)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    # The parent has cached the folder of temporary files.
    tempfile.tempdir = None
    sys.argv = ["contentsvc", *order.arguments]


if __name__ == "__main__":
    for module in (*(f"contentsvc_cli.{command.module}" for command in main.COMMANDS.values()), *_ON_DEMAND):
        importlib.import_module(module)
    # Reading each name of these packages imports its module.
    for package in (contentsvc_core, contentsvc_core.ports):
        for name in package.__all__:
            getattr(package, name)
    for found in pkgutil.walk_packages(sql.__path__, "contentsvc_adapters.sql."):
        if ".migrations." not in found.name:
            importlib.import_module(found.name)
    # A forked process has one thread: locks of other threads would never be released.
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    order, files = _orders(socket.socket(fileno=int(sys.argv[1])))
    _become(order, files)
    if order.program is None:
        main.main(prog_name="contentsvc")
    else:
        runpy.run_module(order.program, run_name="__main__", alter_sys=True)
