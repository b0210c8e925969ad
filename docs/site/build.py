"""``python -m docs.site.build``: build the site in ``build/site``, and check it.

Sphinx runs in a separate environment, ``docs/site/.venv``, which ``make docs`` creates. The OpenAPI document comes from
the service itself.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from docs.site.check import faults
from tests.api.world import ApiWorld

from contentsvc_http.static_files import FONT, font

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
SITE: Final = ROOT / "build" / "site"
_PYTHON: Final = HERE / ".venv" / "bin" / "python"


def openapi_document() -> str:
    """Return the OpenAPI document of the service."""
    return asyncio.run(ApiWorld().send("GET", "/schema/openapi.json")).raise_for_status().text


def build(document: str, site: Path) -> None:
    """Build the site; a warning is a failure.

    Raises:
        CalledProcessError: A page has a fault, which Sphinx has printed.
    """
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "openapi.json"
        file.write_text(document, "utf-8")
        subprocess.run(  # noqa: S603  # our own Sphinx
            [
                *(str(_PYTHON), "-m", "sphinx", "--builder", "html", "--conf-dir", str(HERE), "--doctree-dir", folder),
                *("--define", f"openapi_document={file}", "--fresh-env", "--quiet", "--fail-on-warning"),
                *(str(ROOT), str(site)),
            ],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            check=True,
        )
    # The font of the service's pages; Sphinx's environment lacks the package that contains it.
    (site / "_static" / FONT).write_bytes(font())
    for left in (".buildinfo", ".nojekyll", "objects.inv"):
        (site / left).unlink(missing_ok=True)


def main() -> None:
    """Build the site, and print its faults."""
    try:
        build(openapi_document(), SITE)
    except subprocess.CalledProcessError as exc:
        sys.exit(exc.returncode)
    found = faults(SITE)
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    pages = sum(1 for _ in SITE.rglob("*.html"))
    sys.stdout.write(f"{SITE.relative_to(ROOT)}: {pages} pages, {len(found)} faults\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
