"""API keys (specification 5.1): shown once, stored as a digest, recognised by a readable prefix."""

import hashlib
import hmac
import re
from collections.abc import Collection
from datetime import datetime
from enum import Enum
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.refusals import Refusal, RefusalKind, too_many

_FORM: Final = re.compile(r"(csk_[A-Za-z0-9]{10})_[A-Za-z0-9_-]{32,128}", re.ASCII)


#: The most active keys of an organization: enough for one a service and one a person, and few enough for one page.
MAX_KEYS: Final = 100


class Scope(Enum):
    """A permission of a key. No scope includes another."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


DEFAULT_SCOPES: Final = (Scope.READ, Scope.WRITE)


KEY_EXPIRED: Final = Refusal(RefusalKind.UNSUITABLE, "the key would have expired already", "expires_at")
KEY_SCOPES: Final = Refusal(RefusalKind.UNSUITABLE, "a key can only give scopes that it has itself", "scopes")
ISSUER_ENDED: Final = Refusal(RefusalKind.CONFLICT, "the key that it was to be issued with has ended")


@final
@frozen(kw_only=True)
class ApiKey:
    """The stored data of a key; the key itself is not stored."""

    #: The readable beginning, unique; names the key without revealing it.
    prefix: str
    organization_id: str
    name: str
    #: SHA-256 of the whole key, in hexadecimal. A plain hash is enough: the key is random, not a password.
    digest: str = field(repr=False)
    scopes: tuple[Scope, ...] = field(converter=tuple[Scope, ...])
    created_at: datetime
    #: The prefix of the key that issued this key; ``None``: an operator issued it.
    issued_by: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    #: The last use, to the minute.
    last_used_at: datetime | None = None


def digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def key_prefix(key: str) -> str | None:
    """Return the prefix of a presented key; ``None``: the text is not a key."""
    match = _FORM.fullmatch(key)
    return match[1] if match else None


def opens(key: ApiKey, presented: str, now: datetime) -> bool:
    """Check, in constant time, whether ``presented`` is this key, neither revoked nor expired at ``now``."""
    return hmac.compare_digest(key.digest, digest(presented)) and is_active(key, now)


def refuse_key(key: ApiKey, active: Collection[str], *, at_most: int) -> Refusal | None:
    """Return why a new key is refused, or ``None``; ``active`` are the prefixes of the organization's active keys."""
    if key.issued_by is not None and key.issued_by not in active:
        return ISSUER_ENDED
    return too_many("active API keys", at_most) if len(active) >= at_most else None


def is_active(key: ApiKey, now: datetime) -> bool:
    """Return whether a key is neither revoked nor expired at ``now``."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)
