import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import click

from contentsvc_core.identifiers import is_loopback
from contentsvc_core.values import Value

SERVER_VARIABLE: Final = "CONTENTSVC_SERVER"
#: Variable of the API key; an argument would be visible in process lists.
KEY_VARIABLE: Final = "CONTENTSVC_API_KEY"
#: Place of the variables from ``contentsvc.env`` in the context of a command.
FOLDER_SETTINGS: Final = "contentsvc.folder_settings"
#: The URL of a server: without a user, a query and a fragment, and one word in the commands that messages name.
_URL: Final = re.compile(r"https?://[\w.~%:/\[\]-]+", re.IGNORECASE)
#: The port of ``serve`` without ``--port`` and without a base URL of this machine.
DEFAULT_PORT: Final = 8000
#: Commands without this option use :func:`local_port`.
LOCAL_PORT: Final = click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"Port of your server.  [default: that of CONTENTSVC_BASE_URL on this machine, else {DEFAULT_PORT}]",
)


class Server(Value, frozen=True):
    url: str
    key: str


def chosen_server(*, has_database: bool) -> Server | None:
    """Return the server of the current command; ``None``: the command uses the database.

    ``--server`` comes first, then ``CONTENTSVC_SERVER``; without both and a database, the last ``contentsvc login``.
    """
    ctx = click.get_current_context(silent=True)
    chosen: str | None = ctx.find_root().params.get("server") if ctx is not None else None
    url = chosen or os.environ.get(SERVER_VARIABLE, "")
    if not url and has_database:
        return None
    logins = read_logins()
    url = url or next(reversed([*logins]), "")
    if not url:
        return None
    url = checked_url(url)
    key = environment_key(url) or logins.get(url, "")
    if not key:
        message = f"there is no API key for {url}: set {KEY_VARIABLE}, or run 'contentsvc login {url}'"
        raise click.ClickException(message)
    return Server(url, checked_key(key))


def environment_key(url: str) -> str:
    """Return the API key of the environment for a server; empty without one.

    The key of a settings file is for the file's own service alone: its server, its base URL, and this machine.
    """
    ctx = click.get_current_context(silent=True)
    of_folder: Mapping[str, str] = {} if ctx is None else ctx.meta.get(FOLDER_SETTINGS, {})
    own = {of_folder.get(name, "").rstrip("/") for name in (SERVER_VARIABLE, "CONTENTSVC_BASE_URL")}
    if KEY_VARIABLE in of_folder and url not in own and not is_loopback(urlsplit(url).hostname or ""):
        return ""
    return os.environ.get(KEY_VARIABLE, "").strip()


def checked_key(key: str) -> str:
    """Return an API key that fits into a header; another text raises ``ClickException``, which does not repeat it."""
    if not key.isascii() or not key.isprintable():
        message = f"the API key has characters that no key has: copy it into {KEY_VARIABLE} again"
        raise click.ClickException(message)
    return key


def checked_url(url: str) -> str:
    """Return a URL without a slash at the end; one without a host or encryption raises ``ClickException``."""
    url = url.strip().rstrip("/")
    try:
        parts = urlsplit(url if _URL.fullmatch(url) else "")
        _ = parts.port
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if not host:
        message = f"'{url}' is not the URL of a server, such as https://contentsvc.example.com"
        raise click.ClickException(message)
    ctx = click.get_current_context(silent=True)
    allowed = ctx is not None and bool(ctx.find_root().params.get("allow_http"))
    if parts.scheme == "http" and not is_loopback(host) and not allowed:
        message = f"{url} would send your API key without encryption: use https, or add --allow-http before the command"
        raise click.ClickException(message)
    return url


def local_port(base_url: str) -> int:
    """Return the port of this machine's server: that of a base URL of this machine, else ``DEFAULT_PORT``."""
    parts = urlsplit(base_url)
    return (is_loopback(parts.hostname or "") and parts.port) or DEFAULT_PORT


def has_another_port(base_url: str, port: int) -> bool:
    """Check whether a base URL of this machine has another port: its links lead nowhere. A proxy has the usual port."""
    parts = urlsplit(base_url)
    return is_loopback(parts.hostname or "") and parts.port not in {None, port}


def serve_command(port: int) -> str:
    return "contentsvc serve" if port == DEFAULT_PORT else f"contentsvc serve --port {port}"


def logins_file() -> Path:
    # Unlike `Path.home`, which raises an error for a user without a home folder.
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  # see above
    return Path(home) / "contentsvc" / "logins.json"


def read_logins() -> Mapping[str, str]:
    """Return the keys of servers by URL, the newest last. A file that other users may read is refused."""
    path = logins_file()
    try:
        if path.stat().st_mode & 0o077:
            message = f"other users may read your API keys: run 'chmod 600 {path}'"
            raise click.ClickException(message)
        logins: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        message = f"{path} cannot be read: {exc}"
        raise click.ClickException(message) from exc
    return cast("dict[str, str]", logins) if isinstance(logins, dict) else {}


def write_logins(logins: Mapping[str, str]) -> None:
    """Replace the file with the keys of servers. Only its owner may read the file."""
    path = logins_file()
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        # Created with its final mode, so that other users can never read it.
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(logins), file, indent=2)
        new.replace(path)
    except OSError as exc:
        message = (
            f"{path} cannot be written: {exc.strerror}; set {SERVER_VARIABLE} and {KEY_VARIABLE} instead, or "
            "XDG_CONFIG_HOME to a folder that you may write"
        )
        raise click.ClickException(message) from exc


def part(text: str) -> str:
    """Return an id as one part of a path; a text that no server takes for an id raises ``ClickException``."""
    if not text or text in {".", ".."} or "/" in text:
        message = f"'{text}' is no id: the 'list' commands print the ids"
        raise click.ClickException(message)
    return quote(text, safe="")
