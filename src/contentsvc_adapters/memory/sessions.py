from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.access.sessions import Session


@final
class MemorySessions(MemoryStore):
    async def add(self, session: Session) -> None:
        refuse_unstorable(session)
        self._state.sessions.setdefault(session.digest, session)

    async def session(self, digest: str) -> Session | None:
        return self._state.sessions.get(digest)

    async def remove(self, digest: str) -> bool:
        return self._state.sessions.pop(digest, None) is not None

    async def sweep(self, *, before: datetime, limit: int) -> int:
        expired = [session for session in self._state.sessions.values() if session.expires_at <= before]
        swept = sorted(expired, key=lambda session: (session.expires_at, session.digest))[:limit]
        for session in swept:
            del self._state.sessions[session.digest]
        return len(swept)
