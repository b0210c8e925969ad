"""Webhook signatures: HMAC with SHA-256 over the raw body (specification 5.2, RFC 2104)."""

import hmac
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from hmac import HMAC
from typing import Final

#: The header that carries a signature; every provider uses this one.
SIGNATURE_HEADER: Final = "X-Hub-Signature-256"

#: The only accepted form. Matched on bytes: ``hmac.compare_digest`` raises on non-ASCII ``str``.
_FORM: Final = re.compile(rb"sha256=[0-9a-f]{64}")


def sign(body: bytes, secret: str) -> str:
    """Return the signature header's value for ``body``: ``sha256=`` and 64 lowercase hexadecimal digits."""
    key = secret.encode("utf-8", "surrogatepass")
    return f"sha256={hmac.digest(key, body, sha256).hex()}"


def keyed(secrets: Iterable[str]) -> Iterator[HMAC]:
    """Return an HMAC for each secret, to be copied for each body.

    An empty secret gets none: anyone can compute its signature.
    """
    return (hmac.new(secret.encode("utf-8", "surrogatepass"), digestmod=sha256) for secret in secrets if secret)


def is_signed(body: bytes, signature: bytes | None, macs: Iterable[HMAC]) -> bool:
    """Check that ``signature`` was made over ``body`` with one of the keys of ``macs``. Total: it never raises.

    Compared in constant time (specification 5.2, step 3).
    """
    if signature is None or _FORM.fullmatch(signature) is None:
        return False
    verified = False
    for mac in macs:
        made = mac.copy()
        made.update(body)
        # All keys are tried, so that the duration does not reveal which key matched.
        verified |= hmac.compare_digest(b"sha256=" + made.hexdigest().encode(), signature)
    return verified


def verify(body: bytes, signature: bytes | None, secrets: Iterable[str]) -> bool:
    """Check that ``signature`` was made over ``body`` with one of ``secrets``; see :func:`is_signed`."""
    return is_signed(body, signature, keyed(secrets))
