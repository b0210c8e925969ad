"""The composition root of the operator's commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, final

import click

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_cli.waiting import waiting
from contentsvc_http.settings import Settings, load_settings
from contentsvc_http.wiring.code_hosts import CodeHosts, host_calls, open_code_hosts
from contentsvc_http.wiring.stores import open_stores

if TYPE_CHECKING:
    from contentsvc_adapters.sql import SqlStores
    from contentsvc_core.access.keys import ApiKey, KeyFault
    from contentsvc_core.content.brand_changes import BadChange, BrandFault
    from contentsvc_core.hosts import HostRefusal
    from contentsvc_core.organizations import Organization, TooMany
    from contentsvc_core.outgoing.endpoints import EndpointFault
    from contentsvc_core.ports import Directory
    from contentsvc_core.usecases.brands import BrandEditor
    from contentsvc_core.usecases.connect import Connector
    from contentsvc_core.usecases.edit import PostEditor
    from contentsvc_core.usecases.generate import Generator, JobStarter
    from contentsvc_core.usecases.host_calls import HostCalls
    from contentsvc_core.usecases.operate import Operator, Refusal
    from contentsvc_core.usecases.plan import Planner
    from contentsvc_core.usecases.publicize import ChangelogEditor
    from contentsvc_core.usecases.read_site import BrandGenerator
    from contentsvc_core.usecases.receive import Receiver
    from contentsvc_core.usecases.reconcile import Reconciler
    from contentsvc_core.usecases.replay import Replayer
    from contentsvc_core.usecases.rotate import Rotator
    from contentsvc_core.usecases.sign_in import SignIn
    from contentsvc_core.usecases.triggers import TriggerEditor
    from contentsvc_core.usecases.webhook_endpoints import EndpointEditor
    from contentsvc_core.workflows.schedules import DuplicateSchedule
    from contentsvc_core.workflows.triggers import TriggerFault

    _Refused: TypeAlias = (
        Refusal
        | HostRefusal
        | TriggerFault
        | DuplicateSchedule
        | BrandFault
        | BadChange
        | EndpointFault
        | KeyFault
        | TooMany
    )

_T = TypeVar("_T")

#: Timeout of shell completion, in seconds.
_GLANCE_S: Final = 1.0


@final
class Desk:
    """What operators' commands work with.

    A use case is imported and built when a command first asks for it: no command waits for the others' modules.
    """

    def __init__(self, settings: Settings, stores: "SqlStores", hosts: CodeHosts) -> None:
        """Create a desk with open stores and code hosts."""
        self.settings: Final = settings
        self.stores: Final = stores
        self._hosts: Final = hosts
        self.clock: Final = SystemClock()
        self.ids: Final = RandomIds()

    @cached_property
    def operator(self) -> "Operator":
        from contentsvc_core.usecases.operate import Operator

        return Operator(self.stores.directory, self.stores.keys, self.clock, self.ids)

    @cached_property
    def sign_in(self) -> "SignIn":
        from contentsvc_core.usecases.authenticate import Authenticator
        from contentsvc_core.usecases.sign_in import SignIn

        keys = self.stores.keys
        return SignIn(Authenticator(keys, self.clock), keys, self.stores.sessions, self.clock, self.ids)

    @cached_property
    def connector(self) -> "Connector":
        from contentsvc_core.usecases.connect import Connector

        return Connector(self.stores.directory, self.stores.hooks, self._calls, self.clock, self.ids)

    @cached_property
    def rotator(self) -> "Rotator":
        from contentsvc_core.usecases.rotate import Rotator

        return Rotator(self.stores.directory, self.stores.hooks, self._calls, self.clock, self.ids)

    @cached_property
    def reconciler(self) -> "Reconciler":
        from contentsvc_core.usecases.reconcile import Reconciler

        return Reconciler(self.stores.directory, self.stores.journal, self._calls, self.clock)

    @cached_property
    def receiver(self) -> "Receiver":
        from contentsvc_core.usecases.receive import Receiver

        most = self.settings.failed_log_rows_per_minute
        return Receiver(self.stores.deliveries, self.stores.journal, self.clock, self.ids, failed_rows_per_minute=most)

    @cached_property
    def generator(self) -> "Generator":
        from contentsvc_core.usecases.generate import Generator

        return Generator(self._job_starter, self.stores.directory, self.stores.brands, self.clock)

    @cached_property
    def triggers(self) -> "TriggerEditor":
        from contentsvc_core.usecases.triggers import TriggerEditor

        return TriggerEditor(self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def posts(self) -> "PostEditor":
        from contentsvc_adapters.markup import SafeMarkdown
        from contentsvc_core.usecases.edit import PostEditor

        return PostEditor(self.stores.posts, SafeMarkdown(), self.clock)

    @cached_property
    def replayer(self) -> "Replayer":
        from contentsvc_core.usecases.replay import Replayer

        stores = self.stores
        return Replayer(
            stores.deliveries, stores.journal, stores.contexts, stores.endpoints, stores.outbox, self.clock, self.ids
        )

    @cached_property
    def planner(self) -> "Planner":
        from contentsvc_core.usecases.plan import Planner

        return Planner(self.stores.schedules, self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def brand_editor(self) -> "BrandEditor":
        from contentsvc_core.content.site_addresses import read_site_hosts
        from contentsvc_core.usecases.brands import BrandEditor

        return BrandEditor(self.stores.brands, self.clock, opened=read_site_hosts(self.settings.site_hosts))

    @cached_property
    def changelogs(self) -> "ChangelogEditor":
        from contentsvc_core.usecases.publicize import ChangelogEditor

        return ChangelogEditor(self.stores.changelogs, self.clock, self.ids)

    @cached_property
    def brand_generator(self) -> "BrandGenerator":
        from contentsvc_core.content.site_addresses import read_site_hosts
        from contentsvc_core.usecases.read_site import BrandGenerator

        opened = read_site_hosts(self.settings.site_hosts)
        return BrandGenerator(self._job_starter, self.stores.brands, opened=opened)

    @cached_property
    def endpoint_editor(self) -> "EndpointEditor":
        from contentsvc_core.content.site_addresses import read_site_hosts
        from contentsvc_core.usecases.webhook_endpoints import EndpointEditor

        opened = read_site_hosts(self.settings.outgoing_hosts)
        return EndpointEditor(self.stores.endpoints, self.stores.outbox, self.clock, self.ids, opened=opened)

    @cached_property
    def _calls(self) -> "HostCalls":
        return host_calls(self.settings, self.stores, self.clock, self.ids, self._hosts)

    @cached_property
    def _job_starter(self) -> "JobStarter":
        from contentsvc_core.usecases.generate import JobStarter

        # Nothing to notify: the servers look for new jobs by themselves.
        return JobStarter(self.stores.jobs, self.clock, self.ids)

    async def sign_in_link(self, key: "ApiKey", port: int) -> str:
        """Return a one-time sign-in link for a browser on this machine."""
        return f"http://127.0.0.1:{port}/dashboard/sign-in/link?token={await self.sign_in.prepare_link(key)}"

    async def organization(self, slug: str) -> "Organization":
        """Return an organization.

        Raises:
            ClickException: No organization has this slug.
        """
        found = await self.stores.directory.organization(slug)
        if found is None:
            message = f"there is no organization '{slug}'"
            raise click.ClickException(message)
        return found


@contextlib.asynccontextmanager
async def open_desk(settings: Settings) -> AsyncGenerator[Desk]:
    """Open the stores for a command."""
    async with open_stores(settings, checks_key=False) as stores, open_code_hosts(settings) as hosts:
        yield Desk(settings, stores, hosts)


def at_desk(
    work: Callable[[Desk], Awaitable[_T]], *, may_make: bool = False, busy: str | None = "waiting for the database"
) -> _T:
    """Open the stores, run ``work``, and close them.

    Args:
        work: Function to run with the desk.
        may_make: Create a missing SQLite file. Other commands fail instead, because they run in the wrong folder.
        busy: Progress text on a terminal; ``None`` if ``work`` shows its own progress.

    Raises:
        ClickException: The database does not exist.
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


