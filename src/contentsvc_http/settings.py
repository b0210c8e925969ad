"""Settings: environment variables ``CONTENTSVC_*``, checked once at start."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast, final
from urllib.parse import urlsplit

import typed_settings as ts
from attrs import Attribute, field, frozen
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from typed_settings.exceptions import TsError

ENV_PREFIX: Final = "CONTENTSVC_"
_SAID: Final = re.compile(r"^- InvalidSetting: (.*)$", re.MULTILINE)
#: What the loader says of a value that has not the setting's type; numbers are the only ones that can fail.
_UNREADABLE: Final = re.compile(r"Could not convert value .* for option '(?P<name>\w+)'", re.DOTALL)
_SQLITE: Final = "sqlite+aiosqlite"
_POSTGRESQL: Final = "postgresql+asyncpg"
_POSTGRESQL_EXAMPLE: Final = f"{_POSTGRESQL}://USER:PASSWORD@HOST/DATABASE"
_POSTGRESQL_OPTIONS: Final = frozenset({"host", "port", "ssl", "sslmode"})


class InvalidSetting(ValueError):
    """A setting that cannot be used; the message names it and says what is expected."""


def _database_url(_settings: object, _attribute: object, value: str) -> None:
    # No message repeats the address: it may hold a password.
    try:
        url = make_url(value)
    except (ArgumentError, ValueError) as exc:
        message = f"CONTENTSVC_DATABASE_URL is no database URL: use {_SQLITE}:///FILE or {_POSTGRESQL_EXAMPLE}"
        raise InvalidSetting(message) from exc
    if url.drivername in {_SQLITE, "sqlite"}:
        fault = _sqlite_fault(url)
    elif url.drivername in {_POSTGRESQL, "postgresql"}:
        fault = _postgresql_fault(url)
    else:
        fault = f": '{url.drivername}' is not supported: use {_SQLITE}:///FILE or {_POSTGRESQL_EXAMPLE}"
    if fault:
        message = f"CONTENTSVC_DATABASE_URL{fault}"
        raise InvalidSetting(message)


def _sqlite_fault(url: URL) -> str | None:
    if not url.database or url.database == ":memory:":
        return f" names no file: use {_SQLITE}:///FILE"
    return f" takes no options after the file: use {_SQLITE}:///FILE" if url.query else None


def _postgresql_fault(url: URL) -> str | None:
    if not url.database:
        return f" names no database: use {_POSTGRESQL_EXAMPLE}"
    if url.query.keys() - _POSTGRESQL_OPTIONS:
        return f" takes no options but {', '.join(sorted(_POSTGRESQL_OPTIONS))}"
    if not all(isinstance(value, str) for value in url.query.values()) or not str(url.query.get("port", 1)).isdecimal():
        return " has an option twice, or a port that is no number"
    return None


def _base_url(_settings: object, _attribute: object, value: str) -> None:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
        # Reading the port checks it.
        usable = usable and (parts.port is None or parts.port > 0) and not re.search(r"\s", value)
    except ValueError:
        usable = False
    if not usable:
        message = "CONTENTSVC_BASE_URL must be an address such as https://example.org, without a query"
        raise InvalidSetting(message)


def _positive(_settings: object, attribute: "Attribute[Any]", value: float) -> None:
    if value <= 0:
        message = f"{variable(attribute.name)} must be above 0, not {value}"
        raise InvalidSetting(message)


def _one_of(*choices: str) -> Callable[[object, "Attribute[Any]", str], None]:
    def check(_settings: object, attribute: "Attribute[Any]", value: str) -> None:
        if value not in choices:
            message = f"{variable(attribute.name)} must be one of {', '.join(choices)}, not '{value}'"
            raise InvalidSetting(message)

    return check


def variable(name: str) -> str:
    """Give the environment variable of a setting."""
    return f"{ENV_PREFIX}{name.upper()}"


@final
@frozen(kw_only=True)
class Settings:
    """Everything that can be set. Nothing reads the environment but :func:`load_settings`."""

    #: Where data is kept.
    database_url: str = field(default=f"{_SQLITE}:///contentsvc.db", validator=_database_url)
    #: How many connections a process has to PostgreSQL at most.
    database_pool_size: int = field(default=10, validator=_positive)
    #: The address at which code hosts reach this service; webhook addresses begin with it.
    base_url: str = field(default="http://127.0.0.1:8000", converter=lambda text: text.rstrip("/"), validator=_base_url)
    #: What stored secrets are encrypted with: Fernet keys or long secrets, separated by commas, the newest first.
    #: Empty with SQLite: a key file beside the database, made when there is none. PostgreSQL needs it.
    secret_key: ts.SecretStr = field(default=ts.SecretStr(""))
    #: How many refused deliveries a repository's log takes in a minute.
    failed_log_rows_per_minute: int = field(default=1000, validator=_positive)
    #: ``auto``: for people on a terminal, JSON elsewhere.
    log_format: str = field(default="auto", validator=_one_of("auto", "json", "console"))
    log_level: str = field(default="info", converter=str.lower, validator=_one_of("debug", "info", "warning", "error"))

    #: What keeps the steps of runs: ``auto`` is ``dbos`` with PostgreSQL and ``inline`` with SQLite.
    engine: str = field(default="auto", converter=str.lower, validator=_one_of("auto", "inline", "dbos"))
    #: How many runs a process works on at a time, and how many of them may be of one organization.
    run_concurrency: int = field(default=16, validator=_positive)
    run_concurrency_per_organization: int = field(default=12, validator=_positive)
    #: Who may read ``/metrics``: clients on this machine, everybody, nobody.
    metrics: str = field(default="local", converter=str.lower, validator=_one_of("local", "on", "off"))
    #: Where traces go: nowhere, or by OTLP to where the standard variables ``OTEL_*`` say.
    traces: str = field(default="off", converter=str.lower, validator=_one_of("off", "otlp"))

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
            "secret_key": "***" if self.secret_key else "",
            "failed_log_rows_per_minute": self.failed_log_rows_per_minute,
            "log_format": self.log_format,
            "log_level": self.log_level,
            "engine": self.engine,
            "run_concurrency": self.run_concurrency,
            "run_concurrency_per_organization": self.run_concurrency_per_organization,
            "metrics": self.metrics,
            "traces": self.traces,
        }
        return {variable(name): value for name, value in shown.items()}


def load_settings() -> Settings:
    """Read the settings from the environment.

    Raises:
        InvalidSetting: One cannot be used.
    """
    try:
        return ts.load_settings(Settings, [ts.EnvLoader(prefix=ENV_PREFIX)])
    except (TsError, ExceptionGroup) as exc:
        raise InvalidSetting("; ".join(_said(exc))) from exc


def _said(exc: Exception) -> list[str]:
    """Find what the validators said: the loader collects it in groups of texts, a line each."""
    if isinstance(exc, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", exc)
        return [line for part in group.exceptions for line in _said(part)]
    if unreadable := _UNREADABLE.search(str(exc)):
        return [f"{variable(unreadable['name'])} cannot be read: a whole number is expected"]
    return _SAID.findall(str(exc)) or [str(exc)]
