from typing import Final, final

from litestar import Router
from litestar.types.internal_types import RouteHandlerMapItem

_OPTIONS: Final = "OPTIONS"


class FreshOptions(Router):
    """A router that makes the ``OPTIONS`` handler of a path for all methods of the path.

    The framework makes its handler with the first method, and its ``Allow`` lacks the others.
    """

    @property
    def route_handler_method_map(self) -> dict[str, RouteHandlerMapItem]:
        """Return the handlers by path and method, without those for ``OPTIONS``."""
        handlers_by_path = super().route_handler_method_map
        for handlers in handlers_by_path.values():
            handlers.pop(_OPTIONS, None)
        return handlers_by_path


@final
class OwnRouter(FreshOptions):
    """A router that the application registers without a copy: copying all that its handlers hold slows each start."""

    def __deepcopy__(self, memo: dict[int, object]) -> "OwnRouter":
        return self
