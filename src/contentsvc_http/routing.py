"""Routers of the application's parts."""

from typing import final

from litestar import Router


@final
class OwnRouter(Router):
    """A router that one application takes in as it is.

    The framework copies a router, with whatever its handlers hold, since others may be registered with two owners. That
    is a quarter of what it takes to build the application, at every start, and these are registered once.
    """

    def __deepcopy__(self, memo: dict[int, object]) -> "OwnRouter":
        """Give the router itself."""
        return self
