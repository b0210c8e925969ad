"""Who is signed in."""

from datetime import datetime
from typing import Protocol

from contentsvc_core.access.sessions import Session


class Sessions(Protocol):
    """The sessions. What a session may do, and whether its key still stands, is not theirs to say."""

    async def add(self, session: Session) -> None:
        """Add a session; the same once more changes nothing."""
        ...

    async def session(self, digest: str) -> Session | None:
        """Find a session by its token's digest, whether it has expired or not."""
        ...

    async def remove(self, digest: str) -> bool:
        """Delete a session; False: it is not there. Of any number of calls at once, one is answered True."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` sessions that had expired at ``before``, the oldest first; give how many."""
        ...
