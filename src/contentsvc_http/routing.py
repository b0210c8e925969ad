"""Routers of the application's parts."""

from typing import final

from litestar import Router


@final
class OwnRouter(Router):
    """A router that the application registers without a copy.

    The framework copies a router deeply, with all that its handlers hold, because a router may have two owners. These
    routers have one, and each start would pay for the copy.
    """

    def __deepcopy__(self, memo: dict[int, object]) -> "OwnRouter":
        return self
