from collections.abc import Sequence
from datetime import datetime
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.access.keys import DEFAULT_SCOPES, KEY_EXPIRED, KEY_SCOPES, ApiKey, Scope, digest
from contentsvc_core.commands import values_of
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_slug, slugify
from contentsvc_core.organizations import NAME_LENGTH, ChangeOrganization, Integration, Organization, Repository
from contentsvc_core.ports import ApiKeys, Clock, Directory, IdSource
from contentsvc_core.refusals import FIELD, NOTHING_TO_CHANGE, Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers import PROVIDERS, provider_named
from contentsvc_core.zones import DEFAULT_ZONE, read_zone

KEY_NAME: Final = Refusal(RefusalKind.INVALID, f"{FIELD} must have at most {NAME_LENGTH} characters", "name")
_NO_NAME: Final = Refusal(RefusalKind.INVALID, "an organization needs a name", "name")
ALREADY_CONNECTED: Final = Refusal(RefusalKind.DUPLICATE, "Repository already connected", "full_name")


@final
@frozen(kw_only=True)
class IssuedKey:
    """A new key; its clear text is available only now."""

    key: str = field(repr=False)
    record: ApiKey


@final
@frozen(kw_only=True)
class Connection:
    """A new integration; the clear text of its secret is available only now."""

    integration: Integration
    secret: str = field(repr=False)


def connection_fault(full_name: str, repository_id: int | None, provider: str) -> Refusal | None:
    dialect = provider_named(provider)
    if dialect is None:
        slugs = ", ".join(each.slug for each in PROVIDERS)
        return Refusal(RefusalKind.INVALID, f"unknown provider '{one_line(provider, 64)}': {slugs}", "provider")
    if not dialect.is_full_name(full_name):
        fault = f"'{one_line(full_name, 100)}' is not of the form OWNER/NAME"
        return Refusal(RefusalKind.INVALID, fault, "full_name")
    if repository_id is not None and not 1 <= repository_id <= MAX_REPOSITORY_ID:
        fault = f"the repository id must be from 1 to {MAX_REPOSITORY_ID}"
        return Refusal(RefusalKind.INVALID, fault, "repository_id")
    return None


def key_faults(
    name: str, scopes: Sequence[Scope], expires_at: datetime | None, issuer: ApiKey | None, now: datetime
) -> list[Refusal]:
    """Return all faults of a key before it is issued."""
    faults = [KEY_NAME] if len(one_line(name, NAME_LENGTH + 1)) > NAME_LENGTH else []
    if issuer is not None and not set(scopes) <= set(issuer.scopes):
        faults.append(KEY_SCOPES)
    return [*faults, KEY_EXPIRED] if expires_at is not None and expires_at <= now else faults


def new_secret(ids: IdSource) -> str:
    return f"whsec_{ids.token(40)}"


@final
@frozen(eq=False, repr=False)
class Operator:
    """Sets up organizations, integrations and API keys."""

    _directory: Directory
    _keys: ApiKeys
    _clock: Clock
    _ids: IdSource

    async def create_organization(
        self, name: str, *, slug: str | None = None, retention_days: int = 30, time_zone: str = DEFAULT_ZONE.key
    ) -> Organization | Refusal:
        name = one_line(name, NAME_LENGTH)
        chosen = slugify(name) if slug is None else slug
        if not name:
            return _NO_NAME
        if not chosen:
            fault = "no slug can be made from this name: give one, of a-z, 0-9 and inner hyphens"
            return Refusal(RefusalKind.INVALID, fault, "slug")
        if not is_slug(chosen):
            fault = f"'{one_line(chosen, 64)}' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"
            return Refusal(RefusalKind.INVALID, fault, "slug")
        zone = read_zone(time_zone)
        if isinstance(zone, Refusal):
            return zone
        organization = Organization(
            id=self._ids.new_id("org_"),
            slug=chosen,
            name=name,
            retention_days=retention_days,
            time_zone=zone,
            created_at=self._clock.now(),
        )
        if await self._directory.add_organization(organization):
            return organization
        return Refusal(RefusalKind.DUPLICATE, f"an organization with the slug '{chosen}' exists already", "slug")

    async def change_organization(
        self, organization: Organization, change: ChangeOrganization, *, retention_days: int | None = None
    ) -> Organization | Refusal:
        """Change an organization. In another time zone, its schedules fire at the same local times there."""
        values = values_of(change)
        if not values and retention_days is None:
            return NOTHING_TO_CHANGE
        name = one_line(values.get("name", organization.name), NAME_LENGTH)
        if not name:
            return _NO_NAME
        zone_name = values.get("time_zone", organization.time_zone.key)
        # The stored zone may be one that this machine does not know.
        zone = organization.time_zone if zone_name == organization.time_zone.key else read_zone(zone_name)
        if isinstance(zone, Refusal):
            return zone
        days = organization.retention_days if retention_days is None else retention_days
        changed = evolve(organization, name=name, time_zone=zone, retention_days=days)
        if changed != organization:
            await self._directory.change(
                organization.id,
                self._clock.now(),
                name=None if name == organization.name else name,
                time_zone=None if zone == organization.time_zone else zone,
                retention_days=None if days == organization.retention_days else days,
            )
        return changed

    async def issue_key(
        self,
        organization: Organization,
        *,
        name: str = "",
        scopes: Sequence[Scope] = DEFAULT_SCOPES,
        expires_at: datetime | None = None,
        issuer: ApiKey | None = None,
    ) -> IssuedKey | Refusal:
        """Issue an API key that has no scope that ``issuer`` lacks, and does not outlive it."""
        now = self._clock.now()
        if issuer is not None:
            expires_at = min((end for end in (expires_at, issuer.expires_at) if end is not None), default=None)
        if faults := key_faults(name, scopes, expires_at, issuer, now):
            return faults[0]
        prefix = f"csk_{self._ids.token(10)}"
        key = f"{prefix}_{self._ids.token(40)}"
        record = ApiKey(
            prefix=prefix,
            organization_id=organization.id,
            name=one_line(name, NAME_LENGTH),
            digest=digest(key),
            scopes=scopes,
            created_at=now,
            issued_by=None if issuer is None else issuer.prefix,
            expires_at=expires_at,
        )
        refused = await self._keys.add(record)
        return IssuedKey(key=key, record=record) if refused is None else refused

    async def connect(
        self, organization: Organization, *, full_name: str, repository_id: int, provider: str, branch: str | None
    ) -> Connection | Refusal:
        """Connect a repository whose hook is entered by hand: an integration of its own, with a new webhook secret."""
        if (fault := connection_fault(full_name, repository_id, provider)) is not None:
            return fault
        integration = Integration(
            id=self._ids.new_id("int_"),
            organization_id=organization.id,
            provider=provider,
            repositories=(Repository(id=repository_id, full_name=full_name, branch=branch),),
            created_at=self._clock.now(),
        )
        secret = new_secret(self._ids)
        if not await self._directory.add_integration(integration, secret):
            return ALREADY_CONNECTED
        return Connection(integration=integration, secret=secret)
