"""Consents of recipients: asks the e-mail addresses of endpoints for a confirmation, and records the answers."""

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict, final

from attrs import frozen

from contentsvc_core.access.rates import CONFIRMING_TOGETHER, Bucket
from contentsvc_core.access.sessions import token_digest
from contentsvc_core.outgoing.endpoints import EndpointBody, WebhookEndpoint
from contentsvc_core.outgoing.messages import message_for_confirmation
from contentsvc_core.outgoing.recipients import Recipient, RecipientStatus, by_address
from contentsvc_core.ports import Clock, Directory, IdSource, Recipients
from contentsvc_core.usecases.authenticate import mint
from contentsvc_core.usecases.limit import RateLimiter

TOO_SOON: Final = "it got a confirmation mail within the last hour"
TOO_MANY: Final = f"your organization has sent {CONFIRMING_TOGETHER.limit} confirmation mails within a day"
IS_CONFIRMED: Final = "it is confirmed already"
WAS_REMOVED: Final = "its owner has removed it: only a link in one of its mails brings it back"


@final
@frozen(kw_only=True)
class ConfirmationRequests:
    """The result of asking the addresses of an endpoint."""

    addresses: tuple[str, ...]
    #: Why the others were not asked, by address.
    not_asked: Mapping[str, str]


class NotAskedBody(TypedDict):
    """An address that was not asked."""

    address: str
    reason: str


class AskedBody(TypedDict):
    """The addresses that get a confirmation mail, and the other ones with reasons."""

    asked: list[str]
    notAsked: list[NotAskedBody]


def confirmations_body(requests: ConfirmationRequests) -> AskedBody:
    return {
        "asked": list(requests.addresses),
        "notAsked": [{"address": address, "reason": reason} for address, reason in requests.not_asked.items()],
    }


@final
@frozen(eq=False, repr=False)
class Consents:
    """Asks recipients for their consent, and records the answers."""

    _recipients: Recipients
    _directory: Directory
    _limiter: RateLimiter
    _clock: Clock
    _ids: IdSource

    async def body(self, endpoint: WebhookEndpoint) -> EndpointBody:
        return (await self.bodies(endpoint.organization_id, [endpoint]))[0]

    async def bodies(self, organization_id: str, endpoints: Iterable[WebhookEndpoint]) -> list[EndpointBody]:
        endpoints = list(endpoints)
        known = await self._known(organization_id, endpoints)
        return [EndpointBody.of(each, known) for each in endpoints]

    async def _known(self, organization_id: str, endpoints: Iterable[WebhookEndpoint]) -> Mapping[str, Recipient]:
        if not any(endpoint.addresses for endpoint in endpoints):
            return {}
        return by_address(await self._recipients.recipients(organization_id))

    async def ask(self, endpoint: WebhookEndpoint, *, again: bool = False) -> ConfirmationRequests:
        """Send confirmation mails to the addresses of an endpoint that got none; ``again``: to all unconfirmed ones."""
        known = await self._known(endpoint.organization_id, [endpoint])
        asked: list[str] = []
        not_asked: dict[str, str] = {}
        for address in endpoint.addresses:
            recipient = known.get(address)
            if recipient is not None and not again:
                continue
            refused = await self._ask(endpoint, address, recipient)
            if refused is None:
                asked.append(address)
            else:
                not_asked[address] = refused
        return ConfirmationRequests(addresses=tuple(asked), not_asked=not_asked)

    async def _ask(self, endpoint: WebhookEndpoint, address: str, recipient: Recipient | None) -> str | None:
        owner = endpoint.organization_id
        if recipient is not None and recipient.status is not RecipientStatus.UNCONFIRMED:
            return IS_CONFIRMED if recipient.status is RecipientStatus.CONFIRMED else WAS_REMOVED
        # The address first: a repeated request takes no mail of the organization's day.
        if not (await self._limiter.hit(Bucket.of_recipient(owner, address))).admitted:
            return TOO_SOON
        if not (await self._limiter.hit(Bucket.of_organization(CONFIRMING_TOGETHER, owner))).admitted:
            return TOO_MANY
        organization = await self._directory.organization_of(owner)
        at = self._clock.now()
        token, digest = mint(self._ids)
        message = message_for_confirmation(
            endpoint.id,
            owner,
            self._ids.new_id("msg_"),
            address=address,
            organization=organization.name if organization else "",
            at=at,
        )
        await self._recipients.ask(
            Recipient(organization_id=owner, address=address, digest=digest, asked_at=at), token, message
        )
        return None

    async def confirm(self, token: str) -> bool:
        """Confirm an address; ``False``: the link was used, has ended, or is invalid."""
        digest = token_digest(token)
        if digest is None:
            return False
        new_token, new_digest = mint(self._ids)
        at = self._clock.now()
        return await self._recipients.confirm(digest, at=at, new_digest=new_digest, new_token=new_token) is not None

    async def leave(self, token: str) -> None:
        """Remove the address of a token; an unknown token is ignored."""
        digest = token_digest(token)
        if digest is not None:
            await self._recipients.leave(digest)

    async def forget(self, organization_id: str, endpoints: Iterable[WebhookEndpoint]) -> None:
        """Forget the confirmed addresses that no endpoint has any more."""
        used = {address for endpoint in endpoints for address in endpoint.addresses}
        await self._recipients.forget(organization_id, used=used)
