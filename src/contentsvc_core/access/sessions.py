"""Sessions: somebody has presented an API key once, and is known by a token for a while.

As with keys, the token is stored as a digest alone: who reads the database is signed in nowhere.
"""

import hmac
import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, final

from attrs import field, frozen

#: How long a session lives at most, whatever is done in it.
SESSION_LIFE: Final = timedelta(hours=24)
#: How long a sign-in link works: time enough to start a server and to open the link.
LINK_LIFE: Final = timedelta(minutes=10)
#: How many characters a token has: about 238 bits.
TOKEN_LENGTH: Final = 40

_FORM: Final = re.compile(rf"[A-Za-z0-9]{{{TOKEN_LENGTH}}}", re.ASCII)
#: Versioned: a change of what is derived is a change of this.
_CSRF: Final = b"contentsvc/csrf/1"
_LINK: Final = b"contentsvc/sign-in-link/1:"


@final
@frozen(kw_only=True)
class Session:
    """What is known of a session; its token is not."""

    #: SHA-256 of the token, in hexadecimal. A plain hash is enough: the token is random, not a password.
    digest: str = field(repr=False)
    #: The prefix of the key that was presented: the session can do what the key can, as long as that stands.
    key_prefix: str
    created_at: datetime
    #: From then on it is none.
    expires_at: datetime


def session_digest(token: str) -> str | None:
    """Give the digest of what a browser presents as a token; ``None``: it cannot be one."""
    return sha256(token.encode()).hexdigest() if _FORM.fullmatch(token) else None


def link_digest(token: str) -> str | None:
    """Return the digest of the token of a sign-in link; ``None``: it cannot be one.

    It is not the digest of a session's token: a link's token in a cookie opens nothing.
    """
    return sha256(_LINK + token.encode()).hexdigest() if _FORM.fullmatch(token) else None


def csrf_token(token: str) -> str:
    """Give what a form of a session has to carry: only pages that were shown in the session can know it.

    It is derived from the session's token, which no page holds, and cannot be turned back into it.
    """
    return hmac.new(token.encode("utf-8", "surrogatepass"), _CSRF, sha256).hexdigest()


def csrf_matches(token: str, presented: str) -> bool:
    """Tell whether a form carries what it has to, in constant time."""
    # As bytes: of texts, only ASCII can be compared so.
    return hmac.compare_digest(csrf_token(token).encode(), presented.encode("utf-8", "surrogatepass"))
