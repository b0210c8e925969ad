from typing import Final, final

from attrs import frozen

from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.sessions import token_digest
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.outgoing.subscribers import Subscriber, mailbox_of, read_address
from contentsvc_core.ports import Clock, IdSource, Subscribers
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.authenticate import mint
from contentsvc_core.usecases.limit import RateLimiter

NO_ADDRESS: Final = Refusal(
    RefusalKind.INVALID, "That is no e-mail address. An address looks like name@example.org.", "address"
)
NO_MORE_SUBSCRIBERS: Final = Refusal(
    RefusalKind.LIMIT, "This changelog takes no more subscribers by e-mail now. Use the feed instead."
)


@final
@frozen(eq=False, repr=False)
class Subscriptions:
    """Subscribes confirmed e-mail addresses to changelogs; refuses invalid addresses, and full changelogs."""

    _subscribers: Subscribers
    _limiter: RateLimiter
    _clock: Clock
    _ids: IdSource

    async def request(self, changelog: PublicChangelog, address: str) -> Refusal | None:
        """Store the request of an address, and its confirmation mail. The answer does not reveal known addresses."""
        normal = read_address(address)
        if normal is None:
            return NO_ADDRESS
        if not (await self._limiter.hit(Bucket.of_reader(mailbox_of(normal)))).admitted:
            # Not refused: only the owner of the address may learn of the mails that it got.
            return None
        token, digest = mint(self._ids)
        subscriber = Subscriber(
            id=self._ids.new_id("sub_"),
            organization_id=changelog.organization_id,
            changelog_id=changelog.id,
            address=normal,
            digest=digest,
            created_at=self._clock.now(),
        )
        return None if await self._subscribers.request(subscriber, token) else NO_MORE_SUBSCRIBERS

    async def confirm(self, token: str) -> bool:
        digest = token_digest(token)
        if digest is None:
            return False
        new_token, new_digest = mint(self._ids)
        confirmed = await self._subscribers.confirm(
            digest, at=self._clock.now(), new_digest=new_digest, new_token=new_token
        )
        return confirmed is not None

    async def leave(self, token: str) -> None:
        """Delete the address of a token; an unknown token is ignored."""
        digest = token_digest(token)
        if digest is not None:
            await self._subscribers.remove(digest)
