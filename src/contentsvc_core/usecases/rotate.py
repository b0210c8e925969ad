"""Changing webhook secrets, here and at the code host."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.hosts import HostAnswer, HostFault, HostRefusal
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.organizations import Integration
from contentsvc_core.ports import Clock, Directory, Hooks, IdSource
from contentsvc_core.usecases.connect import UNKNOWN
from contentsvc_core.usecases.host_calls import ByHand, HostCalls, Reach
from contentsvc_core.usecases.operate import Refusal, new_secret

#: More rotations of one integration than anybody starts at once.
_TURNS: Final = 5
_RESTLESS: Final = HostRefusal(
    fault=HostFault.REFUSED,
    reason="the secret was rotated again and again meanwhile; rotate it once more when nobody else does",
)


@final
@frozen(kw_only=True)
class Rotated:
    """An integration with a new secret."""

    integration: Integration
    #: The newest one: that of another rotation, when one came in between.
    secret: str = field(repr=False)
    #: Until when the old one verifies, too.
    overlap_until: datetime
    #: What the code host said to it; ``None``: the hook was entered by hand, and so is the secret.
    at_host: HostAnswer[None] | HostRefusal | None


@final
class Rotator:
    """Changes the webhook secrets of integrations."""

    def __init__(self, directory: Directory, hooks: Hooks, calls: HostCalls, clock: Clock, ids: IdSource) -> None:
        """Take the ports, and what calls code hosts."""
        self._directory = directory
        self._hooks = hooks
        self._calls = calls
        self._clock = clock
        self._ids = ids

    async def rotate(self, organization_id: str, integration_id: str, *, overlap: timedelta) -> Rotated | Refusal:
        """Give an integration a new secret; the old one verifies for some time still.

        With a token the code host is told at once. When it refuses, both secrets verify during the overlap, and the
        new one has to be entered there. Of several rotations at once the newest here ends as the code host's.

        Raises:
            StoreUnavailable: The secret may be a new one already; rotating again is harmless.
        """
        integration = None
        if is_own_id(integration_id):
            integration = await self._directory.integration(organization_id, integration_id)
        if integration is None:
            return UNKNOWN
        now = self._clock.now()
        secret = new_secret(self._ids)
        # Here first: not one delivery is signed with what nobody knows yet.
        rotated = await self._hooks.rotate_secret(
            organization_id, integration_id, secret, at=now, overlap_until=now + overlap
        )
        if not rotated:
            return UNKNOWN
        secret, at_host = await self._tell(integration, secret)
        return Rotated(integration=integration, secret=secret, overlap_until=now + overlap, at_host=at_host)

    async def _tell(self, integration: Integration, secret: str) -> tuple[str, HostAnswer[None] | HostRefusal | None]:
        """Have the code host sign with the newest secret: give that, and what it said."""
        reach = await self._calls.reach(integration)
        match reach:
            case ByHand():
                return secret, None
            case HostRefusal():
                return secret, reach
            case Reach():
                for _ in range(_TURNS):
                    answered = await self._change(reach, integration, secret)
                    newest = await self._newest(integration)
                    if newest is None or newest == secret:
                        return secret, answered
                    # The code host may have been told of that one before ours. Whoever is the last to be answered
                    # looks here afterwards, so that what it has in the end is the newest.
                    secret = newest
                return secret, _RESTLESS

    async def _change(self, reach: Reach, integration: Integration, secret: str) -> HostAnswer[None] | HostRefusal:
        ends = [await self._calls.change_secret(reach, integration, each, secret) for each in integration.repositories]
        return next((end for end in ends if isinstance(end, HostRefusal)), ends[0])

    async def _newest(self, integration: Integration) -> str | None:
        """Give the secret that was made last; ``None``: there is none any more, or an older one cannot be opened."""
        with suppress(SecretUnreadable):
            for secret in await self._directory.secrets(integration.organization_id, integration.id, self._clock.now()):
                return secret
        return None
