import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import attrs
from attrs import field, frozen
from sqlalchemy.engine import make_url

from contentsvc_core.on_demand import late
from contentsvc_core.values import Value
from contentsvc_http import settings_checks as checks
from contentsvc_http.settings_checks import ENV_PREFIX, InvalidSetting, api_variable, variable

if TYPE_CHECKING:
    from contentsvc_core.webhooks.providers.provider import Provider

__all__ = [
    "ENV_PREFIX",
    "Examined",
    "InvalidSetting",
    "Settings",
    "api_variable",
    "examine_settings",
    "load_settings",
    "variable",
]

_API_URLS: Final = "_api_urls"
_API_SUFFIX: Final = api_variable("").removeprefix(ENV_PREFIX)
_VARIABLE: Final = late(rf"{ENV_PREFIX}[A-Z_]*[A-Z]")


def _providers() -> "Sequence[Provider]":
    from contentsvc_core.webhooks.providers import PROVIDERS  # noqa: PLC0415  # most commands call no code host

    return PROVIDERS


@final
@frozen(kw_only=True)
class Settings:
    database_url: str = field(default="sqlite+aiosqlite:///contentsvc.db", validator=checks.database_url)
    database_pool_size: int = field(default=10, validator=checks.positive)
    #: The public base URL, which code hosts use; webhook addresses begin with it.
    base_url: str = field(
        default="http://127.0.0.1:8000", converter=lambda text: text.rstrip("/"), validator=checks.base_url
    )
    #: The addresses that replace those of the providers' public APIs (:func:`api_variable`).
    _api_urls: Mapping[str, str] = field(
        alias="api_urls", factory=dict[str, str], validator=checks.api_urls, hash=False
    )
    #: The encryption keys of stored secrets: Fernet keys or long secrets, separated by commas, newest first. Empty with
    #: SQLite: a key file beside the database, created if missing. PostgreSQL requires a key.
    secret_key: str = field(default="", repr=False)
    #: The maximum number of connections of a process; further connections are refused, and senders retry.
    max_connections: int = field(default=2000, validator=checks.between(10, 100_000, ""))
    #: The budget for large bodies that are being received, in MiB per process.
    max_large_bodies_mib: int = field(
        default=50,
        validator=checks.between(50, 16_384, ": one integration gets half, and its largest delivery has 25"),
    )
    #: The maximum number of refused deliveries per minute in a repository's log.
    failed_log_rows_per_minute: int = field(default=1000, validator=checks.positive)
    log_format: str = field(default="auto", validator=checks.one_of("auto", "json", "console"))
    log_level: str = field(
        default="info", converter=checks.lowered, validator=checks.one_of("debug", "info", "warning", "error")
    )

    #: The engine, which stores the steps of runs: ``auto`` is ``dbos`` with PostgreSQL and ``inline`` with SQLite.
    engine: str = field(
        default="auto", converter=checks.lowered, validator=[checks.one_of("auto", "inline", "dbos"), checks.engine]
    )
    #: The maximum number of concurrent runs of a process, in total and per organization.
    run_concurrency: int = field(default=32, validator=checks.positive)
    run_concurrency_per_organization: int = field(default=24, validator=checks.positive)
    #: Whether ``/v1`` answers in the form of the hosted product (decision 0038).
    hosted_client: str = field(default="off", converter=checks.lowered, validator=checks.one_of("on", "off"))
    #: The proxies whose ``X-Forwarded-For`` is trusted: addresses and networks, separated by commas.
    trusted_proxies: str = field(default="", validator=checks.trusted_proxies)
    #: Non-public hosts that brand identities may be read from: ``host`` or ``host:port``, separated by commas.
    site_hosts: str = field(default="", validator=checks.site_hosts)
    #: Non-public hosts that webhooks may be sent to, also without TLS; the same format.
    outgoing_hosts: str = field(default="", validator=checks.site_hosts)
    #: The SMTP server for mails to subscribers: ``smtps://``, or ``smtp://`` with STARTTLS; empty: no mail is sent.
    smtp_url: str = field(default="", repr=False, converter=checks.stripped, validator=checks.smtp_url)
    #: The sender address of mails; required with an SMTP server.
    mail_from: str = field(default="", converter=checks.stripped, validator=checks.mail_from)
    #: The minimum time between two mails with posts to one subscriber, in minutes; posts are batched meanwhile.
    mail_every_minutes: int = field(default=15, validator=checks.between(0, 1440, ""))
    #: The base URL of a language model, up to ``/chat/completions``; empty: the rule-based writer.
    writer_url: str = field(default="", converter=lambda text: text.rstrip("/"), validator=checks.writer_url)
    writer_model: str = field(default="", converter=checks.stripped, validator=checks.writer_model)
    #: The API key of the language model; empty: no key is sent, as self-hosted servers may require.
    writer_key: str = field(default="", repr=False, validator=checks.header_value)
    #: The time limit for one piece of content with all retries, in seconds.
    writer_timeout_s: int = field(default=120, validator=checks.between(1, 270, ": a run is given up after 300"))
    #: The maximum length of an answer, in the model's tokens.
    writer_max_tokens: int = field(default=4096, validator=checks.between(100, 1_000_000, ""))
    #: The maximum length of the prompt's context, in characters.
    writer_context_chars: int = field(default=40_000, validator=checks.between(4_000, 1_000_000, ""))
    #: Whether ``/mcp`` serves agents, if the extra for them is installed.
    mcp: str = field(default="on", converter=checks.lowered, validator=checks.one_of("on", "off"))
    #: The clients that may read ``/metrics``: those on this machine, all, or none.
    metrics: str = field(default="local", converter=checks.lowered, validator=checks.one_of("local", "on", "off"))
    #: The export of traces: none, or OTLP to the endpoint in the standard variables ``OTEL_*``.
    traces: str = field(
        default="off", converter=checks.lowered, validator=[checks.one_of("off", "otlp"), checks.traces]
    )

    @property
    def database_file(self) -> Path:
        return Path(make_url(self.database_url).database or "")

    @property
    def is_sqlite(self) -> bool:
        """Return whether the database is a SQLite file, which one process serves."""
        return make_url(self.database_url).get_backend_name() == "sqlite"

    @property
    def engine_in_force(self) -> str:
        if self.engine != "auto":
            return self.engine
        return "inline" if self.is_sqlite else "dbos"

    @property
    def engine_database_url(self) -> str:
        """Return the URL of the engine's database with its password: a file beside SQLite's, or the same database."""
        url = make_url(self.database_url)
        if self.is_sqlite:
            # A separate file: the engine's writes would otherwise delay deliveries.
            return f"sqlite:///{self.database_file.with_name('engine.db')}"
        # The engine's driver knows the name sslmode only.
        query = {"sslmode" if name == "ssl" else name: value for name, value in url.query.items()}
        query["target_session_attrs"] = "primary"
        return url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)

    @property
    def api_urls(self) -> Mapping[str, str]:
        return {
            provider.slug: self._api_urls.get(provider.slug, provider.api_url).rstrip("/") for provider in _providers()
        }

    def masked(self) -> dict[str, object]:
        """Return the settings by their variables, without secrets: a field without ``repr`` shows only if it is set."""
        shown: dict[str, object] = {}
        for attribute in attrs.fields(Settings):
            value = getattr(self, attribute.name)
            if attribute.name == _API_URLS:
                shown |= {f"{slug}_api_url": url for slug, url in self.api_urls.items()}
            else:
                shown[attribute.name] = value if attribute.repr else "***" if value else ""
        shown |= {
            "database_url": make_url(self.database_url).render_as_string(hide_password=True),
            "base_url": re.sub(r"//[^/@]*@", "//***@", self.base_url),
            "smtp_url": re.sub(r"//[^/]*@", "//***@", self.smtp_url),
        }
        return {variable(name): value for name, value in shown.items()}


