"""Webhook endpoints: the URLs that receive an organization's events, and the event types that each subscribes to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, Self, final

from attrs import evolve, field, frozen
from msgspec import Meta, Struct

from contentsvc_core.commands import Command, changing
from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.recipients import Recipient, RecipientBody
from contentsvc_core.outgoing.targets import addresses_of, shown_target
from contentsvc_core.refusals import Refusal, RefusalKind, too_many
from contentsvc_core.schemas import body_of

#: The prefix of an endpoint's id. Outgoing log entries have this id in place of an integration's.
ENDPOINT_PREFIX: Final = "whe_"
#: The most endpoints of an organization: the transaction of an event writes a message for each endpoint.
MAX_ENDPOINTS: Final = 20
#: The longest description, in characters.
DESCRIPTION_LIMIT: Final = 200
#: The time for which the previous secret also signs, in requests that name none, and the longest one.
OVERLAP: Final = timedelta(hours=24)
MAX_OVERLAP: Final = timedelta(days=30)


UNKNOWN_ENDPOINT: Final = Refusal(RefusalKind.NOT_FOUND, "Webhook endpoint not found")
TOO_MANY_ENDPOINTS: Final = too_many("webhook endpoints", MAX_ENDPOINTS)
UNSIGNED: Final = Refusal(RefusalKind.CONFLICT, "Only messages in the standard format are signed: there is no secret")
ENDPOINT_DISABLED: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint is disabled: enable it first")
NONE_CONFIRMED: Final = Refusal(RefusalKind.CONFLICT, "No address of the webhook endpoint is confirmed yet")
NO_ADDRESSES: Final = Refusal(RefusalKind.CONFLICT, "Only e-mail addresses are confirmed: this endpoint has none")


def _in_order(types: Iterable[EventType]) -> tuple[EventType, ...]:
    chosen = set(types)
    return tuple(each for each in EventType if each in chosen)


@final
@frozen(kw_only=True)
class WebhookEndpoint:
    """A URL that receives an organization's events."""

    #: ``whe_`` and a UUIDv7.
    id: str
    organization_id: str
    #: An ``https`` URL, or ``mailto:`` and addresses.
    url: str
    description: str = ""
    format: EndpointFormat = EndpointFormat.STANDARD
    #: The subscribed types; empty: all types that suit the format, including types added later.
    event_types: tuple[EventType, ...] = field(converter=_in_order, factory=tuple)
    enabled: bool = True
    #: Why the service disabled the endpoint; ``None``: it did not.
    disabled_reason: str | None = None
    created_at: datetime
    #: The time until which messages are also signed with the previous secret; ``None``: there is no previous secret.
    previous_secret_until: datetime | None = None
    failures: int = 0

    def wants(self, kind: EventType) -> bool:
        return self.enabled and is_subscribed(self.format, self.event_types or None, kind)

    def shown(self, *, to_writer: bool) -> Self:
        """Return the endpoint as a key sees it that may write, or not.

        The URL of a chat is a secret, with which anyone can post there: keys that may not write see its host.
        """
        if to_writer or not self.format.is_chat:
            return self
        return evolve(self, url=f"https://{shown_target(self.url)}/…")

    @property
    def is_signed(self) -> bool:
        return self.format is EndpointFormat.STANDARD

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the e-mail addresses of the target; empty: it is a URL."""
        return addresses_of(self.url) if self.format is EndpointFormat.EMAIL else ()


def is_subscribed(format_: EndpointFormat | None, chosen: Collection[EventType] | None, kind: EventType) -> bool:
    """Check whether an endpoint with these settings subscribes to a type.

    ``chosen`` is ``None`` if it has chosen no types, ``format_`` if a newer version has written the format. Without a
    choice, people do not receive ``post.created``: other events report the same post.
    """
    if chosen is not None:
        return kind in chosen
    return format_ is EndpointFormat.STANDARD or kind is not EventType.POST_CREATED


@final
class CreateEndpoint(Command, frozen=True, kw_only=True):
    """A new webhook endpoint. If you choose no event types, the endpoint receives all of them."""

    url: Annotated[
        str,
        Meta(
            max_length=TEXT_LIMIT,
            description="URL, or mailto: and e-mail addresses.",
            extra_json_schema={"minLength": 1},
        ),
    ]
    description: Annotated[str, Meta(max_length=DESCRIPTION_LIMIT, description="Description.")] = ""
    event_types: Annotated[Sequence[EventType], Meta(description="Event types to send.")] = ()
    format: Annotated[
        EndpointFormat | None, Meta(description="Format of the messages. By default, the target's host decides.")
    ] = None
    enabled: bool = True


#: Changes fields of an endpoint. ``None`` as the format: the host of the target decides.
@final
@changing(CreateEndpoint, clears=("format",))
class ChangeEndpoint(Command, frozen=True):
    if TYPE_CHECKING:

        def __init__(self, **fields: object) -> None: ...


@final
class EndpointBody(Struct, rename="camel", frozen=True, kw_only=True):
    """A webhook endpoint."""

    id: str
    url: str
    description: str
    format: EndpointFormat
    event_types: list[EventType]
    enabled: bool
    disabled_reason: str | None
    consecutive_failures: int
    previous_secret_until: str | None
    created_at: str
    recipients: list[RecipientBody]

    @classmethod
    def of(cls, endpoint: WebhookEndpoint, known: Mapping[str, Recipient]) -> Self:
        """Return the body; ``known`` are the organization's recipients by address."""
        recipients = [RecipientBody.of(address, known) for address in endpoint.addresses]
        return body_of(cls, endpoint, consecutive_failures=endpoint.failures, recipients=recipients)
