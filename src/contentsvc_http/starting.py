import importlib
import sys

from contentsvc_core.on_demand import module_on_demand, package_on_demand


def prepare_imports() -> None:
    """Prepare the imports of a server; called before all of them."""
    _import_structlog()
    # Both import HTTP servers and clients of the standard library, and command lines, in all 20 ms and 2 MB.
    package_on_demand("uvicorn")
    package_on_demand("prometheus_client")
    # SQLAlchemy imports it for plugins, which this service does not use.
    module_on_demand("importlib.metadata")


def _import_structlog() -> None:
    """Import structlog without rich, which only tracebacks with values of variables, such as keys, would need."""
    if "rich" in sys.modules:
        return
    # The documented way to make an import fail; structlog then works without rich.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]
