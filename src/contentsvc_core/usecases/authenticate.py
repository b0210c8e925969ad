from datetime import timedelta
from typing import Final, final

from contentsvc_core.access.keys import ApiKey, key_prefix, opens
from contentsvc_core.access.sessions import TOKEN_LENGTH, token_digest
from contentsvc_core.ports import ApiKeys, Clock, IdSource

#: The resolution of the time of last use: a busy key costs one write a minute, not one a request.
_TOUCH_AFTER: Final = timedelta(minutes=1)


@final
class Authenticator:
    """Checks presented API keys, and notes their last use."""

    def __init__(self, keys: ApiKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def authenticate(self, presented: str) -> ApiKey | None:
        """Return the key; ``None``: it is unknown, revoked or expired, which the result does not distinguish."""
        prefix = key_prefix(presented)
        key = None if prefix is None else await self._keys.key(prefix)
        now = self._clock.now()
        if key is None or not opens(key, presented, now):
            return None
        return key

    async def note_use(self, key: ApiKey) -> None:
        """Store the time at which a key was used, at most once a minute."""
        now = self._clock.now()
        if key.last_used_at is None or abs(now - key.last_used_at) >= _TOUCH_AFTER:
            await self._keys.touch(key.prefix, now)


def mint(ids: IdSource) -> tuple[str, str]:
    """Return a new token for a session or for a link in a mail, and its digest."""
    token = ids.token(TOKEN_LENGTH)
    digest = token_digest(token)
    assert digest is not None
    return token, digest
