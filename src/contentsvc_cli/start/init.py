import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, final
from urllib.parse import urlsplit

import attrs
import click
from attrs import frozen

from contentsvc_cli.connect.connecting import TOKEN_VARIABLE
from contentsvc_cli.develop.git import Checkout, GitFailed
from contentsvc_cli.develop.history import hosted_repository
from contentsvc_cli.environment import NAME, read_settings_file, write_settings_file
from contentsvc_cli.servers import DEFAULT_PORT, KEY_VARIABLE, LOCAL_PORT, local_port, serve_command
from contentsvc_cli.start.machine_zone import machine_zone
from contentsvc_cli.start.previewing import release_tags
from contentsvc_cli.start.setting_up import SetupAnswers, SetupResult, Start, set_up, suggested_start
from contentsvc_cli.terminal.completing import time_zones
from contentsvc_cli.terminal.output import JSON, fail, json_text, misused, say, wants_json
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_cli.wiring import open_app
from contentsvc_core.access.sessions import LINK_LIFE
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, full_name_in, is_full_name, is_loopback
from contentsvc_core.refusals import Refusal
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, PROVIDERS, provider_named
from contentsvc_core.zones import read_zone
from contentsvc_http.settings import InvalidSetting, Settings, api_variable, load_settings, variable

#: The code hosts and their providers, those with a public API first.
_HOSTS: Final = {
    host: provider
    for provider in sorted(PROVIDERS, key=lambda provider: not provider.api_url)
    for host in provider.hosts
}
_FIRST_HOST: Final = next(iter(_HOSTS))
#: The code hosts by the host name of their pages.
_BY_PAGES: Final = {
    (urlsplit(provider.api_url).hostname or "").removeprefix("api."): host
    for host, provider in reversed(_HOSTS.items())
    if provider.api_url
}


@final
@frozen(kw_only=True)
class _Checkout:
    repository: Checkout
    #: ``owner/name`` by its remote; ``None``: unknown.
    full_name: str | None
    #: Code host by its remote; ``None``: unknown.
    host: str | None
    has_releases: bool


@click.command()
@click.option("--organization", metavar="NAME", help="Organization that publishes.  [default: the repository's owner]")
@click.option(
    "--time-zone",
    metavar="ZONE",
    shell_complete=time_zones,
    help="Time zone of schedules and days.  [default: this machine's]",
)
@click.option("--repository", metavar="OWNER/REPO", help="The repository.  [default: the checkout's remote]")
@click.option(
    "--code-host",
    type=click.Choice(list(_HOSTS)),
    help=f"Code host of the repository.  [default: by the checkout's remote, else {_FIRST_HOST}]",
)
@click.option(
    "--api-url", metavar="URL", help="The API of a code host of your own, such as https://git.example/api/v1."
)
@click.option(
    "--repository-id",
    type=click.IntRange(1, MAX_REPOSITORY_ID),
    metavar="N",
    help="Repository id at the code host.  [default: looked up]",
)
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    metavar="TOKEN",
    help="Create the webhook at the code host with this token.",
)
@click.option(
    "--trigger",
    "start",
    type=click.Choice([start.value for start in Start]),
    help="Events that start a post.  [default: releases; pushes if the checkout has no releases]",
)
@click.option("--publish/--drafts", "publishes", default=None, help="Publish posts at once.  [default: publish]")
@click.option(
    "--changelog/--no-changelog", "is_public", default=None, help="Create a public changelog.  [default: yes]"
)
@click.option("--base-url", metavar="URL", help="Public URL of the service.  [default: this machine's]")
@LOCAL_PORT
@click.option(
    "--checkout",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="PATH",
    help="A local checkout of the repository.  [default: the current folder]",
)
@click.option("--history/--no-history", "history", default=None, help="Write posts about the checkout's last releases.")
@click.option(
    "--env-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=NAME,
    show_default=True,
    help="File for the settings and the API key.",
)
@click.option("--overwrite", is_flag=True, help="Replace the env file if it exists.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask: use options and defaults.")
@JSON
def init(  # noqa: PLR0913  # one parameter an option
    *,
    organization: str | None,
    time_zone: str | None,
    repository: str | None,
    code_host: str | None,
    api_url: str | None,
    repository_id: int | None,
    token: str | None,
    start: str | None,
    publishes: bool | None,
    is_public: bool | None,
    base_url: str | None,
    port: int | None,
    checkout: Path | None,
    history: bool | None,
    env_file: Path,
    overwrite: bool,
    yes: bool,
) -> None:
    """Set up an organization, a key, a repository, a trigger and a public changelog.

    Asks for values that you did not set by options. Creates the database, writes the settings to contentsvc.env, and
    prints the webhook's URL and secret and a one-time sign-in link. You can run it again: existing objects are kept.
    """
    if not yes and not sys.stdin.isatty():
        misused("there is no terminal to ask on: add --yes, and options to change the defaults")
    checkout_found = _checkout(checkout)
    prompts = _Prompts(yes)
    name = prompts.text(
        "Repository (owner/name)", "--repository", repository, checkout_found and checkout_found.full_name, _full_name
    )
    suggested_host = (checkout_found and checkout_found.host) or _FIRST_HOST
    host = prompts.choice("Code host", code_host, suggested_host, list(_HOSTS))
    provider = _HOSTS[host]
    if not provider.is_full_name(name):
        misused(f"--repository: '{name}' is not of the form OWNER/NAME")
    form = provider.hosts[host]
    if form and api_url is None and api_variable(provider.slug) not in os.environ:
        api_url = prompts.text(f"API of {host.title()} ({form})", "--api-url", None, None)
    suggested = suggested_start(
        [1] if checkout_found is None or checkout_found.has_releases else [], is_checkout=checkout_found is not None
    )
    started = Start(prompts.choice("What starts a post", start, suggested.value, [start.value for start in Start]))
    settings = _settings(prompts, base_url, None if api_url is None else {provider.slug: api_url}, port)
    port = port or local_port(settings.base_url)
    answers = SetupAnswers(
        organization=prompts.text("Organization", "--organization", organization, name.partition("/")[0]),
        time_zone=prompts.text("Time zone", "--time-zone", time_zone or machine_zone(), None, _time_zone),
        repository=name,
        provider=provider.slug,
        repository_id=repository_id,
        token=token,
        start=started,
        publishes=prompts.confirm("Publish posts at once", publishes),
        is_public=prompts.confirm("Open a public changelog", is_public),
        may_expose=is_public is True,
        history=checkout_found.repository
        if checkout_found is not None and prompts.confirm("Write posts about the checkout's last releases now", history)
        else None,
    )
    current = read_settings_file(env_file)
    try:
        with waiting("setting up"):
            done = asyncio.run(_run(settings, answers, port))
    except GitFailed as exc:
        raise click.ClickException(str(exc)) from exc
    unwritable = None
    try:
        written = _write(env_file, current, settings, done, prompts, overwrite=overwrite)
    except OSError as exc:
        # The new key and the webhook's secret are printed all the same: they are shown once.
        written, unwritable = False, exc.strerror
    if wants_json():
        click.echo(json_text(_body(done, env_file if written else None), indent=2))
    else:
        reported = "the server writes posts about them"
        if started is Start.NOTHING:
            reported = "no trigger writes posts about them"
        elif started is Start.RELEASES and checkout_found is not None and not checkout_found.has_releases:
            reported = "the post about your next release reports them"
        is_in_checkout = checkout is None and checkout_found is not None
        stored = _stored(env_file, settings, is_in_checkout=is_in_checkout)
        state = stored if written else f"{env_file} is kept as it was; --overwrite replaces it"
        _print(done, answers, port, state="Settings are in no file" if unwritable else state, reported=reported)
    if unwritable:
        fail(f"the setup is complete, but {env_file} cannot be written: {unwritable}")


