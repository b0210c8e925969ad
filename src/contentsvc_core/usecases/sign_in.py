from datetime import datetime
from typing import final

from attrs import field, frozen

from contentsvc_core.access.keys import ApiKey, is_active
from contentsvc_core.access.sessions import (
    LINK_LIFE,
    SESSION_LIFE,
    Session,
    csrf_token,
    link_digest,
    token_digest,
)
from contentsvc_core.ports import ApiKeys, Clock, IdSource, Sessions
from contentsvc_core.usecases.authenticate import Authenticator, mint


@final
@frozen(kw_only=True)
class SignedIn:
    """A valid session of the dashboard."""

    #: The secret in the browser's cookie.
    token: str = field(repr=False)
    #: The key, with the session's scopes and organization.
    key: ApiKey
    expires_at: datetime

    @property
    def csrf(self) -> str:
        return csrf_token(self.token)


@final
@frozen(eq=False, repr=False)
class SignIn:
    """Signs people in and out. A session is valid only as long as its key is."""

    _authenticator: Authenticator
    _keys: ApiKeys
    _sessions: Sessions
    _clock: Clock
    _ids: IdSource

    async def sign_in(self, presented_key: str) -> SignedIn | None:
        """Begin a session; ``None``: the key is unknown, revoked or expired, which the result does not distinguish."""
        key = await self._authenticator.authenticate(presented_key)
        if key is None:
            return None
        return await self._begun(key)

    async def prepare_link(self, key: ApiKey) -> str:
        """Create the token of a link that signs one browser in once, within :data:`LINK_LIFE`; return the token."""
        token, _ = mint(self._ids)
        digest = link_digest(token)
        assert digest is not None
        now = self._clock.now()
        await self._sessions.add(
            Session(digest=digest, key_prefix=key.prefix, created_at=now, expires_at=now + LINK_LIFE)
        )
        return token

    async def sign_in_by_link(self, token: str) -> SignedIn | None:
        """Begin one session; ``None``: the link is unknown, used or expired, or its key is not valid."""
        digest = link_digest(token)
        link = None if digest is None else await self._sessions.session(digest)
        if digest is None or link is None or not await self._sessions.remove(digest):
            return None
        now = self._clock.now()
        key = await self._keys.key(link.key_prefix)
        if now >= link.expires_at or key is None or not is_active(key, now):
            return None
        return await self._begun(key)

    async def _begun(self, key: ApiKey) -> SignedIn:
        await self._authenticator.note_use(key)
        token, digest = mint(self._ids)
        now = self._clock.now()
        session = Session(digest=digest, key_prefix=key.prefix, created_at=now, expires_at=now + SESSION_LIFE)
        await self._sessions.add(session)
        return SignedIn(token=token, key=key, expires_at=session.expires_at)

    async def signed_in(self, token: str) -> SignedIn | None:
        """Return the session of a token; ``None``: it is unknown or expired, or its key is not valid."""
        digest = token_digest(token)
        session = None if digest is None else await self._sessions.session(digest)
        now = self._clock.now()
        if session is None or now >= session.expires_at:
            return None
        key = await self._keys.key(session.key_prefix)
        if key is None or not is_active(key, now):
            return None
        return SignedIn(token=token, key=key, expires_at=session.expires_at)

    async def sign_out(self, token: str) -> None:
        digest = token_digest(token)
        if digest is not None:
            await self._sessions.remove(digest)
