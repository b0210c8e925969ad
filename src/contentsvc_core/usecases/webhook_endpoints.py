"""Creates, changes, tests and deletes webhook endpoints."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import TypedDict, Unpack, final

from attrs import evolve, field, frozen

from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.outgoing.endpoints import (
    DESCRIPTION_LIMIT,
    ENDPOINT_DISABLED,
    ENDPOINT_PREFIX,
    MAX_OVERLAP,
    OVERLAP,
    UNKNOWN_ENDPOINT,
    WebhookEndpoint,
    read_endpoint_url,
)
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.signing import SECRET_LENGTH, secret_of
from contentsvc_core.ports import Clock, IdSource, Outbox, WebhookEndpoints
from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import has_controls


@final
@frozen(kw_only=True)
class NewSecret:
    """An endpoint with a new secret; its clear text is available only now."""

    endpoint: WebhookEndpoint
    secret: str = field(repr=False)


class EndpointChanges(TypedDict, total=False):
    """The changes of an endpoint; missing fields stay unchanged."""

    url: str
    description: str
    event_types: Iterable[EventType]
    enabled: bool


@final
class EndpointEditor:
    """Creates, changes, rotates, tests and deletes webhook endpoints."""

    def __init__(
        self,
        endpoints: WebhookEndpoints,
        outbox: Outbox,
        clock: Clock,
        ids: IdSource,
        *,
        opened: Collection[SiteHost] = (),
    ) -> None:
        self._endpoints = endpoints
        self._outbox = outbox
        self._clock = clock
        self._ids = ids
        self._opened = opened

    async def create(
        self,
        organization_id: str,
        *,
        url: str,
        description: str = "",
        event_types: Iterable[EventType] = (),
        enabled: bool = True,
    ) -> NewSecret | Refusal:
        """Create an endpoint with a new secret; without event types it receives all events."""
        if (fault := self._fault(url=url, description=description)) is not None:
            return fault
        endpoint = WebhookEndpoint(
            id=self._ids.mint(ENDPOINT_PREFIX),
            organization_id=organization_id,
            url=url,
            description=description,
            event_types=event_types,
            enabled=enabled,
            created_at=self._clock.now(),
        )
        secret = self._secret()
        added = await self._endpoints.add(endpoint, secret)
        return added if isinstance(added, Refusal) else NewSecret(endpoint=added, secret=secret)

    async def change(
        self, organization_id: str, endpoint_id: str, **changes: Unpack[EndpointChanges]
    ) -> WebhookEndpoint | Refusal:
        """Change an endpoint; messages that waited are sent when it is enabled again."""
        if (fault := self._fault(url=changes.get("url"), description=changes.get("description"))) is not None:
            return fault

        def change(standing: WebhookEndpoint) -> WebhookEndpoint:
            changed = evolve(standing, **changes)
            if changed.enabled and (not standing.enabled or changed.url != standing.url):
                # A new start: failures at the former address do not count.
                changed = evolve(changed, disabled_reason=None, failures=0)
            return changed

        if not is_own_id(endpoint_id):
            return UNKNOWN_ENDPOINT
        return await self._endpoints.change(organization_id, endpoint_id, change) or UNKNOWN_ENDPOINT

    async def rotate(
        self, organization_id: str, endpoint_id: str, *, overlap: timedelta = OVERLAP
    ) -> NewSecret | Refusal:
        """Store a new secret of an endpoint; for ``overlap``, messages are signed with the old one, too."""
        if not timedelta() <= overlap <= MAX_OVERLAP:
            return invalid("overlap", f"must be 0 to {MAX_OVERLAP // timedelta(hours=1)} hours")
        if not is_own_id(endpoint_id):
            return UNKNOWN_ENDPOINT
        secret = self._secret()
        rotated = await self._endpoints.rotate(
            organization_id, endpoint_id, secret, overlap_until=self._clock.now() + overlap
        )
        return UNKNOWN_ENDPOINT if rotated is None else NewSecret(endpoint=rotated, secret=secret)

    async def test(self, organization_id: str, endpoint_id: str) -> str | Refusal:
        """Create a test message and return its id, by which the log has the outcome."""
        found = await self._endpoints.endpoint(organization_id, endpoint_id) if is_own_id(endpoint_id) else None
        if found is None:
            return UNKNOWN_ENDPOINT
        if not found.enabled:
            return ENDPOINT_DISABLED
        message = message_for_test(found.id, organization_id, self._ids.mint("msg_"), self._clock.now())
        await self._outbox.add(message)
        return message.id

    async def remove(self, organization_id: str, endpoint_id: str) -> bool:
        """Delete an endpoint and its unsent messages; ``False``: it is unknown."""
        return is_own_id(endpoint_id) and await self._endpoints.remove(organization_id, endpoint_id)

    def _secret(self) -> str:
        return secret_of(self._ids.token(SECRET_LENGTH))

    def _fault(self, *, url: str | None, description: str | None) -> Refusal | None:
        if url is not None:
            address = read_endpoint_url(url, self._opened)
            if isinstance(address, Refusal):
                return evolve(address, field="url")
        if description is not None:
            if len(description) > DESCRIPTION_LIMIT:
                return invalid("description", f"must have at most {DESCRIPTION_LIMIT} characters")
            if has_controls(description):
                return invalid("description", "must be one line without control characters")
        return None