@final
class _Prompts:
    def __init__(self, yes: bool) -> None:  # noqa: FBT001  # the option's value
        self._yes = yes

    def text(
        self,
        question: str,
        option: str,
        value: str | None,
        default: str | None,
        check: Callable[[str], str] = str.strip,
    ) -> str:
        if value is not None or (self._yes and default is not None):
            try:
                return check(value if value is not None else default or "")
            except click.BadParameter as exc:
                misused(f"{option}: {exc.message}")
        if self._yes:
            checkout = ", or name a checkout with a remote by --checkout" if option == "--repository" else ""
            misused(f"no default for {option}: add the option{checkout}")
        answer: str = click.prompt(question, default=default, value_proc=check, err=True)
        return answer

    def choice(self, question: str, value: str | None, default: str, choices: list[str]) -> str:
        if value is not None or self._yes:
            return value or default
        answer: str = click.prompt(question, default=default, type=click.Choice(choices), err=True)
        return answer

    def confirm(self, question: str, value: bool | None, *, default: bool = True) -> bool:  # noqa: FBT001  # as above
        if value is not None or self._yes:
            return default if value is None else value
        return click.confirm(f"{question}?", default=default, err=True)

    def may_replace(self, path: Path) -> bool:
        # Ctrl-C keeps the file: the setup is complete, and its secrets are printed afterwards.
        with contextlib.suppress(click.Abort):
            return not self._yes and click.confirm(f"Replace {path}?", err=True)
        return False


def _checkout(path: Path | None) -> _Checkout | None:
    try:
        repository = Checkout(path or Path())
        line = repository.line()
        hosted = hosted_repository(origin=repository.origin(), folder=repository.folder_name, branch=line.branch)
        tags = release_tags(repository.tags(merged=line.tip))
    except GitFailed as exc:
        if path is None:
            return None
        raise click.ClickException(str(exc)) from exc
    pages = urlsplit(hosted.html_url)
    host = _BY_PAGES.get(pages.hostname or "")
    # At a known host, the path is the name: GitLab's groups may have subgroups.
    name = hosted.full_name if host is None else pages.path[1:]
    full_name = None if name.startswith("local/") else name
    return _Checkout(repository=repository, full_name=full_name, host=host, has_releases=bool(tags))


def _full_name(text: str) -> str:
    name = full_name_in(text.strip())
    if not is_full_name(name, nested=True):
        message = f"'{text}' is not of the form OWNER/NAME"
        raise click.BadParameter(message)
    return name


