from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.code_hosts import HostAnswer, HostFault, HostRefusal
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.organizations import Integration
from contentsvc_core.ports import Clock, Directory, Hooks, IdSource
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.code_host_service import ByHand, CodeHostService, HostAccess
from contentsvc_core.usecases.connect import UNKNOWN
from contentsvc_core.usecases.operate import new_secret

#: More concurrent rotations of one integration than are plausible.
_TURNS: Final = 5
_RESTLESS: Final = HostRefusal(
    fault=HostFault.REFUSED,
    reason="other rotations replaced the secret at the same time; try again later",
)


@final
@frozen(kw_only=True)
class Rotated:
    """A rotated secret of an integration, and the code host's answer."""

    integration: Integration
    #: The newest secret: that of a concurrent rotation, if there was one.
    secret: str = field(repr=False)
    overlap_until: datetime
    #: The code host's answer; ``None``: the hook was entered by hand, and the secret must be, too.
    at_host: HostAnswer[None] | HostRefusal | None


@final
@frozen(eq=False, repr=False)
class Rotator:
    """Replaces the webhook secrets of integrations, also at the code host."""

    _directory: Directory
    _hooks: Hooks
    _calls: CodeHostService
    _clock: Clock
    _ids: IdSource

    async def rotate(self, organization_id: str, integration_id: str, *, overlap: timedelta) -> Rotated | Refusal:
        """Store a new secret of an integration; the old one verifies until the overlap ends.

        If the code host refuses it, the user must enter it there. After a fault, a second rotation is harmless.
        """
        integration = await self._directory.integration(organization_id, integration_id)
        if integration is None:
            return UNKNOWN
        now = self._clock.now()
        secret = new_secret(self._ids)
        # Stored here first, so that no delivery is signed with an unknown secret.
        rotated = await self._hooks.rotate_secret(
            organization_id, integration_id, secret, at=now, overlap_until=now + overlap
        )
        if not rotated:
            return UNKNOWN
        secret, at_host = await self._change_at_host(integration, secret)
        return Rotated(integration=integration, secret=secret, overlap_until=now + overlap, at_host=at_host)

    async def _change_at_host(
        self, integration: Integration, secret: str
    ) -> tuple[str, HostAnswer[None] | HostRefusal | None]:
        access = await self._calls.access_to(integration)
        match access:
            case ByHand():
                return secret, None
            case HostRefusal():
                return secret, access
            case HostAccess():
                for _ in range(_TURNS):
                    answered = await self._change(access, secret)
                    newest = await self._newest(integration)
                    if newest is None or newest == secret:
                        return secret, answered
                    # The code host may have received the other secret first. The rotation that is answered last checks
                    # the stored secret again, so that the code host has the newest secret in the end.
                    secret = newest
                return secret, _RESTLESS

    async def _change(self, access: HostAccess, secret: str) -> HostAnswer[None] | HostRefusal:
        ends = [await self._calls.change_secret(access, each, secret) for each in access.integration.repositories]
        return next((end for end in ends if isinstance(end, HostRefusal)), ends[0])

    async def _newest(self, integration: Integration) -> str | None:
        with suppress(SecretUnreadable):
            for secret in await self._directory.secrets(integration.organization_id, integration.id, self._clock.now()):
                return secret
        return None
