"""The use cases of webhook endpoints over any stores, and the tokens of their recipients."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from contentsvc_core import Dispatcher, EndpointEditor
from contentsvc_core.outgoing.messages import FreePlaces
from contentsvc_core.outgoing.retries import Answer, NotSent
from contentsvc_core.ports import Clock, IdSource, Stores
from contentsvc_core.usecases.consents import Consents
from contentsvc_core.usecases.limit import RateLimiter

#: Enough places for all messages of a test.
PLACES: Final = FreePlaces(limit=99, failing=99, per_endpoint=99, per_organization=99)


class Receiver:
    """Gives its answers in turn, then its usual one, and records the messages."""

    def __init__(self, status: int = 200, excerpt: str = "") -> None:
        self.usual = Answer(status=status, excerpt=excerpt)
        self.answers: list[Answer | NotSent] = []
        self.came: list[tuple[str, Mapping[str, str], bytes]] = []

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        self.came.append((url, headers, body))
        return self.answers.pop(0) if self.answers else self.usual


async def dispatch(stores: Stores, clock: Clock, ids: IdSource, receiver: Receiver) -> None:
    """Send all due messages once."""
    dispatcher = Dispatcher(stores.outbox, stores.recipients, receiver, clock, ids)
    for taken in await dispatcher.take(PLACES):
        await dispatcher.send(taken)


def consents_of(stores: Stores, clock: Clock, ids: IdSource) -> Consents:
    return Consents(stores.recipients, stores.directory, RateLimiter(stores.rate_limits, clock), clock, ids)


def editor_of(stores: Stores, clock: Clock, ids: IdSource, **options: Any) -> EndpointEditor:  # as the editor's
    return EndpointEditor(stores.endpoints, stores.outbox, consents_of(stores, clock, ids), clock, ids, **options)


async def tokens_of(stores: Stores, clock: Clock) -> Mapping[str, str]:
    """Return the tokens of the addresses with due messages, by address, as in their mails."""
    now = clock.now()
    due = await stores.outbox.due(now, PLACES)
    taken = await stores.outbox.take([each.id for each in due], now=now, lease=timedelta(minutes=1))
    return {
        each.recipient.address: each.token for message in taken for each in message.addressees if each.token is not None
    }
