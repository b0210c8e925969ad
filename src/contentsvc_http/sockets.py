import errno
import socket
import time
from typing import Final, final

from contentsvc_core.errors import ContentServiceError

_BACKLOG: Final = 2048
#: The time for which the port of a killed process is waited for, in seconds: its workers end by themselves.
_LEFT_WITHIN_S: Final = 3.0
_AGAIN_S: Final = 0.1
#: In bytes, which the kernel doubles: by default the send buffer grows to megabytes per connection.
_UNREAD: Final = 128 * 1024


@final
class CannotListen(ContentServiceError):
    """The socket cannot be opened; the message names the address."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means any free port."""
    listening = _bound(host, port)
    try:
        listening.listen(_BACKLOG)
    except OSError as exc:
        listening.close()
        raise _cannot_listen(host, port, exc) from exc
    return listening


def reserve(host: str, port: int) -> socket.socket:
    """Return a socket that reserves a port for :func:`share` without listening; port 0 means any free port."""
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
    # Bound without SO_REUSEPORT, so that a port in use is refused. The option is set only now, for sockets of this user
    # that set it, too. Another `serve` sets the option too late, and is refused in turn.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return held


def share(host: str, port: int) -> socket.socket:
    """Return a socket on a reserved port. The kernel distributes connections among the listening sockets."""
    return _bound(host, port, shared=True)


def _bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Accepted connections inherit the option.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        raise _cannot_listen(host, port, exc) from exc
    return listener


def _cannot_listen(host: str, port: int, exc: OSError) -> CannotListen:
    return CannotListen(
        f"cannot listen on {host} port {port}: {exc.strerror or exc}; choose another with --host or --port"
    )
