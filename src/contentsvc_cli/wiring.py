"""The composition root of the operator's commands."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_http.settings import Settings, load_settings
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.code_hosts import open_code_hosts
from contentsvc_http.wiring.stores import open_stores

if TYPE_CHECKING:
    from contentsvc_core.access.keys import ApiKey
    from contentsvc_core.organizations import Organization
    from contentsvc_core.usecases.receive import Receiver

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


def accepted(value: _T | Refusal, *, missing: str | None = None) -> _T:
    """Return the result of a use case.

    Args:
        value: The result, or the refusal.
        missing: The message for a resource that does not exist.

    Raises:
        UsageError: A search is invalid: exit code 2.
        ClickException: The use case refused for another reason: exit code 1.
    """
    if not isinstance(value, Refusal):
        return value
    if value.kind is RefusalKind.QUERY:
        raise click.UsageError(value.message())
    own = missing if value.kind is RefusalKind.NOT_FOUND else None
    raise click.ClickException(own or value.message())
