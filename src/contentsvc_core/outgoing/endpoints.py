"""Webhook endpoints: the URLs that receive an organization's events, and the event types that each subscribes to."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.content.site_addresses import SiteAddress, SiteHost, read_site_address
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.refusals import Refusal, RefusalKind, invalid, too_many
from contentsvc_core.timestamps import iso_ms

#: The prefix of an endpoint's id. Outgoing log entries have this id in place of an integration's.
ENDPOINT_PREFIX: Final = "whe_"
#: The most endpoints of an organization: the transaction of an event writes a message for each endpoint.
MAX_ENDPOINTS: Final = 20
DESCRIPTION_LIMIT: Final = 200
#: The time for which the previous secret also signs, in requests that name none, and the longest one.
OVERLAP: Final = timedelta(hours=24)
MAX_OVERLAP: Final = timedelta(days=30)


UNKNOWN_ENDPOINT: Final = Refusal(RefusalKind.NOT_FOUND, "Webhook endpoint not found")
TOO_MANY_ENDPOINTS: Final = too_many("webhook endpoints", MAX_ENDPOINTS)
ENDPOINT_DISABLED: Final = Refusal(RefusalKind.CONFLICT, "The webhook endpoint is disabled: enable it first")


def _in_order(types: Iterable[EventType]) -> tuple[EventType, ...]:
    wanted = set(types)
    return tuple(each for each in EventType if each in wanted)


@final
@frozen(kw_only=True)
class WebhookEndpoint:
    """A URL that receives an organization's events."""

    #: ``whe_`` and a UUIDv7.
    id: str
    organization_id: str
    url: str
    #: For people; may be empty.
    description: str = ""
    #: The subscribed types; empty: all types, including types added later.
    event_types: tuple[EventType, ...] = field(converter=_in_order, factory=tuple)
    enabled: bool = True
    #: Why the service disabled the endpoint; ``None``: it did not.
    disabled_reason: str | None = None
    created_at: datetime
    #: The time until which messages are also signed with the previous secret; ``None``: there is no previous secret.
    previous_secret_until: datetime | None = None
    #: The number of failed attempts since the last success.
    failures: int = 0

    def wants(self, kind: EventType) -> bool:
        """Check whether the endpoint receives events of a type."""
        return self.enabled and (not self.event_types or kind in self.event_types)


def read_endpoint_url(text: str, opened: Collection[SiteHost] = ()) -> SiteAddress | Refusal:
    """Read an endpoint's URL: ``https`` at a public host, or at a host that an operator has allowed.

    The host name is resolved and its IP addresses are checked at each attempt, since DNS records may change.
    """
    address = read_site_address(text, opened)
    if isinstance(address, SiteAddress) and address.scheme != "https" and not address.opened:
        return invalid(None, "must begin with https://")
    return address


def endpoint_body(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """Return an endpoint's wire form, without its secret."""
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "description": endpoint.description,
        "eventTypes": [kind.value for kind in endpoint.event_types],
        "enabled": endpoint.enabled,
        "disabledReason": endpoint.disabled_reason,
        "consecutiveFailures": endpoint.failures,
        "previousSecretUntil": endpoint.previous_secret_until and iso_ms(endpoint.previous_secret_until),
        "createdAt": iso_ms(endpoint.created_at),
    }
