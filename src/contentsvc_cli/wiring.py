"""The composition root of the operator's commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar, final

import click
from attrs import frozen

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sql import SqlStores
from contentsvc_core.organizations import Organization
from contentsvc_core.usecases.operate import Operator, Refusal
from contentsvc_core.usecases.receive import Receiver
from contentsvc_http.settings import Settings, load_settings
from contentsvc_http.wiring import open_stores

_T = TypeVar("_T")


@final
@frozen(kw_only=True)
class Desk:
    """What an operator's command works with."""

    settings: Settings
    stores: SqlStores
    operator: Operator
    clock: SystemClock
    receiver: Receiver

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
    async with open_stores(settings) as stores:
        clock = SystemClock()
        ids = RandomIds()
        yield Desk(
            settings=settings,
            stores=stores,
            operator=Operator(stores.directory, stores.keys, clock, ids),
            clock=clock,
            receiver=Receiver(
                stores.deliveries,
                stores.journal,
                clock,
                ids,
                failed_rows_per_minute=settings.failed_log_rows_per_minute,
            ),
        )


def at_desk(work: Callable[[Desk], Awaitable[_T]], *, may_make: bool = False) -> _T:
    """Do an operator's work: open, do it, close.

    Args:
        work: What is to be done.
        may_make: Make a SQLite file when there is none: elsewhere, the command was called in the wrong place.

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

    return asyncio.run(run())


def accepted(value: _T | Refusal) -> _T:
    """Give what was done.

    Raises:
        ClickException: It was refused; the message is the reason.
    """
    if isinstance(value, Refusal):
        raise click.ClickException(value.reason)
    return value
