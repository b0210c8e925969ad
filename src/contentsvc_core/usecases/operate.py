"""What an operator sets up: organizations, keys, integrations, triggers."""

from collections.abc import Sequence
from datetime import datetime
from typing import final

from attrs import frozen

from contentsvc_core.access.keys import ApiKey, Scope, digest
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_full_name, is_slug, slugify
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.ports import ApiKeys, Clock, Directory, IdSource
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers import PROVIDERS, provider_named
from contentsvc_core.workflows.triggers import EVENT_TYPES, Trigger, source_type

_NAME_LENGTH = 100


@final
@frozen(kw_only=True)
class Refusal:
    """Why something was not done; nothing was changed."""

    reason: str


@final
@frozen(kw_only=True)
class IssuedKey:
    """A new key; this is the only time that it is known in clear."""

    key: str
    record: ApiKey


@final
@frozen(kw_only=True)
class Connection:
    """A new integration; ``secret`` is what the code host signs with."""

    integration: Integration
    secret: str


@final
class Operator:
    """Sets up what the service works on."""

    def __init__(self, directory: Directory, keys: ApiKeys, clock: Clock, ids: IdSource) -> None:
        """Take the ports."""
        self._directory = directory
        self._keys = keys
        self._clock = clock
        self._ids = ids

    async def create_organization(
        self, name: str, *, slug: str | None = None, retention_days: int = 30
    ) -> Organization | Refusal:
        """Create an organization; without a slug, one is made from the name."""
        name = one_line(name, _NAME_LENGTH)
        chosen = slugify(name) if slug is None else slug
        if not name:
            return Refusal(reason="an organization needs a name")
        if not chosen:
            return Refusal(reason="no slug can be made from this name: give one, of a-z, 0-9 and inner hyphens")
        if not is_slug(chosen):
            return Refusal(reason=f"'{one_line(chosen, 64)}' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens")
        organization = Organization(
            id=self._ids.mint("org_"),
            slug=chosen,
            name=name,
            retention_days=retention_days,
            created_at=self._clock.now(),
        )
        added = await self._directory.add_organization(organization)
        return organization if added else Refusal(reason=f"an organization with the slug '{chosen}' exists already")

    async def issue_key(
        self,
        organization: Organization,
        *,
        name: str = "",
        scopes: Sequence[Scope] = (Scope.READ, Scope.WRITE),
        expires_at: datetime | None = None,
    ) -> IssuedKey | Refusal:
        """Issue an API key."""
        now = self._clock.now()
        if expires_at is not None and expires_at <= now:
            return Refusal(reason="the key would have expired already")
        prefix = f"csk_{self._ids.token(10)}"
        key = f"{prefix}_{self._ids.token(40)}"
        record = ApiKey(
            prefix=prefix,
            organization_id=organization.id,
            name=one_line(name, _NAME_LENGTH),
            digest=digest(key),
            scopes=scopes,
            created_at=now,
            expires_at=expires_at,
        )
        await self._keys.add(record)
        return IssuedKey(key=key, record=record)

    async def connect(
        self, organization: Organization, *, full_name: str, repository_id: int, provider: str, branch: str | None
    ) -> Connection | Refusal:
        """Connect a repository: an integration of its own, with a new webhook secret."""
        if provider_named(provider) is None:
            return Refusal(reason=f"unknown provider '{provider}': {', '.join(known.slug for known in PROVIDERS)}")
        if not is_full_name(full_name):
            return Refusal(reason=f"'{one_line(full_name, 100)}' is not of the form OWNER/NAME")
        if not 1 <= repository_id <= MAX_REPOSITORY_ID:
            return Refusal(reason=f"the repository id must be from 1 to {MAX_REPOSITORY_ID}")
        integration = Integration(
            id=self._ids.mint("int_"),
            organization_id=organization.id,
            provider=provider,
            repositories=(Repository(id=repository_id, full_name=full_name, branch=branch),),
            created_at=self._clock.now(),
        )
        secret = f"whsec_{self._ids.token(40)}"
        if not await self._directory.add_integration(integration, secret):
            return Refusal(reason="Repository already connected")
        return Connection(integration=integration, secret=secret)

    async def create_trigger(
        self,
        organization: Organization,
        *,
        repository_ids: Sequence[int],
        event_types: Sequence[str] = (),
        output_type: ContentType = ContentType.CHANGELOG,
        auto_publish: bool = False,
        name: str = "",
        provider: str | None = None,
    ) -> Trigger | Refusal:
        """Create an event trigger; the provider is that of the repositories, unless it is given."""
        if not repository_ids:
            return Refusal(reason="a trigger needs a repository")
        unknown = [kind for kind in event_types if kind not in EVENT_TYPES]
        if unknown:
            return Refusal(reason=f"unknown event type '{one_line(unknown[0], 64)}': {', '.join(EVENT_TYPES)}")
        connected = {
            (integration.provider, repository.id)
            for integration in await self._directory.integrations(organization.id)
            for repository in integration.repositories
        }
        able = [known.slug for known in PROVIDERS if all((known.slug, id_) in connected for id_ in repository_ids)]
        if provider is not None:
            able = [slug for slug in able if slug == provider]
        if not able:
            listed = ", ".join(map(str, repository_ids))
            where = "" if provider is None else f" at {provider}"
            return Refusal(reason=f"repository {listed} is not connected{where}: connect it first")
        if len(able) > 1:
            return Refusal(reason=f"the repository is connected at {' and '.join(able)}: say which provider")
        trigger = Trigger(
            id=self._ids.mint("trg_"),
            organization_id=organization.id,
            name=one_line(name, _NAME_LENGTH),
            source_type=source_type(able[0]),
            repository_ids=repository_ids,
            event_types=event_types,
            output_type=output_type,
            auto_publish=auto_publish,
            created_at=self._clock.now(),
        )
        await self._directory.add_trigger(trigger)
        return trigger
