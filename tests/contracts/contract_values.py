"""The values and fixtures of the contract suite."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Final, Protocol, final

from attrs import evolve, frozen
from tests import builders
from tests.builders import a_release
from tests.refusals import existing

from contentsvc_core import ports
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.organizations import Integration, Organization, Repository
from contentsvc_core.testing import START, CountingIds, switched
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.outcomes import Fault, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.settlement import Settlement, settlement
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: The number of rows that a fixture writes concurrently: fewer than the connections of each store.
_BATCH = 5
SECRET = "whsec_hush-hush-hush"
IDS = CountingIds()


async def in_batches(writes: Iterable[Awaitable[object]]) -> None:
    """Await writes, a batch after the other: a fixture's rows must not compete for connections."""
    waiting = list(writes)
    while waiting:
        batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
        await asyncio.gather(*batch)


class Stores(ports.Stores, Protocol):
    """A family of stores over one state, which the test closes."""

    async def close(self) -> None: ...


#: Room for all payloads, in bytes.
ALL_BYTES = 2**30
#: The executor of tests in which the executor does not matter.
EXECUTOR = "exe_1"


async def take(stores: Stores, ids: Sequence[str], executor: str = EXECUTOR) -> list[WorkflowRun]:
    await stores.executors.join(executor)
    return list(await stores.ledger.take(ids, executor))


async def due(stores: Stores, now: datetime, *, limit: int = 99, per_organization: int = 99) -> list[str]:
    return [each.id for each in await stores.ledger.pending(now, limit=limit, per_organization=per_organization)]


async def killed(stores: Stores, error: str = "killed") -> int:
    """Recover the runs of all executors; return the number of runs that are pending again."""
    recovered = await stores.executors.recover(error, lost=await stores.executors.heartbeat("nobody"))
    return recovered.pending


@final
class RotatingSealer:
    """A sealer without secrecy: reversible, never in clear text, and different each time."""

    def __init__(self) -> None:
        self._nonces = count(1)

    def seal(self, secret: str) -> str:
        nonce = next(self._nonces)
        return f"{nonce}:{bytes(byte ^ (nonce % 255 + 1) for byte in secret.encode()).hex()}"

    def open(self, sealed: str) -> str:
        try:
            nonce, _, body = sealed.partition(":")
            return bytes(byte ^ (int(nonce) % 255 + 1) for byte in bytes.fromhex(body)).decode()
        except ValueError as exc:
            raise SecretUnreadable(sealed) from exc


@final
class SharedClock:
    """The clock of the databases, for the contracts with the fixture ``shared_clock``."""

    def __init__(self) -> None:
        self.at = START


SHARED_CLOCK = SharedClock()


def later(**by: int) -> datetime:
    return START + timedelta(**by)


def push(*messages: str) -> Push:
    commits = tuple(
        Commit(
            id=f"{number:040x}",
            message=message,
            author=Author(name="Ada", email="ada@example.com", username="ada"),
            timestamp="2026-01-01T12:00:00+02:00",
            url=f"https://codehost.example/commit/{number}",
            distinct=number != 1,
            added=("docs/é.md",) * (number - 1),
            modified=("src/lamp.py",),
            paths_cut=number - 1,
        )
        for number, message in enumerate(messages or ("feat: lamp",), start=1)
    )
    head = HeadCommit(id=commits[-1].id, message=commits[-1].message)
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=head)


def release(tag: str = "v1.0.0") -> Release:
    return a_release(tag, body="notes", published_at="2026-01-01T12:00:00Z")


@final
@frozen(kw_only=True)
class Tenant:
    """An organization with an integration, and the stores."""

    stores: Stores
    organization: Organization
    integration: Integration
    triggers: tuple[Trigger, ...]

    @property
    def id(self) -> str:
        return self.organization.id

    @property
    def repository(self) -> Repository:
        return self.integration.repositories[0]

    @property
    def address(self) -> Address:
        return Address(
            provider=self.integration.provider,
            organization_id=self.id,
            integration_id=self.integration.id,
            repository_id=self.repository.id,
        )

    async def hook(self, now: datetime = START) -> HookConfiguration:
        return existing(await self.stores.deliveries.configuration(self.address, now))

    async def decided(self, outcome: Outcome, at: datetime = START) -> Settlement:
        return existing(settlement(outcome, await self.hook(), at=at, new_id=IDS.new_id))

    async def processed(self, delivery_id: str, event: Event | None = None, at: datetime = START) -> Settlement:
        outcome = Processed(
            event=push() if event is None else event,
            delivery_id=delivery_id,
            repository_id=self.repository.id,
            repository=self.repository.full_name,
        )
        return await self.decided(outcome, at)

    async def left(self) -> "Left":
        return Left(
            contexts=tuple(await self.stores.contexts.records(self.id)),
            runs=tuple(await self.stores.ledger.runs(self.id)),
            log=tuple(entry.title for entry in await self.stores.journal.entries(self.id)),
        )

    async def taken(self, event: Event | None = None, at: datetime = START) -> WorkflowRun:
        """Return a taken run that the first trigger has started."""
        settling = await self.processed(IDS.new_id("delivery-"), event, at)
        await self.stores.deliveries.settle(settling)
        (run,) = await take(self.stores, [settling.runs[0].id])
        return run

    async def started(self, *hours: int) -> list[str]:
        """Settle a delivery for each hour; return the ids of the first run of each."""
        ids: list[str] = []
        for number, hour in enumerate(hours):
            settling = await self.processed(f"d-{number}", at=later(hours=hour))
            await self.stores.deliveries.settle(settling)
            ids.append(settling.runs[0].id)
        return ids

    async def stored(self, run: WorkflowRun) -> WorkflowRun:
        return next(each for each in await self.stores.ledger.runs(self.id) if each.id == run.id)


