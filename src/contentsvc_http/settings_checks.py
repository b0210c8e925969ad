import re
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol
from urllib.parse import urlsplit

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from contentsvc_core.errors import ContentServiceError

if TYPE_CHECKING:
    from attrs import Attribute

ENV_PREFIX: Final = "CONTENTSVC_"
_SQLITE: Final = "sqlite+aiosqlite"
_POSTGRESQL: Final = "postgresql+asyncpg"
_POSTGRESQL_EXAMPLE: Final = f"{_POSTGRESQL}://USER:PASSWORD@HOST/DATABASE"
_MODEL_LENGTH: Final = 200
#: On SQLite, DBOS reads the time with ``unixepoch('subsec')`` if Python is 3.12 or newer.
ENGINE_NEEDS_SUBSEC: Final = sys.version_info[:2] >= (3, 12)
_POSTGRESQL_OPTIONS: Final = frozenset({"host", "port", "ssl", "sslmode"})


class _Settings(Protocol):
    @property
    def smtp_url(self) -> str: ...

    @property
    def writer_url(self) -> str: ...

    @property
    def database_url(self) -> str: ...

    @property
    def engine_in_force(self) -> str: ...


class InvalidSetting(ContentServiceError):
    """A setting is invalid; the message names it and the expected value."""


def _refuse(message: str) -> NoReturn:
    raise InvalidSetting(message)


# Functions of Python: attrs reads the signature of a converter, and parses those of built-in functions, 0.3 ms each.
def lowered(text: str) -> str:
    return text.lower()


def stripped(text: str) -> str:
    return text.strip()


def database_url(_settings: object, _attribute: object, value: str) -> None:
    # No message repeats the URL, which may hold a password.
    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        message = f"CONTENTSVC_DATABASE_URL is no database URL: use {_SQLITE}:///FILE or {_POSTGRESQL_EXAMPLE}"
        if "," in value:
            message = f"{message}; name several servers after it, as ?host=HOST1,HOST2&port=PORT1,PORT2"
        _refuse(message)
    if url.drivername in {_SQLITE, "sqlite"}:
        fault = _sqlite_fault(url)
    elif url.drivername in {_POSTGRESQL, "postgresql"}:
        fault = _postgresql_fault(url)
    else:
        fault = f": '{url.drivername}' is not supported: use {_SQLITE}:///FILE or {_POSTGRESQL_EXAMPLE}"
    if fault:
        _refuse(f"CONTENTSVC_DATABASE_URL{fault}")


def _sqlite_fault(url: URL) -> str | None:
    if not url.database or url.database == ":memory:":
        return f" names no file: use {_SQLITE}:///FILE"
    return f" takes no options after the file: use {_SQLITE}:///FILE" if url.query else None


def _postgresql_fault(url: URL) -> str | None:
    if not url.database:
        return f" names no database: use {_POSTGRESQL_EXAMPLE}"
    if "@" in f"{url.host}{url.database}":
        return " has an '@' in the password: write it as %40"
    if url.query.keys() - _POSTGRESQL_OPTIONS:
        return f" takes no options but {', '.join(sorted(_POSTGRESQL_OPTIONS))}"
    ports = str(url.query.get("port", 1)).split(",")
    if not all(isinstance(value, str) for value in url.query.values()) or not all(map(str.isdecimal, ports)):
        return " has an option twice, or a port that is no number"
    if len(ports) not in {1, len(str(url.query.get("host", url.host)).split(","))}:
        return " needs one port, or one for each host"
    return None


def base_url(_settings: object, _attribute: object, value: str) -> None:
    if not _is_address(value, without=r"\s"):
        _refuse(
            "CONTENTSVC_BASE_URL must be an address such as https://example.org: http:// or https:// in lower case, "
            "and no query"
        )


def api_urls(_settings: object, _attribute: object, value: Mapping[str, str]) -> None:
    # No message repeats the address, which may contain a token.
    for slug, url in value.items():
        if url and not _is_address(url, without=r"[\s@]"):
            _refuse(
                f"{api_variable(slug)} must be an API's address such as https://forge.example/api/v1, "
                "without a user name or a query"
            )


def _is_address(url: str, *, without: str) -> bool:
    """Check that a URL is HTTP, has a host, no query and no fragment, and matches the pattern ``without`` nowhere.

    Its scheme is in lower case: whether cookies and requests are encrypted is decided by the beginning of the URL.
    """
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        is_reachable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    is_plain = not parts.query and not parts.fragment and not re.search(without, url)
    return url.startswith(("http://", "https://")) and is_reachable and is_plain


def trusted_proxies(_settings: object, _attribute: object, value: str) -> None:
    if not value:
        return
    from contentsvc_http.client_address import Proxies  # noqa: PLC0415  # most commands do not need it

    try:
        Proxies.read(value)
    except ValueError as exc:
        _refuse(f"CONTENTSVC_TRUSTED_PROXIES takes addresses and networks such as 10.0.0.0/8, by commas: {exc}")


