"""Operations on an organization's settings and lists, and deliveries; for runs, see ``work.py``."""

from datetime import datetime
from typing import Any

from attrs import evolve
from campaigns.model import lists
from campaigns.model.material import Arrival, Sending, delivery_of, secret_of
from campaigns.model.model import Answer, Model
from campaigns.model.sides import Side, Step, Stores

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.errors import ReceivingFailed, StoreUnavailable
from contentsvc_core.lists.pagination import PageRequest
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.testing import START, switched
from contentsvc_core.webhooks.outcomes import answer
from contentsvc_core.workflows.triggers import Trigger


def receive(side: Side, arrival: Arrival) -> Step:
    """Receive a delivery."""

    async def perform() -> Answer:
        try:
            outcome = await side.receiver.receive(delivery_of(arrival.sending))
        except (StoreUnavailable, ReceivingFailed) as exc:
            return type(exc).__name__
        return outcome.status, answer(outcome)

    return Step(
        what=f"receive {arrival}", perform=perform, predict=lambda model: model.receive(arrival), fault=arrival.fault
    )


def settle_again(side: Side, which: int) -> Step | None:
    """Settle an earlier settlement again, as after an unknown outcome: the ``which``-th latest in the log."""
    current = [(each, first) for each, first in side.settled if each.log.id in side.model.log]
    if not current:
        return None
    settlement, first = current[-1 - which % len(current)]
    return Step(
        what=f"settle {settlement.log.id} again",
        perform=lambda: side.stores.deliveries.settle(settlement),
        # Nothing is written.
        predict=lambda _: first,
    )


def add_organization(stores: Stores, organization: Organization) -> Step:
    def predict(model: Model) -> bool:
        current = [each for each in model.organizations.values() if each.slug == organization.slug]
        if not current:
            model.organizations[organization.id] = organization
        return not current or current == [organization]

    return Step(
        what=f"add {organization}", perform=lambda: stores.directory.add_organization(organization), predict=predict
    )


def connect(stores: Stores, integration: Integration) -> Step:
    """Add an integration; an organization connects a repository of a provider once, by id and by name."""

    def predict(model: Model) -> bool:
        if integration.id in model.integrations:
            return True
        current = {
            key
            for each in model.integrations.values()
            if (each.organization_id, each.provider) == (integration.organization_id, integration.provider)
            for repository in each.repositories
            for key in (repository.id, repository.full_name.lower())
        }
        if any({each.id, each.full_name.lower()} & current for each in integration.repositories):
            return False
        model.integrations[integration.id] = integration
        model.secrets[integration.id] = secret_of(integration.id)
        return True

    return Step(
        what=f"connect {integration}",
        perform=lambda: stores.directory.add_integration(integration, secret_of(integration.id)),
        predict=predict,
    )


def switch_integration(stores: Stores, organization_id: str, integration_id: str, *, enabled: bool) -> Step:
    """Switch an integration of the named organization, or of another one, on or off."""

    def predict(model: Model) -> bool:
        integration = model.integrations.get(integration_id)
        if integration is None or integration.organization_id != organization_id:
            return False
        model.integrations[integration_id] = evolve(integration, enabled=enabled)
        return True

    return Step(
        what=f"switch {integration_id} of {organization_id} {'on' if enabled else 'off'}",
        perform=lambda: stores.directory.enable_integration(organization_id, integration_id, enabled=enabled),
        predict=predict,
    )


def switch_back(stores: Stores, sending: Sending) -> Step:
    """Switch on the integration of a delivery."""
    hook = sending.hook
    return switch_integration(stores, hook.organization_id, hook.integration_id, enabled=True)


def switch_trigger(stores: Stores, organization_id: str, trigger_id: str, *, enabled: bool) -> Step:
    """Switch a trigger of the named organization, or of another one, on or off."""

    async def perform() -> bool:
        changed = await stores.triggers.change(organization_id, trigger_id, switched(enabled=enabled))
        return isinstance(changed, Trigger)

    def predict(model: Model) -> bool:
        trigger = model.triggers.get(trigger_id)
        if trigger is None or trigger.organization_id != organization_id:
            return False
        model.triggers[trigger_id] = evolve(trigger, enabled=enabled)
        return True

    return Step(
        what=f"switch {trigger_id} of {organization_id} {'on' if enabled else 'off'}", perform=perform, predict=predict
    )


