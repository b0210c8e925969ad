"""The writer that needs nobody: the core's rules (port :class:`~contentsvc_core.ports.ContentWriter`)."""

import asyncio
from typing import Final, final

from contentsvc_core.content.forms import write_content
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.webhooks.events import Push

#: From here on, writing takes long enough (some 10 ms) to leave the event loop for.
_MANY_COMMITS: Final = 200


@final
class DeterministicWriter:
    """Writes every content type by rule: the same input gives the same bytes."""

    name: str = "deterministic"
    costly: bool = False

    async def write(self, brief: Brief) -> Draft | None:
        """Write from a brief; ``None``: there is nothing to report."""
        commits = sum(len(event.commits) for event in brief.events if isinstance(event, Push))
        if commits < _MANY_COMMITS:
            return write_content(brief)
        return await asyncio.to_thread(write_content, brief)
