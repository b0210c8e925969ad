"""The composition root of the operator's commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import click

from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_http.settings import Settings, load_settings
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.code_hosts import open_code_hosts
from contentsvc_http.wiring.stores import open_stores

if TYPE_CHECKING:
    from contentsvc_core.access.keys import ApiKey, KeyFault
    from contentsvc_core.content.brand_changes import BadChange, BrandFault
    from contentsvc_core.hosts import HostRefusal
    from contentsvc_core.organizations import Organization, TooMany
    from contentsvc_core.outgoing.endpoints import EndpointFault
    from contentsvc_core.usecases.operate import Refusal
    from contentsvc_core.usecases.receive import Receiver
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


async def sign_in_link(app: Application, key: "ApiKey", port: int) -> str:
    """Return a one-time sign-in link for a browser on this machine."""
    return f"http://127.0.0.1:{port}/dashboard/sign-in/link?token={await app.sign_in.prepare_link(key)}"


async def organization_named(app: Application, slug: str) -> "Organization":
    """Return an organization.

    Raises:
        ClickException: No organization has this slug.
    """
    found = await app.stores.directory.organization(slug)
    if found is None:
        message = f"there is no organization '{slug}'"
        raise click.ClickException(message)
    return found


def receiver_of(app: Application) -> "Receiver":
    """Return a receiver of deliveries without a server."""
    from contentsvc_core.usecases.receive import Receiver

    most = load_settings().failed_log_rows_per_minute
    return Receiver(app.stores.deliveries, app.stores.journal, app.clock, app.ids, failed_rows_per_minute=most)


@contextlib.asynccontextmanager
async def open_app(settings: Settings) -> AsyncGenerator[Application]:
    """Open the stores, and return the use cases over them."""
    async with open_stores(settings, checks_key=False) as stores, open_code_hosts(settings) as hosts:
        # No engine to notify: the servers find new runs by polling.
        yield compose(settings, stores, hosts=hosts)


def with_app(
    work: Callable[[Application], Awaitable[_T]],
    *,
    may_make: bool = False,
    busy: str | None = "waiting for the database",
) -> _T:
    """Open the stores, run ``work``, and close them.

    ``may_make`` creates a missing SQLite file; other commands fail instead, because they run in the wrong folder.
    ``busy`` is the progress text; with ``None``, ``work`` shows its own progress.

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
        async with open_app(settings) as app:
            return await work(app)

    with contextlib.nullcontext() if busy is None else waiting(busy):
        return asyncio.run(run())


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
