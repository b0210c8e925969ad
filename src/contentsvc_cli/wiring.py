"""The composition root of the operator's commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final, TypeVar, final

import click
from attrs import frozen

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.sql import SqlStores
from contentsvc_cli.waiting import waiting
from contentsvc_core.access.keys import KeyFault
from contentsvc_core.content.brand_changes import BadChange, BrandFault
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.hosts import HostRefusal
from contentsvc_core.organizations import Organization, TooMany
from contentsvc_core.outgoing.endpoints import EndpointFault
from contentsvc_core.ports import Directory
from contentsvc_core.usecases.brands import BrandEditor
from contentsvc_core.usecases.connect import Connector
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.generate import Generator, JobStarter
from contentsvc_core.usecases.operate import Operator, Refusal
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_core.usecases.read_site import BrandGenerator
from contentsvc_core.usecases.receive import Receiver
from contentsvc_core.usecases.reconcile import Reconciler
from contentsvc_core.usecases.replay import Replayer
from contentsvc_core.usecases.rotate import Rotator
from contentsvc_core.usecases.triggers import TriggerEditor
from contentsvc_core.usecases.webhook_endpoints import EndpointEditor
from contentsvc_core.workflows.schedules import DUPLICATE, DuplicateSchedule
from contentsvc_core.workflows.triggers import TriggerFault
from contentsvc_http.settings import Settings, load_settings
from contentsvc_http.wiring.code_hosts import host_calls, open_code_hosts
from contentsvc_http.wiring.looking import open_as_it_is
from contentsvc_http.wiring.stores import open_stores

_T = TypeVar("_T")

#: How long somebody who presses a key waits for an answer, in seconds.
_GLANCE_S: Final = 1.0


@final
@frozen(kw_only=True)
class Desk:
    """What an operator's command works with."""

    settings: Settings
    stores: SqlStores
    operator: Operator
    connector: Connector
    rotator: Rotator
    reconciler: Reconciler
    clock: SystemClock
    ids: RandomIds
    receiver: Receiver
    generator: Generator
    triggers: TriggerEditor
    posts: PostEditor
    replayer: Replayer
    planner: Planner
    brand_editor: BrandEditor
    changelogs: ChangelogEditor
    brand_generator: BrandGenerator
    endpoint_editor: EndpointEditor

    async def organization(self, slug: str) -> Organization:
        """Find an organization.

        Raises:
            ClickException: There is none of that slug.
        """
        found = await self.stores.directory.organization(slug)
        if found is None:
            message = f"there is no organization '{slug}'"
            raise click.ClickException(message)
        return found


@contextlib.asynccontextmanager
async def open_desk(settings: Settings) -> AsyncGenerator[Desk]:
    """Open the stores for an operator."""
    async with open_stores(settings) as stores, open_code_hosts(settings) as hosts:
        clock = SystemClock()
        ids = RandomIds()
        opened = read_site_hosts(settings.site_hosts)
        calls = host_calls(settings, stores, clock, ids, hosts)
        yield Desk(
            settings=settings,
            stores=stores,
            operator=Operator(stores.directory, stores.keys, clock, ids),
            connector=Connector(stores.directory, stores.hooks, calls, clock, ids),
            rotator=Rotator(stores.directory, stores.hooks, calls, clock, ids),
            reconciler=Reconciler(stores.directory, stores.journal, calls, clock),
            clock=clock,
            ids=ids,
            receiver=Receiver(
                stores.deliveries,
                stores.journal,
                clock,
                ids,
                failed_rows_per_minute=settings.failed_log_rows_per_minute,
            ),
            # Nobody to nudge: the servers look by themselves.
            generator=Generator(JobStarter(stores.jobs, clock, ids), stores.directory, stores.brands, clock),
            triggers=TriggerEditor(stores.directory, stores.brands, clock, ids),
            posts=PostEditor(stores.posts, SafeMarkdown(), clock),
            planner=Planner(stores.schedules, stores.directory, stores.brands, clock, ids),
            brand_editor=BrandEditor(stores.brands, clock, opened=opened),
            changelogs=ChangelogEditor(stores.changelogs, clock),
            brand_generator=BrandGenerator(JobStarter(stores.jobs, clock, ids), stores.brands, opened=opened),
            replayer=Replayer(
                stores.deliveries, stores.journal, stores.contexts, stores.endpoints, stores.outbox, clock, ids
            ),
            endpoint_editor=EndpointEditor(
                stores.endpoints, stores.outbox, clock, ids, opened=read_site_hosts(settings.outgoing_hosts)
            ),
        )


def at_desk(
    work: Callable[[Desk], Awaitable[_T]], *, may_make: bool = False, busy: str | None = "waiting for the database"
) -> _T:
    """Do an operator's work: open, do it, close.

    Args:
        work: What is to be done.
        may_make: Make a SQLite file when there is none: elsewhere, the command was called in the wrong place.
        busy: What is said on a terminal when it takes longer; ``None``: the work itself says how far it is.

    Raises:
        ClickException: There is no database.
    """
    settings = load_settings()
    if settings.is_sqlite and not may_make and not settings.database_file.exists():
        message = (
            f"there is no database at '{settings.database_file}': set CONTENTSVC_DATABASE_URL to the one that is "
            "served, or make one with 'contentsvc migrate'"
        )
        raise click.ClickException(message)

    async def run() -> _T:
        async with open_desk(settings) as desk:
            return await work(desk)

    with contextlib.nullcontext() if busy is None else waiting(busy):
        return asyncio.run(run())


def glance(look: Callable[[Directory], Awaitable[Sequence[_T]]]) -> Sequence[_T]:
    """Look something up for a shell that completes a word: soon or not at all, and without a word of one's own."""

    async def run() -> Sequence[_T]:
        settings = load_settings()
        if settings.is_sqlite and not settings.database_file.exists():
            return ()
        async with open_as_it_is(settings, patience_s=_GLANCE_S) as database, asyncio.timeout(_GLANCE_S):
            return await look(database.directory)

    with contextlib.suppress(Exception):
        return asyncio.run(run())
    return ()


def accepted(
    value: _T
    | Refusal
    | HostRefusal
    | TriggerFault
    | DuplicateSchedule
    | BrandFault
    | BadChange
    | EndpointFault
    | KeyFault
    | TooMany,
) -> _T:
    """Give what was done.

    Raises:
        ClickException: It was refused; the message is the reason.
    """
    match value:
        case Refusal() | HostRefusal() | BadChange() | TooMany():
            raise click.ClickException(value.reason)
        case TriggerFault() | BrandFault() | EndpointFault() | KeyFault():
            raise click.ClickException(value.value)
        case DuplicateSchedule():
            raise click.ClickException(DUPLICATE)
        case _:
            return value
