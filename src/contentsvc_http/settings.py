"""Settings: environment variables ``CONTENTSVC_*``, checked once at start."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, final

import attrs
from attrs import field, frozen
from sqlalchemy.engine import make_url

from contentsvc_http import settings_checks as checks
from contentsvc_http.settings_checks import ENV_PREFIX, InvalidSetting, variable

__all__ = ["ENV_PREFIX", "Examined", "InvalidSetting", "Settings", "examine_settings", "load_settings", "variable"]

_VARIABLE: Final = re.compile(rf"{ENV_PREFIX}[A-Z_]*[A-Z]")


@final
@frozen(kw_only=True)
class Settings:
    """Everything that can be set. Nothing reads the environment but what loads and examines these."""

    #: Where data is kept.
    database_url: str = field(default="sqlite+aiosqlite:///contentsvc.db", validator=checks.database_url)
    #: How many connections a process has to PostgreSQL at most.
    database_pool_size: int = field(default=10, validator=checks.positive)
    #: The address at which code hosts reach this service; webhook addresses begin with it.
    base_url: str = field(
        default="http://127.0.0.1:8000", converter=lambda text: text.rstrip("/"), validator=checks.base_url
    )
    #: Where the code hosts' APIs are, by provider; empty: their repositories are described, and their hooks entered, by
    #: hand. An address that ends with ``/api/v1`` is that of Forgejo or Gitea.
    codehost_api_url: str = field(default="", converter=lambda text: text.rstrip("/"), validator=checks.api_url)
    github_api_url: str = field(
        default="https://api.github.com", converter=lambda text: text.rstrip("/"), validator=checks.api_url
    )
    #: What stored secrets are encrypted with: Fernet keys or long secrets, separated by commas, the newest first.
    #: Empty with SQLite: a key file beside the database, made when there is none. PostgreSQL needs it.
    secret_key: str = field(default="", repr=False)
    #: How many connections a process has at most; beyond them a sender has to come again.
    max_connections: int = field(default=2000, validator=checks.between(10, 100_000, ""))
    #: How many MiB of large bodies a process holds at a time, counted as they arrive.
    max_large_bodies_mib: int = field(
        default=50,
        validator=checks.between(50, 16_384, ": one integration gets half, and its largest delivery has 25"),
    )
    #: How many refused deliveries a repository's log takes in a minute.
    failed_log_rows_per_minute: int = field(default=1000, validator=checks.positive)
    #: ``auto``: for people on a terminal, JSON elsewhere.
    log_format: str = field(default="auto", validator=checks.one_of("auto", "json", "console"))
    log_level: str = field(
        default="info", converter=str.lower, validator=checks.one_of("debug", "info", "warning", "error")
    )

    #: What keeps the steps of runs: ``auto`` is ``dbos`` with PostgreSQL and ``inline`` with SQLite.
    engine: str = field(
        default="auto", converter=str.lower, validator=[checks.one_of("auto", "inline", "dbos"), checks.engine]
    )
    #: How many runs a process works on at a time, and how many of them may be of one organization.
    run_concurrency: int = field(default=16, validator=checks.positive)
    run_concurrency_per_organization: int = field(default=12, validator=checks.positive)
    #: Whether ``/v1`` answers as clients of the hosted product expect it (decision 0038).
    hosted_client: str = field(default="off", converter=str.lower, validator=checks.one_of("on", "off"))
    #: The proxies whose ``X-Forwarded-For`` counts: addresses and networks, separated by commas; none unless named.
    trusted_proxies: str = field(default="", validator=checks.trusted_proxies)
    #: Hosts that brand identities may be read from though they are not public: ``host`` or ``host:port``, by commas.
    site_hosts: str = field(default="", validator=checks.site_hosts)
    #: Hosts that webhooks may be sent to though they are not public, also without TLS: spelled as those above.
    outgoing_hosts: str = field(default="", validator=checks.site_hosts)
    #: Where mails to subscribers are submitted: ``smtps://`` or ``smtp://`` with STARTTLS; empty: no mail is sent.
    smtp_url: str = field(default="", repr=False, converter=str.strip, validator=checks.smtp_url)
    #: The address that mails come from, which an SMTP server needs.
    mail_from: str = field(default="", converter=str.strip, validator=checks.mail_from)
    #: The least time between two mails with posts to one subscriber, in minutes; posts wait for each other so long.
    mail_every_minutes: int = field(default=15, validator=checks.between(0, 1440, ""))
    #: Where a language model is asked to write, up to ``/chat/completions``; empty: posts are written by rules.
    writer_url: str = field(default="", converter=lambda text: text.rstrip("/"), validator=checks.writer_url)
    writer_model: str = field(default="", converter=str.strip, validator=checks.writer_model)
    #: Empty: none is sent, as servers of one's own may want it.
    writer_key: str = field(default="", repr=False, validator=checks.header_value)
    #: How long one piece of content may take, with everything that is tried again, in seconds.
    writer_timeout_s: int = field(default=120, validator=checks.between(1, 270, ": a run is given up after 300"))
    #: How long an answer may be, in the model's tokens.
    writer_max_tokens: int = field(default=4096, validator=checks.between(100, 1_000_000, ""))
    #: How much the model is told of what happened, in characters.
    writer_context_chars: int = field(default=40_000, validator=checks.between(4_000, 1_000_000, ""))
    #: Whether agents are served under ``/mcp``, where the extra is installed that they need.
    mcp: str = field(default="on", converter=str.lower, validator=checks.one_of("on", "off"))
    #: Who may read ``/metrics``: clients on this machine, everybody, nobody.
    metrics: str = field(default="local", converter=str.lower, validator=checks.one_of("local", "on", "off"))
    #: Where traces go: nowhere, or by OTLP to where the standard variables ``OTEL_*`` say.
    traces: str = field(default="off", converter=str.lower, validator=checks.one_of("off", "otlp"))

    @property
    def database_file(self) -> Path:
        """Give the SQLite file; with PostgreSQL it means nothing."""
        return Path(make_url(self.database_url).database or "")

    @property
    def is_sqlite(self) -> bool:
        """Tell whether data is kept in a SQLite file, which one process serves."""
        return make_url(self.database_url).get_backend_name() == "sqlite"

    @property
    def engine_in_force(self) -> str:
        """Give the engine that is meant by ``auto``."""
        if self.engine != "auto":
            return self.engine
        return "inline" if self.is_sqlite else "dbos"

    @property
    def engine_database_url(self) -> str:
        """Give the database of the engine's own tables, in clear: beside a SQLite file, or a schema of PostgreSQL's."""
        url = make_url(self.database_url)
        if self.is_sqlite:
            # Apart: in one file with the deliveries, its writing would hold theirs up.
            return f"sqlite:///{self.database_file.with_name('engine.db')}"
        # Its driver knows the one name only.
        query = {"sslmode" if name == "ssl" else name: value for name, value in url.query.items()}
        return url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)

    def masked(self) -> dict[str, object]:
        """Give every setting by its environment variable, with nothing secret in clear."""
        shown: dict[str, object] = {
            "database_url": make_url(self.database_url).render_as_string(hide_password=True),
            "database_pool_size": self.database_pool_size,
            "base_url": re.sub(r"//[^/@]*@", "//***@", self.base_url),
            "codehost_api_url": self.codehost_api_url,
            "github_api_url": self.github_api_url,
            "secret_key": "***" if self.secret_key else "",
            "max_connections": self.max_connections,
            "max_large_bodies_mib": self.max_large_bodies_mib,
            "failed_log_rows_per_minute": self.failed_log_rows_per_minute,
            "log_format": self.log_format,
            "log_level": self.log_level,
            "engine": self.engine,
            "run_concurrency": self.run_concurrency,
            "run_concurrency_per_organization": self.run_concurrency_per_organization,
            "hosted_client": self.hosted_client,
            "trusted_proxies": self.trusted_proxies,
            "site_hosts": self.site_hosts,
            "outgoing_hosts": self.outgoing_hosts,
            "smtp_url": re.sub(r"//[^/]*@", "//***@", self.smtp_url),
            "mail_from": self.mail_from,
            "mail_every_minutes": self.mail_every_minutes,
            "writer_url": self.writer_url,
            "writer_model": self.writer_model,
            "writer_key": "***" if self.writer_key else "",
            "writer_timeout_s": self.writer_timeout_s,
            "writer_max_tokens": self.writer_max_tokens,
            "writer_context_chars": self.writer_context_chars,
            "mcp": self.mcp,
            "metrics": self.metrics,
            "traces": self.traces,
        }
        return {variable(name): value for name, value in shown.items()}


def load_settings() -> Settings:
    """Read the settings from the environment.

    Raises:
        InvalidSetting: One cannot be used.
    """
    return _read(without=())


@final
@frozen(kw_only=True)
class Examined:
    """What the environment says, as far as it can be used."""

    #: What cannot be used has its default in here.
    settings: Settings
    #: What is wrong, by variable.
    faults: Mapping[str, str]
    #: The variables that are set and were used.
    given: tuple[str, ...]
    #: The variables that begin like ours, and mean nothing.
    unknown: tuple[str, ...]


def examine_settings() -> Examined:
    """Read the settings from the environment, and find everything that is wrong with them."""
    known = [variable(each.name) for each in attrs.fields(Settings)]
    faults: dict[str, str] = {}
    unusable: set[str] = set()
    while True:
        try:
            settings = _read(without=unusable)
            break
        except InvalidSetting as exc:
            # A fault hides those that are looked for after it. Found a second time, it is what another setting lacks:
            # that one goes, too.
            named = _VARIABLE.findall(str(exc))
            if named[0] not in faults:
                faults[named[0]] = str(exc)
                unusable.add(named[0])
            elif unusable.issuperset(named):
                raise
            else:
                unusable.update(named)
    set_ = [name for name in os.environ if name.startswith(ENV_PREFIX)]
    return Examined(
        settings=settings,
        faults=faults,
        given=tuple(name for name in known if name in set_ and name not in unusable),
        unknown=tuple(sorted(set(set_).difference(known))),
    )


def _read(*, without: Collection[str]) -> Settings:
    given: dict[str, Any] = {}
    for each in attrs.fields(Settings):
        name = variable(each.name)
        if name in os.environ and name not in without:
            given[each.name] = _number(name) if each.type is int else os.environ[name]
    return Settings(**given)


def _number(name: str) -> int:
    try:
        return int(os.environ[name])
    except ValueError:
        message = f"{name} cannot be read: a whole number is expected"
        raise InvalidSetting(message) from None
