import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

NAME: Final = "contentsvc.env"
_PREFIX: Final = "CONTENTSVC_"
#: Maximum size of a settings file, in bytes: some hundred settings.
_LONGEST: Final = 64 * 1024


def read_settings_file(path: Path) -> dict[str, str]:
    """Return the variables of a settings file by name; empty if there is no file.

    Lines are ``NAME=value`` or ``export NAME=value``, quoted as a shell does; only ``CONTENTSVC_`` names count.

    Raises:
            ClickException: Another user may have written the file, or a line cannot be read.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return {}
            if fault := _fault(status):
                message = f"{path} {fault}: check its content, then 'chmod 600 {path}'"
                raise click.ClickException(message)
            text = file.read(_LONGEST).decode()
    except (FileNotFoundError, IsADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        message = f"{path} cannot be read: {exc}"
        raise click.ClickException(message) from exc
    variables: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as exc:
            raise _bad(path, number, str(exc)) from exc
        words = words[1:] if words[:1] == ["export"] else words
        if not words:
            continue
        name, sign, value = words[0].partition("=")
        if len(words) > 1 or not sign:
            raise _bad(path, number, "the form is NAME=value")
        if name.startswith(_PREFIX):
            variables[name] = value
    return variables


def _fault(status: os.stat_result) -> str:
    user = os.geteuid()
    if status.st_uid not in {user, 0} or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may have been written by another user"
    # `init` writes a file that others cannot read, and git does not: a checkout of strangers must not choose where
    # tokens, keys and posts are sent. A file of root for a service has been placed there on purpose.
    is_of_root = status.st_uid == 0 and user != 0
    return "" if is_of_root or not status.st_mode & (stat.S_IRGRP | stat.S_IROTH) else "may come from a checkout"


def write_settings_file(path: Path, variables: Mapping[str, str]) -> None:
    """Write a settings file that only its owner may read, or leave an existing file unchanged."""
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in variables.items()]
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    # Created with its final mode, so that other users can never read it.
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.writelines(lines)
    new.replace(path)


def _bad(path: Path, number: int, fault: str) -> click.ClickException:
    return click.ClickException(f"{path}, line {number}: {fault}")
