import base64
import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final, final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contentsvc_core.errors import ContentServiceError, SecretUnreadable
from contentsvc_core.ports import SecretSealer

_SHORTEST: Final = 32


class UnusableKey(ContentServiceError):
    """A secret key cannot be used, or its file cannot be read or made; the message says what to do."""


@final
class FernetSealer:
    """Seals with the first of some keys and opens with any, so that keys can be rotated."""

    def __init__(self, keys: str) -> None:
        """``keys``, the newest first, are Fernet keys or secrets of at least 32 characters."""
        texts = [text.strip() for text in keys.replace("\n", ",").split(",") if text.strip()]
        if not texts:
            message = "the secret key is empty: give a Fernet key, or any secret of at least 32 characters"
            raise UnusableKey(message)
        self._fernet = MultiFernet([_fernet(text) for text in texts])

    def seal(self, secret: str) -> str:
        return self._fernet.encrypt(secret.encode()).decode("ascii")

    def open(self, sealed: str) -> str:
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken as exc:
            message = "a stored secret was sealed with another key: add that key to CONTENTSVC_SECRET_KEY, as NEW,OLD"
            raise SecretUnreadable(message) from exc


def opened(sealer: SecretSealer, sealed: Iterable[str]) -> list[str]:
    secrets: list[str] = []
    for sealed_secret in sealed:
        with contextlib.suppress(SecretUnreadable):
            secrets.append(sealer.open(sealed_secret))
    return secrets


def key_beside(database: Path, *, may_make: bool) -> str:
    """Return the key beside a SQLite file. Let it be created (``may_make``) only if no secrets were sealed."""
    path = database.with_name(f"{database.name}.key")
    try:
        key = _read(path)
        if key is None and not may_make:
            message = (
                f"the key file {path} is gone, and {database} holds secrets that were sealed with it: "
                "bring it back, or set CONTENTSVC_SECRET_KEY to the key"
            )
            raise UnusableKey(message)
        return key or _make(path)
    except OSError as exc:
        message = f"the key file {path} cannot be used: {exc.strerror or exc}"
        raise UnusableKey(message) from exc


def _read(path: Path) -> str | None:
    try:
        key = path.read_text("ascii").strip()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        key = ""
    if len(key) < _SHORTEST:
        message = f"the key file {path} holds no key: bring it back from a backup"
        raise UnusableKey(message)
    return key


def _make(path: Path) -> str:
    """Create the file atomically: of two processes that start at once, one creates it and both read it."""
    # Created with mode 0600, under a unique name.
    descriptor, fresh = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(Fernet.generate_key())
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        Path(fresh).unlink()
    return path.read_text("ascii")


def _fernet(text: str) -> Fernet:
    try:
        return Fernet(text)
    except ValueError:
        pass
    if len(text) < _SHORTEST:
        message = f"a key is too short: set CONTENTSVC_SECRET_KEY to a secret of at least {_SHORTEST} characters"
        raise UnusableKey(message)
    # RFC 5869; no salt, so that every node derives the same key.
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"contentsvc sealing").derive(text.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
