import importlib
import sys


def import_structlog() -> None:
    """Import structlog without rich, which only tracebacks with values of variables, such as keys, would need."""
    if "rich" in sys.modules:
        return
    # The documented way to make an import fail; structlog then works without rich.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]