def load_settings() -> Settings:
    """Read the settings from the environment, or raise :class:`InvalidSetting`."""
    return _read(without=())


@final
class Examined(Value, frozen=True, kw_only=True):
    #: Invalid settings have their defaults here.
    settings: Settings
    faults: Mapping[str, str]
    in_use: tuple[str, ...]
    unknown: tuple[str, ...]


def examine_settings() -> Examined:
    names = [*_variables(), *_api_variables().values()]
    faults: dict[str, str] = {}
    unusable: set[str] = set()
    while True:
        try:
            settings = _read(without=unusable)
            break
        except InvalidSetting as exc:
            # A fault hides the checks after it. If it comes back, the setting that the message names is dropped as
            # well.
            named = _VARIABLE.findall(str(exc))
            if named[0] not in faults:
                faults[named[0]] = str(exc)
                unusable.add(named[0])
            elif unusable.issuperset(named):
                raise
            else:
                unusable.update(named)
    return Examined(
        settings=settings,
        faults=faults,
        in_use=tuple(name for name in names if name in os.environ and name not in unusable),
        unknown=unknown_variables(),
    )


def unknown_variables() -> tuple[str, ...]:
    """Return the names of environment variables that have our prefix, but are not settings."""
    known = {*_variables(), *_api_variables().values()}
    return tuple(sorted(name for name in os.environ if name.startswith(ENV_PREFIX) and name not in known))


def _read(*, without: Collection[str]) -> Settings:
    values: dict[str, Any] = {}
    for name, kind in _variables().items():
        if name in os.environ and name not in without:
            values[name] = _number(name) if kind is int else os.environ[name]
    plain = {
        attribute.name: values[variable(attribute.name)]
        for attribute in attrs.fields(Settings)
        if variable(attribute.name) in values
    }
    return Settings(**plain, api_urls=_api_urls(without))


def _api_urls(without: Collection[str]) -> dict[str, str]:
    named = {name for name in os.environ if name.startswith(ENV_PREFIX)}.difference(without)
    if not any(name.endswith(_API_SUFFIX) for name in named):
        return {}
    return {slug: os.environ[name] for slug, name in _api_variables().items() if name in named}


def _api_variables() -> dict[str, str]:
    return {provider.slug: api_variable(provider.slug) for provider in _providers()}


def _variables() -> dict[str, object]:
    return {
        variable(attribute.name): attribute.type for attribute in attrs.fields(Settings) if attribute.name != _API_URLS
    }


def _number(name: str) -> int:
    try:
        return int(os.environ[name])
    except ValueError:
        message = f"{name} cannot be read: a whole number is expected"
        raise InvalidSetting(message) from None