def glance(look: Callable[["Directory"], Awaitable[Sequence[_T]]]) -> Sequence[_T]:
    """Return shell completions, within a timeout and without output."""
    from contentsvc_http.wiring.looking import open_as_it_is

    async def run() -> Sequence[_T]:
        settings = load_settings()
        if settings.is_sqlite and not settings.database_file.exists():
            return ()
        async with open_as_it_is(settings, patience_s=_GLANCE_S) as database, asyncio.timeout(_GLANCE_S):
            return await look(database.directory)

    with contextlib.suppress(Exception):
        return asyncio.run(run())
    return ()


def safe_html(markdown: str) -> str:
    """Return the HTML of Markdown, as in posts."""
    from contentsvc_adapters.markup import SafeMarkdown

    return SafeMarkdown().html(markdown)


def accepted(
    value: "_T | _Refused",
) -> _T:
    """Return the result of a use case.

    Raises:
        ClickException: The use case refused; the message is the reason.
    """
    from contentsvc_core.access.keys import KeyFault
    from contentsvc_core.content.brand_changes import BadChange, BrandFault
    from contentsvc_core.hosts import HostRefusal
    from contentsvc_core.organizations import TooMany
    from contentsvc_core.outgoing.endpoints import EndpointFault
    from contentsvc_core.usecases.operate import Refusal
    from contentsvc_core.workflows.schedules import DUPLICATE, DuplicateSchedule
    from contentsvc_core.workflows.triggers import TriggerFault

    match value:
        case Refusal() | HostRefusal() | BadChange() | TooMany():
            raise click.ClickException(value.reason)
        case TriggerFault() | BrandFault() | EndpointFault() | KeyFault():
            raise click.ClickException(value.value)
        case DuplicateSchedule():
            raise click.ClickException(DUPLICATE)
        case _:
            return value
