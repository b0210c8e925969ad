"""The background turn that sets the paths of posts published by older versions."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from contentsvc_core.ports import Changelogs
from contentsvc_http.wiring.turns import turning

#: How often published posts without a path are looked for, in seconds: one look at an index.
_LOOK_EVERY_S: Final = 60.0
_AGAIN_AFTER_S: Final = 60.0
#: How many posts get theirs in one transaction, and the pause after each, in seconds: a batch takes less than it.
_TOGETHER: Final = 20
_PAUSE_S: Final = 0.1


@contextlib.asynccontextmanager
async def addressing(changelogs: Changelogs) -> AsyncGenerator[None]:
    """Set the path of published posts that have none, at start and once a minute."""

    async def look() -> None:
        addressed = _TOGETHER
        while addressed == _TOGETHER:
            addressed = await changelogs.address(limit=_TOGETHER)
            await asyncio.sleep(_PAUSE_S)

    async with turning(look, "addressing", every_s=_LOOK_EVERY_S, after_fault_s=_AGAIN_AFTER_S):
        yield
