"""Who is there and what they have connected."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.workflows.triggers import Trigger


class Directory(Protocol):
    """Organizations and what they have connected. Every write raises the organization's version in its transaction."""

    async def add_organization(self, organization: Organization) -> bool:
        """Add an organization; False: the slug is taken, nothing was written."""
        ...

    async def organization(self, slug: str) -> Organization | None:
        """Find an organization by its slug."""
        ...

    async def organizations(self) -> Sequence[Organization]:
        """List all organizations, by slug."""
        ...

    async def add_integration(self, integration: Integration, secret: str) -> bool:
        """Add an integration, its repositories and its webhook secret; sealed, the secret is nowhere in clear.

        False: the organization has connected one of the repositories of that provider already, by id or by name
        (case-insensitively); nothing was written.
        """
        ...

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        """List an organization's integrations, oldest first."""
        ...

    async def secrets(self, organization_id: str, integration_id: str) -> tuple[str, ...]:
        """Give the webhook secrets of an integration that verify now; empty when it is unknown."""
        ...

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        """Switch an integration on or off; False: it is unknown."""
        ...

    async def add_trigger(self, trigger: Trigger) -> None:
        """Add a trigger."""
        ...

    async def trigger(self, organization_id: str, trigger_id: str) -> Trigger | None:
        """Find a trigger."""
        ...

    async def triggers(self, organization_id: str) -> Sequence[Trigger]:
        """List an organization's triggers, oldest first."""
        ...

    async def enable_trigger(self, organization_id: str, trigger_id: str, *, enabled: bool) -> bool:
        """Switch a trigger on or off; False: it is unknown."""
        ...

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the field's word
        """Find the organization that an integration, trigger or run belongs to: for operators, who name ids alone."""
        ...


class ApiKeys(Protocol):
    """The API keys (specification 5.1)."""

    async def add(self, key: ApiKey) -> None:
        """Add a key."""
        ...

    async def key(self, prefix: str) -> ApiKey | None:
        """Find a key by its prefix, of whatever organization: it is what tells the organization."""
        ...

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        """List an organization's keys, or an operator's view of all, oldest first."""
        ...

    async def revoke(self, prefix: str, at: datetime) -> bool:
        """Revoke a key; False: it is unknown. A key that was revoked before keeps its first time."""
        ...

    async def touch(self, prefix: str, at: datetime) -> None:
        """Note that a key was used."""
        ...


class SecretSealer(Protocol):
    """Encrypts secrets for storage."""

    def seal(self, secret: str) -> str:
        """Encrypt; two sealings of one secret differ."""
        ...

    def open(self, sealed: str) -> str:
        """Decrypt.

        Raises:
            SecretUnreadable: It was not sealed with a key that is configured now.
        """
        ...
