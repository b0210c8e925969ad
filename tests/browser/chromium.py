"""Finds a Chromium, or installs Debian's: ``python -m tests.browser.chromium`` prints its path."""

import os
import shutil
import subprocess
import sys
from typing import Final

#: The variable with another path than those below.
VARIABLE: Final = "CONTENTSVC_TEST_CHROMIUM"
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PACKAGE: Final = "chromium"
#: Arguments: no requests of its own, no screen, and usable as root in a container.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class NoChromium(Exception):
    """There is no Chromium, and it cannot be installed; the message names the missing part."""


def chromium() -> str:
    """Return the path of a Chromium.

    Raises:
        NoChromium: There is no Chromium.
    """
    if (named := os.environ.get(VARIABLE)) is not None:
        return named
    found = _found()
    if found is None:
        message = (
            f"no Chromium: install Debian's package '{_PACKAGE}' (apt-get install {_PACKAGE}), or name another one in "
            f"{VARIABLE}"
        )
        raise NoChromium(message)
    return found


def install() -> None:
    """Install Debian's package, if it is missing and installing is possible."""
    apt = shutil.which("apt-get")
    if VARIABLE in os.environ or _found() is not None or apt is None or os.geteuid() != 0:
        return
    print(f"installing Debian's package '{_PACKAGE}'", file=sys.stderr)  # noqa: T201  # a command prints
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (("update",), ("install", "--yes", "--no-install-recommends", _PACKAGE, "fonts-dejavu-core")):
        subprocess.run([apt, *arguments], check=False, env=environment, stdout=subprocess.DEVNULL)


def _found() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    install()
    try:
        print(chromium())  # noqa: T201  # a command prints
    except NoChromium as exc:
        sys.exit(str(exc))
