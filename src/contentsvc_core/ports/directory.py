"""Who is there and what they have connected."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from contentsvc_core.access.keys import MAX_KEYS, ApiKey, KeyFault
from contentsvc_core.content.brand import UnknownBrand
from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.organizations import Integration, Organization, Removed, TooMany
from contentsvc_core.workflows.triggers import MAX_TRIGGERS, Trigger, TriggerChange, TriggerFault


class Directory(Protocol):
    """Organizations and what they have connected. Every write raises the organization's version in its transaction."""

    async def add_organization(self, organization: Organization) -> bool:
        """Add an organization; False: the slug is taken, nothing was written."""
        ...

    async def organization(self, slug: str) -> Organization | None:
        """Find an organization by its slug."""
        ...

    async def organization_of(self, organization_id: str) -> Organization | None:
        """Find an organization by its id."""
        ...

    async def organizations(self) -> Sequence[Organization]:
        """List all organizations, by slug."""
        ...

    async def set_house_style(self, organization_id: str, house_style: HouseStyle | None) -> bool:
        """Set the house style of an organization, ``None``: the defaults; False: the organization is unknown.

        The version stays: no delivery is decided on the house style.
        """
        ...

    async def add_integration(self, integration: Integration, secret: str, *, token: str | None = None) -> bool:
        """Add an integration, its repositories and its webhook secret, and the token that its hook is reached with.

        Secret and token are sealed: they are nowhere in clear.

        False: the organization has connected one of the repositories of that provider already, by id or by name
        (case-insensitively); nothing was written.
        """
        ...

    async def integrations(self, organization_id: str) -> Sequence[Integration]:
        """List an organization's integrations, oldest first."""
        ...

    async def integration(self, organization_id: str, integration_id: str) -> Integration | None:
        """Find an integration."""
        ...

    async def secrets(self, organization_id: str, integration_id: str, now: datetime) -> tuple[str, ...]:
        """Give the webhook secrets of an integration that verify at ``now``, the newest first; empty: it is unknown."""
        ...

    async def remove_integration(self, organization_id: str, integration_id: str) -> Removed | None:
        """Delete an integration, its repositories, secrets and token; ``None``: it is unknown.

        In the same transaction, the triggers that name one of its repositories at its provider are switched off, and
        so are the schedules that name one which the organization has connected nowhere else. Log entries, context
        records, runs and posts stay.
        """
        ...

    async def enable_integration(self, organization_id: str, integration_id: str, *, enabled: bool) -> bool:
        """Switch an integration on or off; False: it is unknown."""
        ...

    async def add_trigger(
        self, trigger: Trigger, *, checks_brand: bool = False, at_most: int = MAX_TRIGGERS
    ) -> bool | UnknownBrand | TooMany:
        """Add a trigger; False: another one does the same, nothing was written. The same once more changes nothing.

        Of any number of triggers that do the same
        (:meth:`~contentsvc_core.workflows.triggers.Trigger.does_the_same_as`), added at once, one is added.
        :class:`~contentsvc_core.organizations.TooMany`: the organization has ``at_most``, and no more are added,
        however many are added at once.
        ``checks_brand``: the identity that it names must be there, while nobody removes it; else nothing is written.
        """
        ...

    async def change_trigger(
        self, organization_id: str, trigger_id: str, change: TriggerChange, *, checks_brand: bool = False
    ) -> Trigger | TriggerFault | UnknownBrand:
        """Change a trigger as it stands and give it as it is then.

        No other change comes between what ``change`` is given and what is written. It is a pure function, may be called
        several times, and leaves the ids. ``DOUBLE``, ``UNKNOWN``, and what ``change`` itself refuses: nothing was
        written. ``checks_brand``: nor when it names an identity then that is not there; nobody removes that meanwhile.
        """
        ...

    async def remove_trigger(self, organization_id: str, trigger_id: str) -> bool:
        """Delete a trigger; False: it is unknown. Its runs stay; those that have not begun end as skipped."""
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
        """Find the organization that something belongs to: for operators, who name ids alone.

        It is an integration, trigger, schedule, brand identity, run, post, webhook endpoint, or the log entry of a
        processed delivery.
        """
        ...


class ApiKeys(Protocol):
    """The API keys (specification 5.1)."""

    async def add(self, key: ApiKey, *, at_most: int = MAX_KEYS) -> KeyFault | TooMany | None:
        """Add a key; the same once more changes nothing. With an answer, nothing was written.

        ``ISSUER_ENDED``: the key that issues it is unknown, another organization's, revoked or expired when the new
        one is created. :class:`~contentsvc_core.organizations.TooMany`: ``at_most`` keys of the organization are
        active then. Both hold for any number of keys that are added and revoked at once.
        """
        ...

    async def key(self, prefix: str) -> ApiKey | None:
        """Find a key by its prefix, of whatever organization: it is what tells the organization."""
        ...

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        """List an organization's keys, or an operator's view of all, oldest first."""
        ...

    async def revoke(self, prefix: str, at: datetime) -> bool:
        """Revoke a key and every key that was issued with it, directly or not; False: it is unknown.

        A key that was revoked before keeps its first time.
        """
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
