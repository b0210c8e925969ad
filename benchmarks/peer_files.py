"""The peers, as described by their ``peer.toml``."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, final

from benchmarks.material import BRANCH, Hook
from benchmarks.sides import KINDS, Database, Prepared, Side

_PEERS: Final = Path(__file__).with_name("peers")
_STAMP: Final = ".installed"
_SIGNED_WITH: Final = "a secret of thirty-two characters"
#: Environment variables that sides inherit: the paths of programs and of download caches.
_KEPT: Final = ("PATH", "HOME", "LANG", "TMPDIR")


@final
class PeerMissing(Exception):
    """A peer is unavailable; the message has the reason."""


def load_peers(name: str, *, note: Callable[[str], None]) -> Side:
    """Return a peer by its name as a side, and install it if needed.

    Raises:
        PeerMissing: The peer is unknown, or cannot be installed.
    """
    for file in sorted(_PEERS.glob("*/peer.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        for side in table.get("side", ()):
            if side["name"] == name:
                _install(file.parent, table, note)
                return side_of(file.parent, side)
    message = f"no peer.toml names the side '{name}'"
    raise PeerMissing(message)


def installed(folder: str, *, note: Callable[[str], None]) -> Path:
    """Install the peer of a folder if needed, for peers that are not sides; return the folder.

    Raises:
        PeerMissing: It cannot be installed.
    """
    place = _PEERS / folder
    _install(place, tomllib.loads((place / "peer.toml").read_text("utf-8")), note)
    return place


def peer_versions() -> list[str]:
    """Return the versions of the peers' parts."""
    files = sorted(_PEERS.glob("*/peer.toml"))
    return sorted({version for file in files for version in tomllib.loads(file.read_text("utf-8")).get("versions", ())})


def side_of(folder: Path, table: dict[str, Any]) -> Side:
    """Read the side of a ``peer.toml``."""
    database = Database(table["database"])
    counts = {kind: str(table["counts"][kind]) for kind in KINDS}

    def prepare(bench: Any, place: Path, port: int) -> Prepared:  # noqa: ANN401  # Bench, which imports this module
        hook = Hook(
            organization="org_bench",
            integration="int_bench",
            repository="acme/lighthouse",
            repository_id=4242,
            secret=_SIGNED_WITH,
        )
        where = str(place / "peer.db") if database is Database.SQLITE else str(bench.postgres.database())
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "DATABASE": where,
            "SECRET": hook.secret,
            "ORGANIZATION": hook.organization,
            "INTEGRATION": hook.integration,
            "REPOSITORY": hook.repository,
            "REPOSITORY_ID": str(hook.repository_id),
            "TRIGGER": "trg_bench",
            "BRANCH": BRANCH,
        }
        return Prepared(
            command=[str(part) for part in table["command"]],
            environment=environment,
            folder=folder,
            ready="/ready",
            hook=hook,
            database=where,
        )

    return Side(name=str(table["name"]), title=str(table["title"]), database=database, counts=counts, prepare=prepare)


def _install(folder: Path, table: dict[str, Any], note: Callable[[str], None]) -> None:
    stamp = folder / _STAMP
    pins = [folder / name for name in table.get("pins", ())]
    if stamp.exists() and all(pin.stat().st_mtime <= stamp.stat().st_mtime for pin in pins):
        return
    commands: list[list[str]] = table.get("install", [])
    for command in commands:
        # A step that creates a virtual environment uses the interpreter of this process.
        words = [sys.executable if command[0] == "python3" else command[0], *command[1:]]
        note(f"installing {folder.name}: {' '.join(command)}")
        try:
            done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)  # noqa: S603  # the peer's own
        except OSError as exc:
            message = f"{folder.name} cannot be installed: {exc}"
            raise PeerMissing(message) from exc
        if done.returncode:
            message = f"{folder.name} cannot be installed: {(done.stderr or done.stdout)[-500:]}"
            raise PeerMissing(message)
    stamp.touch()
