from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, final

from attrs import evolve, field, frozen

from contentsvc_core.commands import read_command, values_of
from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.outgoing.endpoints import (
    DESCRIPTION_LIMIT,
    ENDPOINT_DISABLED,
    ENDPOINT_PREFIX,
    MAX_OVERLAP,
    NO_ADDRESSES,
    NONE_CONFIRMED,
    OVERLAP,
    UNKNOWN_ENDPOINT,
    UNSIGNED,
    ChangeEndpoint,
    CreateEndpoint,
    WebhookEndpoint,
)
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.messages import message_for_test
from contentsvc_core.outgoing.recipients import RecipientStatus
from contentsvc_core.outgoing.signing import SECRET_LENGTH, secret_of
from contentsvc_core.outgoing.targets import NO_MAIL, Target, format_of_target, read_target
from contentsvc_core.ports import Clock, IdSource, Outbox, WebhookEndpoints
from contentsvc_core.refusals import Refusal, invalid
from contentsvc_core.text import has_controls
from contentsvc_core.usecases.consents import ConfirmationRequests, Consents


@final
@frozen(kw_only=True)
class NewSecret:
    """An endpoint with a new secret; its clear text is available only now."""

    endpoint: WebhookEndpoint
    secret: str = field(repr=False)


@final
@frozen(eq=False, repr=False)
class EndpointEditor:
    """Creates, changes, tests and deletes webhook endpoints."""

    _endpoints: WebhookEndpoints
    _outbox: Outbox
    _consents: Consents
    _clock: Clock
    _ids: IdSource
    _opened: Collection[SiteHost] = field(default=(), kw_only=True, alias="opened")
    _mails: bool = field(default=False, kw_only=True, alias="mails")

    def fault_of(self, values: Mapping[str, Any]) -> Refusal | None:
        """Return the first fault of some of an endpoint's fields, by attribute; ``None``: they are valid."""
        read = read_command(ChangeEndpoint, values)
        if isinstance(read, Refusal):
            return read
        changes = values_of(read)
        target = self._target(changes["url"], changes.get("format")) if "url" in changes else None
        return _fault(changes.get("description", "")) or (target if isinstance(target, Refusal) else None)

    async def create(self, organization_id: str, wanted: CreateEndpoint) -> NewSecret | Refusal:
        if (fault := _fault(wanted.description)) is not None:
            return fault
        target = self._target(wanted.url, wanted.format)
        if isinstance(target, Refusal):
            return target
        endpoint = WebhookEndpoint(
            id=self._ids.new_id(ENDPOINT_PREFIX),
            organization_id=organization_id,
            url=target.url,
            description=wanted.description,
            format=target.format,
            event_types=wanted.event_types,
            enabled=wanted.enabled,
            created_at=self._clock.now(),
        )
        secret = self._secret()
        added = await self._endpoints.add(endpoint, secret)
        if isinstance(added, Refusal):
            return added
        await self._ask_new(added)
        return NewSecret(endpoint=added, secret=secret)

    async def change(self, organization_id: str, endpoint_id: str, change: ChangeEndpoint) -> WebhookEndpoint | Refusal:
        """Change an endpoint by a ``ChangeEndpoint``. A new target has the format of its host, unless chosen."""
        changes = values_of(change)
        if (fault := _fault(changes.get("description", ""))) is not None:
            return fault
        current = await self._endpoints.endpoint(organization_id, endpoint_id)
        if current is None:
            return UNKNOWN_ENDPOINT
        if "url" in changes or "format" in changes:
            is_chosen = current.format is not format_of_target(current.url)
            chosen_format: EndpointFormat | None = changes.get("format", current.format if is_chosen else None)
            target = self._target(changes.get("url", current.url), chosen_format)
            if isinstance(target, Refusal) and "format" not in changes:
                target = self._target(changes["url"], None)
            if isinstance(target, Refusal):
                return target
            changes |= {"url": target.url, "format": target.format}

        def evolved(current: WebhookEndpoint) -> WebhookEndpoint:
            changed = evolve(current, **changes)
            if changed.enabled and (not current.enabled or changed.url != current.url):
                # A new start: failures at the former address do not count.
                changed = evolve(changed, disabled_reason=None, failures=0)
            return changed

        changed = await self._endpoints.change(organization_id, endpoint_id, evolved)
        if changed is None:
            return UNKNOWN_ENDPOINT
        if set(current.addresses) - set(changed.addresses):
            await self._forget_unused(organization_id)
        await self._ask_new(changed)
        return changed

    async def ask(self, organization_id: str, endpoint_id: str) -> ConfirmationRequests | Refusal:
        """Send the confirmation mail again to the addresses of an endpoint that are unconfirmed."""
        endpoint = await self._endpoints.endpoint(organization_id, endpoint_id)
        if endpoint is None:
            return UNKNOWN_ENDPOINT
        if not endpoint.addresses:
            return NO_ADDRESSES
        if not endpoint.enabled:
            return ENDPOINT_DISABLED
        return await self._consents.ask(endpoint, again=True)

    async def _ask_new(self, endpoint: WebhookEndpoint) -> None:
        # Messages of a disabled endpoint wait: the link would end before its mail is sent.
        if endpoint.enabled:
            await self._consents.ask(endpoint)

    async def _forget_unused(self, organization_id: str) -> None:
        await self._consents.forget(organization_id, await self._endpoints.endpoints(organization_id))

    async def rotate(
        self, organization_id: str, endpoint_id: str, *, overlap: timedelta = OVERLAP
    ) -> NewSecret | Refusal:
        """Store a new secret of an endpoint; for ``overlap``, messages are signed with the old one, too."""
        if not timedelta() <= overlap <= MAX_OVERLAP:
            return invalid("overlap", f"must be 0 to {MAX_OVERLAP // timedelta(hours=1)} hours")
        current = await self._endpoints.endpoint(organization_id, endpoint_id)
        if current is None:
            return UNKNOWN_ENDPOINT
        if not current.is_signed:
            return UNSIGNED
        secret = self._secret()
        rotated = await self._endpoints.rotate(
            organization_id, endpoint_id, secret, overlap_until=self._clock.now() + overlap
        )
        return UNKNOWN_ENDPOINT if rotated is None else NewSecret(endpoint=rotated, secret=secret)

    async def test(self, organization_id: str, endpoint_id: str) -> str | Refusal:
        """Create a test message and return its id, by which the log has the outcome."""
        endpoint = await self._endpoints.endpoint(organization_id, endpoint_id)
        if endpoint is None:
            return UNKNOWN_ENDPOINT
        if not endpoint.enabled:
            return ENDPOINT_DISABLED
        if endpoint.addresses:
            recipients = (await self._consents.body(endpoint)).recipients
            if all(each.status is not RecipientStatus.CONFIRMED for each in recipients):
                return NONE_CONFIRMED
        message = message_for_test(endpoint.id, organization_id, self._ids.new_id("msg_"), self._clock.now())
        await self._outbox.add(message)
        return message.id

    async def remove(self, organization_id: str, endpoint_id: str) -> bool:
        if not await self._endpoints.remove(organization_id, endpoint_id):
            return False
        await self._forget_unused(organization_id)
        return True

    def _secret(self) -> str:
        return secret_of(self._ids.token(SECRET_LENGTH))

    def _target(self, url: str, chosen_format: EndpointFormat | None) -> Target | Refusal:
        target = read_target(url, chosen_format, self._opened)
        is_mail = isinstance(target, Target) and target.format is EndpointFormat.EMAIL
        return NO_MAIL if is_mail and not self._mails else target


def _fault(description: str) -> Refusal | None:
    if len(description) > DESCRIPTION_LIMIT:
        return invalid("description", f"must have at most {DESCRIPTION_LIMIT} characters")
    if has_controls(description):
        return invalid("description", "must be one line without control characters")
    return None
