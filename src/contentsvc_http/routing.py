"""Routers of the application's parts."""

from typing import final

from litestar import Router


@final
class OwnRouter(Router):
    """A router that one application takes in as it is.

    The framework copies a router deeply, with whatever its handlers hold, since others may be registered with two
    owners. These are registered once, and every start would pay for the copy.
    """

    def __deepcopy__(self, memo: dict[int, object]) -> "OwnRouter":
        """Give the router itself."""
        return self
