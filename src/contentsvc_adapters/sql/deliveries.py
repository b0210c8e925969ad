from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, final

from attrs import Factory, define, evolve, field, frozen

from contentsvc_adapters.sealing import opened
from contentsvc_adapters.sql.batcher import Batcher
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.hook_configuration_reading import StoredHook, read_hook_configurations
from contentsvc_adapters.sql.settling.queue import SettlementQueue
from contentsvc_core.ports import SecretSealer
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.triggers import Trigger

#: The maximum number of cached hook addresses; the least recently used ones are dropped.
CACHE_SIZE: Final = 10_000


@final
class HookConfigurations:
    """Reads configurations, fresh or from the cache.

    A change notifies no cache. A decision on cached values is settled against the organization's version; a stale
    settlement drops them from the cache (docs/decisions/0016-remembered-endpoints.md).
    """

    def __init__(self, database: Database, sealer: SecretSealer, *, cache_size: int = CACHE_SIZE) -> None:
        # The cache holds secrets in clear.
        self._database = database
        self._sealer = sealer
        self._cache_size = cache_size
        #: Ordered by last use, the most recent last.
        self._cache: Final[OrderedDict[Address, _CachedHook]] = OrderedDict()
        self._organizations: Final[dict[str, _Organization]] = {}
        self._reading: Final[Batcher[Address, StoredHook | None]] = Batcher(self._read)

    def cached(self, address: Address, now: datetime) -> HookConfiguration | None:
        entry = self._cache.get(address)
        # After a backward step of the clock, secrets could verify again that were omitted by the read.
        if entry is None or now < entry.read_at:
            return None
        self._cache.move_to_end(address)
        if entry.until is not None and entry.until <= now:
            entry = self._cache[address] = entry.at(now)
        return entry.hook

    async def read(self, address: Address, now: datetime) -> HookConfiguration | None:
        """Read the configuration of a hook address and cache it if it exists; concurrent reads share a transaction."""
        stored = await self._reading(address)
        if stored is None:
            return None
        if stored.through is None:
            belonging = Belonging.UNKNOWN
        else:
            belonging = (
                Belonging.THIS_INTEGRATION
                if stored.through == address.integration_id
                else Belonging.ANOTHER_INTEGRATION
            )
        # Exclusive, as in the port: a secret does not verify at its expiry time.
        valid = [(sealed, expires_at) for sealed, expires_at in stored.sealed if expires_at is None or expires_at > now]
        secrets = [_Secret(text, end) for sealed, end in valid for text in opened(self._sealer, [sealed])]
        # Unknown repositories are not cached: senders can invent them, and they would displace used entries.
        organization = None if belonging is Belonging.UNKNOWN else self._organization(address, stored.version)
        hook = HookConfiguration(
            address=address,
            enabled=stored.enabled,
            secrets=[secret.text for secret in secrets],
            former_secrets=opened(
                self._sealer, [sealed for sealed, end in stored.sealed if (sealed, end) not in valid]
            ),
            unreadable=len(valid) - len(secrets),
            repository=belonging,
            triggers=_naming(address, stored, organization),
            version=stored.version,
            branch=stored.branch,
        )
        if organization is not None and not hook.unreadable:
            organization.addresses.add(address)
            self._cache[address] = _CachedHook(hook=hook, secrets=secrets, read_at=now)
            self._cache.move_to_end(address)
            if len(self._cache) > self._cache_size:
                self._drop(next(iter(self._cache)))
        return hook

    async def _read(self, addresses: Sequence[Address]) -> Sequence[StoredHook | None]:
        cached = {
            address.organization_id: (organization.version, organization.triggers)
            for address in addresses
            if (organization := self._organizations.get(address.organization_id)) is not None
            and organization.triggers is not None
        }
        return await self._database.read(partial(read_hook_configurations, addresses, cached))

    def forget(self, organization_id: str, version: int) -> None:
        organization = self._organizations.get(organization_id)
        if organization is not None and organization.version == version:
            del self._organizations[organization_id]
            for address in organization.addresses:
                del self._cache[address]

    def _organization(self, address: Address, version: int) -> "_Organization | None":
        """Return the cache entry of an address's organization; ``None``: a later version has been read meanwhile."""
        organization = self._organizations.get(address.organization_id)
        if organization is not None and organization.version < version:
            self.forget(address.organization_id, organization.version)
            organization = None
        if organization is None:
            organization = self._organizations[address.organization_id] = _Organization(version)
        return organization if organization.version == version else None

    def _drop(self, address: Address) -> None:
        del self._cache[address]
        addresses = self._organizations[address.organization_id].addresses
        addresses.discard(address)
        if not addresses:
            del self._organizations[address.organization_id]


@frozen
class _Secret:
    text: str = field(repr=False)
    expires_at: datetime | None


@frozen(kw_only=True)
class _CachedHook:
    hook: HookConfiguration
    #: The configuration's secrets, in their order.
    secrets: tuple[_Secret, ...] = field(converter=tuple)
    read_at: datetime
    until: datetime | None = field(init=False, default=Factory(lambda self: self.earliest_end(), takes_self=True))

    def earliest_end(self) -> datetime | None:
        return min((secret.expires_at for secret in self.secrets if secret.expires_at is not None), default=None)

    def at(self, now: datetime) -> "_CachedHook":
        valid = [secret for secret in self.secrets if secret.expires_at is None or secret.expires_at > now]
        former = [*(secret.text for secret in self.secrets if secret not in valid), *self.hook.former_secrets]
        hook = evolve(self.hook, secrets=[secret.text for secret in valid], former_secrets=former)
        return _CachedHook(hook=hook, secrets=valid, read_at=now)


@define
class _Organization:
    version: int
    addresses: set[Address] = field(init=False, factory=set)
    #: All enabled triggers; ``None``: not read yet.
    triggers: tuple[Trigger, ...] | None = field(init=False, default=None)


def _naming(address: Address, stored: StoredHook, organization: _Organization | None) -> list[Trigger]:
    enabled = stored.triggers
    if organization is not None:
        # Reuse the triggers that were read before: otherwise each address would hold its own copies.
        organization.triggers = enabled = enabled if organization.triggers is None else organization.triggers
    kind = source_type(address.provider)
    return [trigger for trigger in enabled if trigger.watches(kind, address.repository_id)]


@final
class SqlDeliveryStore:
    def __init__(self, database: Database, sealer: SecretSealer, queue: SettlementQueue) -> None:
        hooks = HookConfigurations(database, sealer)
        self._hook_configurations = hooks
        self._queue = queue
        queue.on_stale = lambda settlement: hooks.forget(settlement.organization_id, settlement.version)

        # The hot path of a delivery calls these directly.
        self.put: Final = queue.put
        self.cached: Final = hooks.cached

    async def configuration(
        self, address: Address, now: datetime, *, allow_cached: bool = False
    ) -> HookConfiguration | None:
        configuration = self.cached(address, now) if allow_cached else None
        return configuration or await self._hook_configurations.read(address, now)

    async def settle(self, settlement: Settlement) -> Settled:
        return await self._queue.settle(settlement)
