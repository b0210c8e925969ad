import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from contentsvc_core.ports import Changelogs
from contentsvc_http.wiring.periodic import every

#: The interval of the query for published posts without a path, in seconds: one index lookup.
_LOOK_EVERY_S: Final = 60.0
_AGAIN_AFTER_S: Final = 60.0
#: The number of posts per transaction, and the pause after each, in seconds: a transaction takes less than the pause.
_TOGETHER: Final = 20
_PAUSE_S: Final = 0.1


@contextlib.asynccontextmanager
async def addressing(changelogs: Changelogs) -> AsyncGenerator[None]:
    async def turn() -> None:
        addressed = _TOGETHER
        while addressed == _TOGETHER:
            addressed = await changelogs.address(limit=_TOGETHER)
            await asyncio.sleep(_PAUSE_S)

    async with every(turn, "addressing", every_s=_LOOK_EVERY_S, after_fault_s=_AGAIN_AFTER_S, first_after_s=0.3):
        yield
