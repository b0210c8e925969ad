"""Sessions, and the tokens of sessions and of links in mails, of which only the digests are stored."""

import hmac
import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final, final

from attrs import field, frozen

SESSION_LIFE: Final = timedelta(hours=24)
#: The time for which a sign-in link is valid: enough to start a server and to open the link.
LINK_LIFE: Final = timedelta(minutes=10)
#: The length of a token in characters: about 238 bits.
TOKEN_LENGTH: Final = 40

_FORM: Final = re.compile(rf"[A-Za-z0-9]{{{TOKEN_LENGTH}}}", re.ASCII)
#: Versioned: change the number together with the derivation.
_CSRF: Final = b"contentsvc/csrf/1"
_LINK: Final = b"contentsvc/sign-in-link/1:"


@final
@frozen(kw_only=True)
class Session:
    """A person's session in the dashboard; the session token itself is not stored."""

    #: SHA-256 of the token, in hexadecimal. A plain hash is enough: the token is random, not a password.
    digest: str = field(repr=False)
    #: The prefix of the key that was presented: the session has the key's scopes, as long as the key is valid.
    key_prefix: str
    created_at: datetime
    expires_at: datetime


def token_digest(token: str) -> str | None:
    """Return the digest by which a token is known; ``None``: the text is no token."""
    return sha256(token.encode()).hexdigest() if _FORM.fullmatch(token) else None


def link_digest(token: str) -> str | None:
    """Return the digest of a sign-in link's token; ``None``: the text is no token. In a cookie, it opens nothing."""
    return sha256(_LINK + token.encode()).hexdigest() if _FORM.fullmatch(token) else None


def csrf_token(token: str) -> str:
    """Return the CSRF token that forms of a session must carry: only pages shown in the session contain it."""
    return hmac.new(token.encode("utf-8", "surrogatepass"), _CSRF, sha256).hexdigest()


def csrf_matches(token: str, presented: str) -> bool:
    # As bytes: ``compare_digest`` accepts only ASCII texts.
    return hmac.compare_digest(csrf_token(token).encode(), presented.encode("utf-8", "surrogatepass"))
