from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.outgoing.messages import Message
from contentsvc_core.outgoing.recipients import Recipient, RecipientStatus
from contentsvc_core.outgoing.subscribers import CONFIRM_WITHIN


@final
class MemoryRecipients(MemoryStore):
    async def ask(self, recipient: Recipient, token: str, message: Message) -> None:
        refuse_unstorable(recipient, token, message)
        self._state.refuse_stranger(recipient.organization_id)
        key = (recipient.organization_id, recipient.address)
        current = self._state.recipients.get(key)
        if current is not None and current.status is not RecipientStatus.UNCONFIRMED:
            return
        self._state.recipients[key] = recipient
        self._state.recipient_tokens[key] = self._sealer.seal(token)
        self._state.messages.setdefault(message.id, message)

    async def confirm(self, digest: str, *, at: datetime, new_digest: str, new_token: str) -> Recipient | None:
        recipient = self._by(digest)
        if recipient is None or recipient.status is RecipientStatus.CONFIRMED:
            return recipient
        confirmed = evolve(recipient, status=RecipientStatus.CONFIRMED, confirmed_at=at)
        key = (recipient.organization_id, recipient.address)
        if recipient.status is RecipientStatus.UNCONFIRMED:
            if recipient.asked_at <= at - CONFIRM_WITHIN:
                return None
            confirmed = evolve(confirmed, digest=new_digest)
            self._state.recipient_tokens[key] = self._sealer.seal(new_token)
        self._state.recipients[key] = confirmed
        return confirmed

    async def leave(self, digest: str) -> Recipient | None:
        recipient = self._by(digest)
        if recipient is None:
            return None
        left = evolve(recipient, status=RecipientStatus.REMOVED, confirmed_at=None)
        self._state.recipients[recipient.organization_id, recipient.address] = left
        return left

    async def recipients(self, organization_id: str) -> Sequence[Recipient]:
        own = (each for each in self._state.recipients.values() if each.organization_id == organization_id)
        return sorted(own, key=lambda each: each.address)

    async def give_token(self, recipient: Recipient, *, digest: str, token: str) -> str | None:
        key = (recipient.organization_id, recipient.address)
        current = self._state.recipients.get(key)
        if current is None:
            return None
        if current.digest != recipient.digest:
            return self._sealer.open(self._state.recipient_tokens[key])
        self._state.recipients[key] = evolve(current, digest=digest)
        self._state.recipient_tokens[key] = self._sealer.seal(token)
        return token

    async def forget(self, organization_id: str, *, used: Collection[str]) -> int:
        unused = [
            each
            for each in await self.recipients(organization_id)
            if each.status is RecipientStatus.CONFIRMED and each.address not in used
        ]
        self._remove(unused)
        return len(unused)

    async def sweep(self, *, before: datetime, limit: int) -> int:
        asked = [each for each in self._state.recipients.values() if each.status is RecipientStatus.UNCONFIRMED]
        old = [each for each in asked if each.asked_at < before]
        old.sort(key=lambda each: (each.asked_at, each.organization_id, each.address))
        self._remove(old[:limit])
        return len(old[:limit])

    def _remove(self, recipients: Iterable[Recipient]) -> None:
        for each in recipients:
            self._state.recipient_tokens.pop((each.organization_id, each.address), None)
            del self._state.recipients[each.organization_id, each.address]

    def _by(self, digest: str) -> Recipient | None:
        return next((each for each in self._state.recipients.values() if each.digest == digest), None)