def site_hosts(_settings: object, attribute: "Attribute[Any]", value: str) -> None:
    if not value:
        return
    from contentsvc_core.content.site_addresses import read_site_hosts  # noqa: PLC0415  # most commands do not need it

    try:
        read_site_hosts(value)
    except ValueError as exc:
        _refuse(f"{variable(attribute.name)} takes hosts such as intranet.example or 10.0.0.7:8080, by commas: {exc}")


def smtp_url(_settings: object, _attribute: object, value: str) -> None:
    if not value:
        return
    from contentsvc_core.outgoing.smtp import SmtpServer  # noqa: PLC0415  # most commands do not need it

    try:
        SmtpServer.read(value)
    except ValueError as exc:
        # No message repeats the URL, which may hold a password.
        message = f"CONTENTSVC_SMTP_URL {exc}"
        raise InvalidSetting(message) from None


def mail_from(settings: _Settings, _attribute: object, value: str) -> None:
    if settings.smtp_url and not value:
        _refuse("CONTENTSVC_MAIL_FROM must be the address that mails come from, as CONTENTSVC_SMTP_URL is set")
    if not value:
        return
    from contentsvc_core.outgoing.subscribers import read_address  # noqa: PLC0415  # most commands do not need it

    if read_address(value) is None:
        _refuse("CONTENTSVC_MAIL_FROM must be an address such as changelog@example.org, without a name")


def writer_url(_settings: object, _attribute: object, value: str) -> None:
    # No message repeats the URL, which may contain a key.
    if value and not _is_address(value, without=r"\s|@|/chat/completions$"):
        _refuse(
            "CONTENTSVC_WRITER_URL must be what stands before /chat/completions, such as http://127.0.0.1:11434/v1, "
            "without a user name or a query; the key goes into CONTENTSVC_WRITER_KEY"
        )


def writer_model(settings: _Settings, _attribute: object, value: str) -> None:
    if settings.writer_url and not value:
        _refuse("CONTENTSVC_WRITER_MODEL must name the model that is asked at CONTENTSVC_WRITER_URL")
    if len(value) > _MODEL_LENGTH or not value.isprintable():
        _refuse(f"CONTENTSVC_WRITER_MODEL must be a name in one line, at most {_MODEL_LENGTH} characters long")


def header_value(_settings: object, attribute: "Attribute[Any]", value: str) -> None:
    if not re.fullmatch(r"[!-~]*", value):
        _refuse(f"{variable(attribute.name)} must be visible ASCII characters without spaces")


def between(least: int, most: int, why: str) -> Callable[[object, "Attribute[Any]", int], None]:
    def check(_settings: object, attribute: "Attribute[Any]", value: int) -> None:
        if not least <= value <= most:
            _refuse(f"{variable(attribute.name)} must be {least} to {most}, not {value}{why}")

    return check


def positive(_settings: object, attribute: "Attribute[Any]", value: float) -> None:
    if value <= 0:
        _refuse(f"{variable(attribute.name)} must be above 0, not {value}")


def one_of(*choices: str) -> Callable[[object, "Attribute[Any]", str], None]:
    def check(_settings: object, attribute: "Attribute[Any]", value: str) -> None:
        if value not in choices:
            _refuse(f"{variable(attribute.name)} must be one of {', '.join(choices)}, not '{value}'")

    return check


def engine(settings: _Settings, _attribute: object, value: str) -> None:
    """Check that the packages of the engine in force are installed, and that they work with this SQLite."""
    if value not in {"auto", "dbos"} or settings.engine_in_force != "dbos":
        return
    if _is_installed("dbos"):
        import sqlite3  # noqa: PLC0415  # few installations get here

        is_old = ENGINE_NEEDS_SUBSEC and sqlite3.sqlite_version_info < (3, 42)
        if is_old and settings.database_url.startswith(_SQLITE):
            has = f"needs SQLite 3.42 or newer, and this Python has {sqlite3.sqlite_version}"
            _refuse(f"CONTENTSVC_ENGINE=dbos with SQLite {has}: use CONTENTSVC_ENGINE=inline")
        return
    named = "CONTENTSVC_ENGINE is 'dbos'" if value == "dbos" else "CONTENTSVC_DATABASE_URL names PostgreSQL"
    _refuse(f"{named}, which needs packages that are not installed: pip install 'contentsvc[postgresql]'")


def traces(_settings: object, _attribute: object, value: str) -> None:
    """Check that the packages of traces are installed."""
    if value == "otlp" and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
        _refuse("CONTENTSVC_TRACES=otlp needs packages that are not installed: pip install 'contentsvc[otel]'")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def api_variable(slug: str) -> str:
    return variable(f"{slug}_api_url")


def variable(name: str) -> str:
    return f"{ENV_PREFIX}{name.upper()}"
