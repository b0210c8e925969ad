"""Telling who calls the API (specification 5.1)."""

from datetime import timedelta
from typing import Final, final

from contentsvc_core.access.keys import ApiKey, key_prefix, opens
from contentsvc_core.ports import ApiKeys, Clock

#: The time of last use is kept to this: a busy key costs one write a minute, not one a request.
_TOUCH_AFTER: Final = timedelta(minutes=1)


@final
class Authenticator:
    """Finds the key that a client presents."""

    def __init__(self, keys: ApiKeys, clock: Clock) -> None:
        """Take the ports."""
        self._keys = keys
        self._clock = clock

    async def authenticate(self, presented: str) -> ApiKey | None:
        """Give the key; ``None`` when it is unknown, revoked or expired: which of them is not told."""
        prefix = key_prefix(presented)
        key = None if prefix is None else await self._keys.key(prefix)
        now = self._clock.now()
        if key is None or not opens(key, presented, now):
            return None
        return key

    async def note_use(self, key: ApiKey) -> None:
        """Note that a key was used, at most once a minute.

        Apart from :meth:`authenticate`, which only reads: nobody who reads has to wait for a writer.
        """
        now = self._clock.now()
        if key.last_used_at is None or abs(now - key.last_used_at) >= _TOUCH_AFTER:
            await self._keys.touch(key.prefix, now)
