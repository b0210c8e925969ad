"""The port: for one process alone, or for several that share it (docs/decisions/0012-processes.md)."""

import errno
import socket
import time
from typing import Final, final

from contentsvc_core.errors import ContentServiceError

_BACKLOG: Final = 2048
#: How long the port of a process that was killed is waited for, in seconds: its workers leave it by themselves.
_LEFT_WITHIN_S: Final = 3.0
_AGAIN_S: Final = 0.1
#: What the system keeps of answers for a client that does not read them, in bytes; it doubles the number for itself.
#: Left alone it grows to megabytes a connection, and somebody works for each of them.
_UNREAD: Final = 128 * 1024


@final
class CannotListen(ContentServiceError):
    """The address cannot be listened on; the message names it."""


def listen(host: str, port: int) -> socket.socket:
    """Give a socket that listens; port 0 is any free one.

    Raises:
        CannotListen: The port is taken, or the address is not this machine's.
    """
    listening = _bound(host, port)
    try:
        listening.listen(_BACKLOG)
    except OSError as exc:
        listening.close()
        raise _cannot_listen(host, port, exc) from exc
    return listening


def reserve(host: str, port: int) -> socket.socket:
    """Give a socket that holds a port for those that :func:`share` it, and does not listen; port 0 is any free one.

    Raises:
        CannotListen: The port is taken, or the address is not this machine's.
    """
    deadline = time.monotonic() + _LEFT_WITHIN_S
    while True:
        try:
            held = _bound(host, port)
            break
        except CannotListen as exc:
            taken = isinstance(exc.__cause__, OSError) and exc.__cause__.errno == errno.EADDRINUSE
            if not taken or time.monotonic() > deadline:
                raise
            time.sleep(_AGAIN_S)
    # Bound as one that shares nothing, so that a taken port is refused; opened only now, and to this user's sockets
    # that say that they share. Another `serve` says so too late, and is refused in its turn.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return held


def share(host: str, port: int) -> socket.socket:
    """Give a socket on a reserved port. The kernel deals connections out to those that listen, and only to them.

    Raises:
        CannotListen: The port is somebody else's.
    """
    return _bound(host, port, shared=True)


def _bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Handed down to each connection.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind((host, port))
    except OSError as exc:
        made.close()
        raise _cannot_listen(host, port, exc) from exc
    return made


def _cannot_listen(host: str, port: int, exc: OSError) -> CannotListen:
    return CannotListen(f"cannot listen on {host} port {port}: {exc.strerror or exc}")
