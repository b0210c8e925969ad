"""What a server's process does before anything else is imported."""

import importlib
import sys


def import_structlog() -> None:
    """Import structlog without rich.

    structlog imports rich, where that is installed, for tracebacks with the values of variables. Ours are plain, since
    those values are keys and bodies. Without rich a server starts with some 6 % less processor time and 5 MB less.
    """
    if "rich" in sys.modules:
        return
    # The documented way to have an import fail: structlog goes on without.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]
