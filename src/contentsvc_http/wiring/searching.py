import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import structlog

from contentsvc_adapters.pacing import Notifier
from contentsvc_adapters.sql.searching.indexing import TRIES, AbandonedDocument
from contentsvc_core.ports import Search
from contentsvc_http.wiring.periodic import every

#: The interval of indexing after a write of this process, and in an idle process, in seconds.
_LOOK_EVERY_S: Final = 2.0
_RARELY_S: Final = 32.0
_AGAIN_AFTER_S: Final = 30.0
#: The number of documents per batch, and the pause after each, in seconds: ten times the batch.
_TOGETHER: Final = 32
_PAUSE_S: Final = 0.25

_LOG: Final = structlog.get_logger("contentsvc")


def log_abandoned(document: AbandonedDocument) -> None:
    _LOG.error(
        "search document given up",
        organization_id=document.organization_id,
        kind=document.kind,
        document_id=document.document_id,
        tries=TRIES,
    )


@contextlib.asynccontextmanager
async def searching(search: Search, writes: Notifier) -> AsyncGenerator[None]:
    async def turn() -> None:
        looked = _TOGETHER
        while looked == _TOGETHER:
            looked = await search.catch_up(limit=_TOGETHER)
            await asyncio.sleep(_PAUSE_S)

    async with every(
        turn,
        "search",
        every_s=_LOOK_EVERY_S,
        rarely_s=_RARELY_S,
        after_fault_s=_AGAIN_AFTER_S,
        first_after_s=0.1,
        writes=writes,
    ):
        yield
