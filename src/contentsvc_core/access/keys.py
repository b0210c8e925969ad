"""API keys (specification 5.1): shown once, stored as a digest, recognised by a readable prefix."""

import hmac
import re
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import Final, final

from attrs import field, frozen

_FORM: Final = re.compile(r"(csk_[A-Za-z0-9]{10})_[A-Za-z0-9_-]{32,128}", re.ASCII)


#: The most active keys of an organization: enough for one a service and one a person, and few enough for one page.
MAX_KEYS: Final = 100


class Scope(Enum):
    """What a key may do. No scope includes another."""

    READ = "read"
    WRITE = "write"
    #: Issue and revoke keys.
    ADMIN = "admin"


#: The scopes of a new key for which none are named.
DEFAULT_SCOPES: Final = (Scope.READ, Scope.WRITE)


class KeyFault(Enum):
    """Why a key was not issued; the value is what people are told."""

    EXPIRED = "the key would have expired already"
    SCOPE = "a key can only give scopes that it has itself"
    ISSUER_ENDED = "the key that it was to be issued with has ended"


@final
@frozen(kw_only=True)
class ApiKey:
    """What is known of a key; the key itself is not."""

    #: The readable beginning, unique; names the key without revealing it.
    prefix: str
    organization_id: str
    #: For people; empty when it was given none.
    name: str
    #: SHA-256 of the whole key, in hexadecimal. A plain hash is enough: the key is random, not a password.
    digest: str = field(repr=False)
    scopes: tuple[Scope, ...] = field(converter=tuple)
    created_at: datetime
    #: The prefix of the key that it was issued with; ``None``: an operator issued it.
    issued_by: str | None = None
    #: ``None``: it does not expire.
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    #: When it was last used, to the minute.
    last_used_at: datetime | None = None


def digest(key: str) -> str:
    """Give what is stored of a key."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def key_prefix(key: str) -> str | None:
    """Give the prefix of what a client presents as a key; ``None``: it cannot be one."""
    match = _FORM.fullmatch(key)
    return match[1] if match else None


def opens(key: ApiKey, presented: str, now: datetime) -> bool:
    """Tell whether ``presented`` is this key, and the key is neither revoked nor expired at ``now``.

    Compared in constant time. Why it does not open is not told: unknown, revoked and expired get one text.
    """
    return hmac.compare_digest(key.digest, digest(presented)) and stands(key, now)


def stands(key: ApiKey, now: datetime) -> bool:
    """Tell whether a key is neither revoked nor expired at ``now``."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)
