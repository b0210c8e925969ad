from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from contentsvc_core.access.keys import MAX_KEYS, ApiKey
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.removals import Removed


class Directory(Protocol):
    """Organizations and integrations. Every write raises the organization's version in its transaction."""

    async def add_organization(self, organization: Organization) -> bool:
        """Add an organization; False: the slug is taken, nothing was written."""
        ...

    async def organization(self, slug: str) -> Organization | None: ...

    async def organization_of(self, organization_id: str) -> Organization | None: ...

    async def organizations(self) -> Sequence[Organization]:
        """List all organizations, by slug."""
        ...

    async def retention_days(self) -> Mapping[str, int]:
        """Return the retention period of every organization's log, in days, by the organization's id."""
        ...

    async def set_house_style(self, organization_id: str, house_style: HouseStyle | None) -> bool:
        """Set the house style; ``None``: the defaults. The version stays the same. ``False``: it is unknown."""
        ...

    async def change(
        self,
        organization_id: str,
        now: datetime,
        *,
        name: str | None = None,
        retention_days: int | None = None,
        time_zone: ZoneInfo | None = None,
    ) -> bool:
        """Change the given fields of an organization in one transaction. ``False``: the organization is unknown.

        With a time zone, its version is raised, its enabled schedules get their next slots in the new zone after
        ``now``, and its triggers the ends of their windows
        (:meth:`~contentsvc_core.workflows.automations.Automation.moved`).
        """
        ...

    async def add_integration(self, integration: Integration, secret: str, *, token: str | None = None) -> bool:
        """Store an integration, its repositories, and its webhook secret and API token, both sealed.

        ``False``: the organization has connected one of the provider's repositories already, by id or by name
        (case-insensitively); nothing was written.
        """
        ...

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        """List an organization's integrations, oldest first."""
        ...

    async def integration(self, organization_id: str, integration_id: str) -> Integration | None: ...

    async def secrets(self, organization_id: str, integration_id: str, now: datetime) -> tuple[str, ...]:
        """Return the webhook secrets of an integration that verify at ``now``, newest first; empty: it is unknown."""
        ...

    async def remove_integration(self, organization_id: str, integration_id: str) -> Removed | None:
        """Delete an integration, its repositories, secrets and token; ``None``: it is unknown.

        In the same transaction, triggers that name one of its repositories at its provider are disabled, and schedules
        that name a repository which no other integration of the organization connects. All else stays.
        """
        ...

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        """Enable or disable an integration; ``False``: it is unknown."""
        ...

    async def owner_of(self, id: str) -> str | None:  # noqa: A002  # the field's word
        """Return the organization of a resource or of a processed delivery; operators name the id alone."""
        ...


class ApiKeys(Protocol):
    async def add(self, key: ApiKey, *, at_most: int = MAX_KEYS) -> Refusal | None:
        """Store a key; a repeated call changes nothing. With a return value other than ``None``, nothing was written.

        ``ISSUER_ENDED``: the issuing key is unknown, another organization's, revoked, or expired when the new key is
        created. A key beyond ``at_most`` active ones is refused, too.
        Both hold for any number of concurrent additions and revocations.
        """
        ...

    async def key(self, prefix: str) -> ApiKey | None:
        """Return the key with a prefix, of any organization; ``None``: it is unknown."""
        ...

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        """List an organization's keys, oldest first; without an organization, all keys."""
        ...

    async def revoke(self, prefix: str, at: datetime) -> bool:
        """Revoke a key, and every key issued with it, directly or not; ``False``: it is unknown."""
        ...

    async def touch(self, prefix: str, at: datetime) -> None: ...


class SecretSealer(Protocol):
    def seal(self, secret: str) -> str:
        """Encrypt a secret. Two calls with one secret return different texts."""
        ...

    def open(self, sealed: str) -> str:
        """Decrypt a sealed secret; ``SecretUnreadable``: it was not sealed with a key that is configured now."""
        ...
