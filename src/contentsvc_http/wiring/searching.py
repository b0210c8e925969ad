"""The turns of looking at what was written, so that searches find it at once."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

import structlog

from contentsvc_adapters.sql.searching.looking import TRIES, GivenUp
from contentsvc_core.ports import Search
from contentsvc_http.wiring.turns import turning

#: How often what was written is looked at, in seconds.
_LOOK_EVERY_S: Final = 2.0
_AGAIN_AFTER_S: Final = 30.0
#: How many documents are looked at together, and the pause after each time, in seconds: a few dozen of them take a
#: tenth of it, so that most of the time is everybody else's. A search itself looks at what is left of its own.
_TOGETHER: Final = 32
_PAUSE_S: Final = 0.25

_LOG: Final = structlog.get_logger("contentsvc")


def log_given_up(document: GivenUp) -> None:
    """Log that a document is not searched, because its processing never ended."""
    _LOG.error(
        "search document given up",
        organization_id=document.organization_id,
        kind=document.kind,
        document_id=document.document_id,
        tries=TRIES,
    )


@contextlib.asynccontextmanager
async def searching(search: Search) -> AsyncGenerator[None]:
    """Look at what is written, from now on."""

    async def look() -> None:
        looked = _TOGETHER
        while looked == _TOGETHER:
            looked = await search.catch_up(limit=_TOGETHER)
            await asyncio.sleep(_PAUSE_S)

    async with turning(look, "search", every_s=_LOOK_EVERY_S, after_fault_s=_AGAIN_AFTER_S):
        yield
