from importlib.util import find_spec


def is_installed() -> bool:
    """Return whether the extra of this package is installed, without importing it."""
    try:
        return find_spec("mcp") is not None
    except ValueError:
        return False
