import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

import click

from contentsvc_cli.servers import chosen_server
from contentsvc_cli.terminal.options import option_of
from contentsvc_cli.terminal.output import fail, misused
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_core.application import Application
from contentsvc_core.on_demand import late
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_http.settings import Settings, load_settings

if TYPE_CHECKING:
    from contentsvc_cli.remote import Api
    from contentsvc_cli.servers import Server
    from contentsvc_core.access.keys import ApiKey
    from contentsvc_core.organizations import Organization
    from contentsvc_core.usecases.receive import Receiver
else:
    # Commands name it for the type checker; a local one does not import the client.
    Api = object

_T = TypeVar("_T")
#: The field at the beginning of a refusal, such as ``targets.repositoryIds[0]``.
_FIELD: Final = late(r"(Invalid )?(?:[A-Za-z]+\.)*([A-Za-z]+)(?:\[\d+\])?(?=[: ])")


async def sign_in_link(app: Application, key: "ApiKey", port: int) -> str:
    return f"http://127.0.0.1:{port}/dashboard/sign-in/link?token={await app.sign_in.prepare_link(key)}"


async def organization_named(app: Application, slug: str) -> "Organization":
    """Return an organization; without a slug, the only one. Several organizations without a slug are exit code 2."""
    organization = await app.stores.directory.organization(slug) if slug else None
    if organization is not None:
        return organization
    organizations = await app.stores.directory.organizations()
    slugs = [organization.slug for organization in organizations]
    if not slugs:
        fail("there is no organization: create one with 'contentsvc init' or 'contentsvc organization create'")
    if slug:
        fail(f"there is no organization '{slug}'{near(slug, slugs)}; there is {', '.join(slugs)}")
    if len(organizations) > 1:
        misused(f"choose an organization with -o, or set CONTENTSVC_ORGANIZATION: {', '.join(slugs)}")
    return organizations[0]


def near(word: str, names: Iterable[str]) -> str:
    """Return a question that names the most similar word; empty if none is similar."""
    from difflib import get_close_matches

    matches = get_close_matches(word, list(names), n=1)
    return f" (did you mean '{matches[0]}'?)" if matches else ""


def receiver_of(app: Application) -> "Receiver":
    from contentsvc_core.usecases.receive import Receiver

    most = load_settings().failed_log_rows_per_minute
    return Receiver(app.stores.deliveries, app.stores.journal, app.clock, app.ids, failed_rows_per_minute=most)


@contextlib.asynccontextmanager
async def open_app(settings: Settings) -> AsyncGenerator[Application]:
    from contentsvc_http.wiring.application import compose
    from contentsvc_http.wiring.code_hosts import CodeHosts
    from contentsvc_http.wiring.stores import open_stores

    async with open_stores(settings, checks_key=False) as stores, contextlib.aclosing(CodeHosts(settings)) as hosts:
        # No engine to notify: the servers find new runs by polling.
        yield compose(settings, stores, hosts=hosts)


def with_app(
    work: Callable[[Application], Awaitable[_T]],
    *,
    may_make: bool = False,
    busy: str | None = "waiting for the database",
    remote: Callable[[Api], _T] | None = None,
) -> _T:
    """Open the stores, run ``work``, and close them; with a server, run ``remote`` instead.

    ``may_make`` creates a missing SQLite file; other commands fail instead, because they run in the wrong folder.
    ``busy`` is the progress text; with ``None``, ``work`` shows its own progress.
    """
    settings = load_settings()
    server = chosen_server(has_database=may_make or not settings.is_sqlite or settings.database_file.exists())
    if server is not None:
        return _with_server(server, remote, busy)
    if settings.is_sqlite and not may_make and not settings.database_file.exists():
        login = "" if remote is None else ". For a running service, use 'contentsvc login URL'"
        fail(
            f"there is no database at '{settings.database_file}': run 'contentsvc init' to create one, change to the "
            f"folder where you ran it, or set CONTENTSVC_DATABASE_URL{login}"
        )

    async def run() -> _T:
        async with open_app(settings) as app:
            return await work(app)

    with contextlib.nullcontext() if busy is None else waiting(busy):
        return asyncio.run(run())


def _with_server(server: "Server", work: Callable[[Api], _T] | None, busy: str | None) -> _T:
    from contentsvc_cli.remote import Api as Client
    from contentsvc_cli.remote import UnsuitableValue

    if work is None:
        name = click.get_current_context().command_path
        fail(f"'{name}' works on the machine of the service: run it there, without a server")
    with contextlib.nullcontext() if busy is None else waiting("waiting for the server"), Client(server) as api:
        ctx = click.get_current_context(silent=True)
        slug = ctx.params.get("organization") if ctx is not None else None
        if slug:
            check_organization(api, slug)
        try:
            return work(api)
        except click.UsageError as exc:
            raise click.UsageError(_with_option(exc.message, ctx)) from exc
        except UnsuitableValue as exc:
            raise click.ClickException(_with_option(exc.message, ctx)) from exc


def _with_option(refusal: str, ctx: click.Context | None) -> str:
    """Return a refusal of ``/v1`` with the command's option for the field at its beginning."""
    at_fault = _FIELD.match(refusal)
    option = None if ctx is None or at_fault is None else option_of(ctx.command, at_fault[2])
    if option is None or at_fault is None:
        return refusal
    return f"{at_fault[1] or ''}{option}{refusal[at_fault.end() :]}"


def check_organization(api: Api, slug: str) -> None:
    own = api.get("/v1/organization")["organization"]["slug"]
    if own != slug:
        fail(f"your API key belongs to the organization '{own}', not to '{slug}'")


def safe_html(markdown: str) -> str:
    from contentsvc_adapters.markup import SafeMarkdown

    return SafeMarkdown().html(markdown)


async def owned(
    app: Application,
    kind: str,
    id_: str,
    work: Callable[[str, str], Awaitable[_T | Refusal | None]],
) -> _T:
    """Return the result of ``work`` for the owner of an object and its id; ``None`` or ``False``: it does not exist."""
    owner = await app.stores.directory.owner_of(id_)
    result = None if owner is None else await work(owner, id_)
    if result is None or result is False:
        refuse_unknown(kind, id_)
    return accepted(result, missing=_missing(kind, id_))


def refuse_unknown(kind: str, id_: str) -> NoReturn:
    raise click.ClickException(_missing(kind, id_))


def _missing(kind: str, id_: str) -> str:
    return f"there is no {kind} '{id_}'"


def accepted(value: _T | Refusal, *, missing: str | None = None) -> _T:
    """Return the result of a use case; a refusal is exit code 2 if a value is invalid, else 1.

    The message names the option of the field. ``missing`` is the message for a resource that does not exist.
    """
    if not isinstance(value, Refusal):
        return value
    ctx = click.get_current_context(silent=True)
    message = value.message(None if ctx is None else option_of(ctx.command, value.field))
    if value.kind in {RefusalKind.INVALID, RefusalKind.QUERY}:
        raise click.UsageError(message)
    raise click.ClickException((missing if value.kind is RefusalKind.NOT_FOUND else None) or message)