def find(stores: Stores, organization_id: str, id_: str, prefix: str) -> Step:
    """Read a trigger or integration of an organization, the owner of an id, and a key."""

    async def perform() -> object:
        directory = stores.directory
        triggers = stores.triggers
        return (
            await triggers.find(organization_id, id_),
            await directory.secrets(organization_id, id_, START),
            await directory.owner_of(id_),
            await stores.keys.key(prefix),
        )

    def predict(model: Model) -> object:
        trigger, integration = model.triggers.get(id_), model.integrations.get(id_)
        found = trigger or integration
        own = found is not None and found.organization_id == organization_id
        return (
            trigger if own else None,
            (model.secrets[id_],) if own and integration is not None else (),
            None if found is None else found.organization_id,
            model.keys.get(prefix),
        )

    return Step(what=f"find {id_} of {organization_id}, and {prefix}", perform=perform, predict=predict)


def add_key(stores: Stores, key: ApiKey) -> Step:
    """Add a key; adding the same key again changes nothing."""
    return Step(
        what=f"add {key}",
        perform=lambda: stores.keys.add(key),
        predict=lambda model: _none(model.keys.setdefault(key.prefix, key)),
    )


def revoke(stores: Stores, prefix: str, at: datetime) -> Step:
    """Revoke a key; the first time of revocation stays."""

    def predict(model: Model) -> bool:
        key = model.keys.get(prefix)
        if key is not None and key.revoked_at is None:
            model.keys[prefix] = evolve(key, revoked_at=at)
        return key is not None

    return Step(what=f"revoke {prefix}", perform=lambda: stores.keys.revoke(prefix, at), predict=predict)


def touch(stores: Stores, prefix: str, at: datetime) -> Step:
    """Record the use of a key."""

    def predict(model: Model) -> None:
        if prefix in model.keys:
            model.keys[prefix] = evolve(model.keys[prefix], last_used_at=at)

    return Step(what=f"touch {prefix}", perform=lambda: stores.keys.touch(prefix, at), predict=predict)


def read_page(stores: Stores, organization_id: str, query: PostQuery, request: PageRequest) -> Step:
    async def perform() -> object:
        page = await stores.posts.page(organization_id, query, request)
        return (list(page[0]), page[1]) if isinstance(page, tuple) else page

    return Step(
        what=f"read {request} of {query} of {organization_id}",
        perform=perform,
        predict=lambda model: lists.page(model, organization_id, query, request),
    )


def read_heads(stores: Stores, organization_id: str, limit: int) -> Step:
    """Read the beginning of every list that takes a limit."""

    async def perform() -> list[list[Any]]:
        return [
            lists.modelled(await stores.journal.entries(organization_id, limit=limit)),
            list(await stores.ledger.runs(organization_id, limit=limit)),
            list(await stores.contexts.records(organization_id, limit=limit)),
            list(await stores.posts.posts(organization_id, limit=limit)),
        ]

    def predict(model: Model) -> list[list[Any]]:
        values = [model.runs.values(), model.contexts.values(), model.posts.values()]
        entries = [each.entry for each in lists.log(model, organization_id)[::-1]]
        found = [entries, *(lists.of(each, organization_id, newest_first=True) for each in values)]
        return [each[:limit] for each in found]

    return Step(what=f"read {limit} of each list of {organization_id}", perform=perform, predict=predict)


def read_before(side: Side, which: int, limit: int) -> Step | None:
    """Read a context record, and earlier records of its repository."""
    records = sorted(side.model.contexts.values(), key=lambda record: record.id)
    if not records:
        return None
    asked = records[which % len(records)]
    custom_id = f"{asked.provider}:{asked.repository_id}:{asked.delivery_id}"

    async def perform() -> object:
        contexts = side.stores.contexts
        before = list(await contexts.before(asked, limit=limit, max_bytes=10**9))
        return before, await contexts.record(asked.organization_id, custom_id)

    def predict(model: Model) -> object:
        before = [
            record
            for record in lists.of(model.contexts.values(), asked.organization_id, newest_first=True)
            if (record.provider, record.repository_id) == (asked.provider, asked.repository_id)
            and (record.created_at, record.id) < (asked.created_at, asked.id)
        ]
        return before[:limit], model.contexts[asked.organization_id, custom_id]

    return Step(what=f"read what {asked.id} had before it", perform=perform, predict=predict)


def sweep(stores: Stores, organization_id: str, before: datetime, limit: int) -> Step:
    """Sweep at most a number of a log's entries."""
    return Step(
        what=f"sweep {limit} of {organization_id} before {before}",
        perform=lambda: stores.journal.sweep(organization_id, before=before, limit=limit),
        predict=lambda model: lists.sweep(model, organization_id, before, limit),
    )


def sweep_all(side: Side, now: datetime) -> Step:
    """Sweep by each plan, and delete ended claims."""

    async def perform() -> tuple[int, int]:
        swept = await side.sweeper.sweep()
        return swept.log_entries, swept.claims

    return Step(what="sweep", perform=perform, predict=lambda model: lists.sweep_all(model, now))


def _none(_: object) -> None:
    return None
