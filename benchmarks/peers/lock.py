"""`python -m benchmarks.peers.lock`: pin the peers' dependencies again, from the files in their folders.

Versions are chosen in `requirements.in`, `package.json` and `peer.toml`, by hand. The locks have hashes and no
addresses: each installation uses its own registry.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.peer_files import installed

_PEERS: Final = Path(__file__).parent
_UV: Final = Path(sys.prefix) / "uv/bin/uv"
_COMPILE: Final = (
    *("pip", "compile", "--quiet", "--upgrade", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-emit-index-url", "--no-header", "requirements.in", "--output-file", "requirements.lock"),
)


def lock(folder: Path) -> None:
    """Pin the requirements of a folder."""
    subprocess.run([str(_UV), *_COMPILE], cwd=folder, check=True)  # noqa: S603  # the project's own uv
    if (folder / "package.json").exists():
        # npm comes with Node.js, which is a pinned package itself.
        installed(folder.name, note=lambda text: print(text, file=sys.stderr))  # noqa: T201  # a command prints
        npm = (str(folder / ".venv/bin/node"), str(folder / ".venv/npm/bin/npm-cli.js"))
        subprocess.run(  # noqa: S603  # the peer's own npm
            [*npm, "install", "--package-lock-only", "--omit-lockfile-registry-resolved", "--ignore-scripts"],
            cwd=folder,
            env=os.environ | {"PATH": f"{folder / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"},
            check=True,
        )
        file = folder / "package-lock.json"
        file.write_text(without_addresses(file.read_text("utf-8")), "utf-8")


def without_addresses(text: str) -> str:
    """Remove the funding addresses from a package-lock.json: its only other addresses."""
    told: dict[str, Any] = json.loads(text)
    for package in told["packages"].values():
        package.pop("funding", None)
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for expected in sorted(_PEERS.glob("*/requirements.in")):
        lock(expected.parent)