def _time_zone(text: str) -> str:
    read = read_zone(text.strip())
    if isinstance(read, Refusal):
        raise click.BadParameter(read.message("the time zone"))
    return read.key


def _base_url(text: str) -> str:
    try:
        return Settings(base_url=text.strip()).base_url
    except InvalidSetting as exc:
        raise click.BadParameter(str(exc).removeprefix(f"{variable('base_url')} ")) from exc


def _settings(prompts: _Prompts, base_url: str | None, api_urls: dict[str, str] | None, port: int | None) -> Settings:
    settings = load_settings()
    changes: dict[str, Any] = {}
    if settings.is_sqlite:
        changes["database_url"] = f"sqlite+aiosqlite:///{settings.database_file.absolute()}"
    default = settings.base_url if variable("base_url") in os.environ else f"http://127.0.0.1:{port or DEFAULT_PORT}"
    question = "Address of this service from outside"
    changes["base_url"] = prompts.text(question, "--base-url", base_url, default, _base_url)
    if api_urls is not None:
        changes["api_urls"] = {**settings.api_urls, **api_urls}
    return attrs.evolve(settings, **changes)


async def _run(settings: Settings, answers: SetupAnswers, port: int) -> SetupResult:
    from contentsvc_http.wiring.stores import migrate  # noqa: PLC0415  # `--help` does not need it

    await migrate(settings)
    async with open_app(settings) as app:
        return await set_up(app, settings, answers, stored_key=os.environ.get(KEY_VARIABLE), port=port)


def _write(
    path: Path, current: Mapping[str, str], settings: Settings, done: SetupResult, prompts: _Prompts, *, overwrite: bool
) -> bool:
    key = done.new_key or current.get(KEY_VARIABLE) or os.environ.get(KEY_VARIABLE, "")
    variables = {
        **current,
        variable("database_url"): settings.database_url,
        variable("base_url"): settings.base_url,
        **{api_variable(slug): url for slug, url in settings.api_urls.items() if url != Settings().api_urls[slug]},
        KEY_VARIABLE: key,
    }
    if current == variables:
        return True
    if path.exists() and not overwrite and not prompts.may_replace(path):
        return False
    write_settings_file(path, variables)
    return True


def _stored(env_file: Path, settings: Settings, *, is_in_checkout: bool) -> str:
    files = f"it and {settings.database_file.name}*" if settings.is_sqlite else "it"
    advice = f". Do not commit {files}: they contain secrets" if is_in_checkout else ""
    return f"Settings are in {env_file}{advice}"


def _body(done: SetupResult, written: Path | None) -> dict[str, Any]:
    return {
        "organization": done.organization.slug,
        "key": done.new_key,
        "repositoryId": str(done.integration.repositories[0].id),
        "integrationId": done.integration.id,
        "webhookUrl": done.webhook_url,
        "webhookSecret": done.webhook_secret,
        "createdAtHost": done.created_at_host,
        "changelogUrl": done.changelog_url if done.is_public else None,
        "received": done.received,
        "existing": list(done.existing),
        "envFile": None if written is None else str(written),
        "signInUrl": done.sign_in_url,
    }


def _print(done: SetupResult, answers: SetupAnswers, port: int, *, state: str, reported: str) -> None:
    for line in done.existing:
        say(f"Exists already: {line}")
    name = done.integration.repositories[0].full_name
    if done.webhook_secret is not None:
        setup = (provider_named(answers.provider) or DEFAULT_PROVIDER).setup
        kind = f"content type {setup.content_type}; " if setup.content_type else ""
        say(f"\nAdd this webhook to {name} ({kind}{setup.events_text}):")
        width = max(len("URL"), len(setup.secret_field))
        say(f"  {'URL':{width}}  {done.webhook_url}")
        say(f"  {setup.secret_field:{width}}  {done.webhook_secret}")
    elif done.created_at_host:
        say(f"\nThe webhook of {name} is created: {done.webhook_url}")
    else:
        say(f"\nThe webhook of {name} is {done.webhook_url}")
        say(f"  A new secret: contentsvc integration rotate-secret {done.integration.id}")
    if is_loopback(urlsplit(done.webhook_url).hostname or ""):
        say("  This address works on this machine alone; --base-url sets another one.")
    if done.new_key is not None:
        say(f"\nAPI key, shown once: {done.new_key}")
    say(f"{state}.")
    if done.received:
        say(f"Received {done.received:,} pushes and releases of your checkout; {reported}.")
    if done.is_public:
        say(f"Public changelog: {done.changelog_url}")
    elif done.unexposed:
        say(f"{done.unexposed:,} published posts would become public: contentsvc changelog publish shows which.")
    elif answers.is_public:
        say("The public changelog is off: its name is taken. Set one with contentsvc changelog set --slug.")
    say(f"\nNext: {serve_command(port)}")
    minutes = int(LINK_LIFE.total_seconds() // 60)
    say(f"Then sign in with this link, on this machine, once, within {minutes} minutes:")
    say(f"  {done.sign_in_url}")