@final
@frozen(kw_only=True)
class Left:
    """The rows of a tenant's deliveries; log entries by their titles."""

    contexts: tuple[object, ...] = ()
    runs: tuple[object, ...] = ()
    log: tuple[str, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        return len(self.contexts), len(self.runs), len(self.log)


async def tenant(
    stores: Stores,
    slug: str = "acme",
    *,
    repository_id: int = 1,
    full_name: str = "acme/lighthouse",
    provider: str = "codehost",
    triggers: int = 2,
    secret: str = SECRET,
) -> Tenant:
    organization = Organization(id=IDS.new_id("org_"), slug=slug, name=slug.title(), created_at=START)
    assert await stores.directory.add_organization(organization)
    created = Tenant(
        stores=stores,
        organization=organization,
        integration=an_integration(organization.id, (repository_id, full_name), provider=provider),
        triggers=tuple(
            a_trigger(organization.id, repository_id, provider=provider, name=f"trigger {number}")
            for number in range(triggers)
        ),
    )
    assert await stores.directory.add_integration(created.integration, secret)
    for trigger in created.triggers:
        await stores.triggers.add(trigger)
    return created


def an_integration(
    organization_id: str, *repositories: tuple[int, str], provider: str = "codehost", at: datetime = START
) -> Integration:
    return Integration(
        id=IDS.new_id("int_"),
        organization_id=organization_id,
        provider=provider,
        repositories=tuple(Repository(id=id_, full_name=name, branch="main") for id_, name in repositories),
        created_at=at,
    )


def a_trigger(
    organization_id: str,
    *repository_ids: int,
    provider: str = "codehost",
    name: str = "",
    event_types: Sequence[str] = (),
    at: datetime = START,
) -> Trigger:
    """Return a unique trigger: each has a brand identity of its own."""
    return builders.a_trigger(
        at,
        id=IDS.new_id("trg_"),
        organization_id=organization_id,
        name=name,
        source_type=source_type(provider),
        repository_ids=repository_ids,
        event_types=tuple(event_types),
        brand_identity_id=IDS.new_id("brand_"),
    )


def a_post(organization_id: str, at: datetime = START, **changes: object) -> Post:
    post = builders.a_post(at, id=IDS.new_id("post_"), organization_id=organization_id, title="What is new")
    return evolve(post, **changes)


#: The tables on which decisions about deliveries depend.
CHANGES: Final = ("integration", "trigger", "switch integration", "switch trigger")


async def change(acme: Tenant, what: str) -> None:
    directory, triggers = acme.stores.directory, acme.stores.triggers
    match what:
        case "integration":
            assert await directory.add_integration(an_integration(acme.id, (2, "acme/buoy")), "other")
        case "trigger":
            await triggers.add(a_trigger(acme.id, 1))
        case "switch integration":
            assert await directory.enable_integration(acme.id, acme.integration.id, enabled=False)
        case _:
            assert await triggers.change(acme.id, acme.triggers[0].id, switched(enabled=False))


#: Endings that check a claim without taking it.
CHECKING: tuple[Outcome, ...] = (
    Filtered(event=push(), delivery_id="d", reason="not the default branch"),
    Ignored(kind="issues", delivery_id="d"),
    Pong(delivery_id="d"),
    Rejected(fault=Fault.INVALID_PAYLOAD, error="Invalid payload", kind="push", delivery_id="d", unless_duplicate=True),
)
#: An ending without a check of the claim.
REFUSED = Rejected(fault=Fault.INVALID_SIGNATURE, error="Invalid webhook signature", kind="push", delivery_id="d")


def ending(outcome: Outcome | None) -> str:
    """Name a parameter of a test."""
    if outcome is None:
        return "Processed"
    return outcome.fault.name if isinstance(outcome, Rejected) else type(outcome).__name__
