from functools import partial
from typing import Final, final

from contentsvc_adapters.offload import SingleThreadExecutor
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.writing import Brief, Draft, Silence
from contentsvc_core.events.normalized import Push
from contentsvc_core.ports import Steps

#: From this number on, writing takes so long (some 10 ms) that it runs in a thread.
_MANY_COMMITS: Final = 200


@final
class DeterministicWriter:
    """Writes every content type by rule: equal input has equal bytes."""

    name: str = "deterministic"
    costly: bool = False

    def __init__(self) -> None:
        # Twelve runs of one large push at once would take twelve times its memory, and be no faster.
        self._large = SingleThreadExecutor()
        #: Whether the tables of the rules are compiled: the first post takes 0.2 s for that.
        self._is_loaded = False

    async def write(self, brief: Brief, steps: Steps) -> Draft | Silence:
        """Write from a brief. Large briefs are written one at a time. No step is stored: a retry costs nothing."""
        _ = steps
        commits = sum(len(event.commits) for event in brief.events if isinstance(event, Push))
        if self._is_loaded and commits < _MANY_COMMITS:
            return write_content(brief)
        content = await self._large(partial(write_content, brief))
        self._is_loaded = True
        return content
