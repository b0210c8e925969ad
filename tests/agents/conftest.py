from tests.api.conftest import acme, world

__all__ = ["acme", "world"]
