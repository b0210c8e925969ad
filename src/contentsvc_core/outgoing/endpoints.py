"""Webhook endpoints: the addresses that organizations are told at, and of what."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, final

from attrs import field, frozen

from contentsvc_core.content.site_addresses import BadAddress, SiteAddress, SiteHost, read_site_address
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.timestamps import iso_ms

#: What the id of an endpoint begins with: log entries have it where those of deliveries have an integration's.
ENDPOINT_PREFIX: Final = "whe_"
#: So many endpoints an organization has at most: each is written to in the transaction of what it is told of.
MAX_ENDPOINTS: Final = 20
DESCRIPTION_LIMIT: Final = 200
#: How long the secret before verifies beside a new one, unless it is said otherwise, and at most.
OVERLAP: Final = timedelta(hours=24)
MAX_OVERLAP: Final = timedelta(days=30)


class EndpointFault(Enum):
    """Why nothing was done with an endpoint; the value is what clients are told."""

    UNKNOWN = "Webhook endpoint not found"
    TOO_MANY = f"An organization has at most {MAX_ENDPOINTS} webhook endpoints"
    DISABLED = "The webhook endpoint is disabled: enable it first"


def _in_order(types: Iterable[EventType]) -> tuple[EventType, ...]:
    wanted = set(types)
    return tuple(each for each in EventType if each in wanted)


@final
@frozen(kw_only=True)
class WebhookEndpoint:
    """An address of an organization's that is told what happens there."""

    #: ``whe_`` and a UUIDv7.
    id: str
    organization_id: str
    url: str
    #: For people; empty when it was given none.
    description: str = ""
    #: Only these; empty: all, those that are still to come among them.
    event_types: tuple[EventType, ...] = field(converter=_in_order, factory=tuple)
    enabled: bool = True
    #: Why it was switched off by itself; ``None``: it was not.
    disabled_reason: str | None = None
    created_at: datetime
    #: Until when messages are signed with the secret before, too; ``None``: there is none.
    previous_secret_until: datetime | None = None
    #: How many attempts in a row have failed; 0: the last one succeeded, or there was none yet.
    failures: int = 0

    def wants(self, kind: EventType) -> bool:
        """Tell whether it is told of such events."""
        return self.enabled and (not self.event_types or kind in self.event_types)


def read_endpoint_url(text: str, opened: Collection[SiteHost] = ()) -> SiteAddress | BadAddress:
    """Read an endpoint's address: ``https`` at a public host, or whatever an operator has opened.

    Its name is looked up, and the numbers are checked, with each attempt: what a name leads to may change.
    """
    address = read_site_address(text, opened)
    if isinstance(address, SiteAddress) and address.scheme != "https" and not address.opened:
        return BadAddress(reason="must begin with https://")
    return address


def endpoint_body(endpoint: WebhookEndpoint) -> dict[str, Any]:
    """Give an endpoint's fields on the wire; its secret is not among them."""
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
