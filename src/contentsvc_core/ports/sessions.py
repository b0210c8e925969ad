from datetime import datetime
from typing import Protocol

from contentsvc_core.access.sessions import Session


class Sessions(Protocol):
    """The sessions. Rights and the validity of a session's key are checked elsewhere."""

    async def add(self, session: Session) -> None:
        """Store a session; a repeated call changes nothing."""
        ...

    async def session(self, digest: str) -> Session | None:
        """Return a session by its token's digest, expired or not; ``None``: it is unknown."""
        ...

    async def remove(self, digest: str) -> bool:
        """Delete a session; ``False``: it is unknown. Of concurrent calls, one returns ``True``."""
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` sessions that had expired at ``before``, oldest first; return their number."""
        ...
