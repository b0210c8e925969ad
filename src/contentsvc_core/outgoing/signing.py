"""Signatures of sent webhooks: the Standard Webhooks specification, symmetric scheme ``v1``."""

import base64
import binascii
import hmac
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Final

from contentsvc_core.timestamps import to_ms

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # the prefix of a token
#: The number of random characters of a secret; their bytes are the key. The specification requires 24 to 64.
SECRET_LENGTH: Final = 32
ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"

_VERSION: Final = "v1"
_SECOND_MS: Final = 1000


def secret_of(token: str) -> str:
    """Write a random token as a secret: ``whsec_`` and its Base64."""
    return SECRET_PREFIX + base64.b64encode(token.encode("ascii")).decode("ascii")


def signature(secret: str, *, message_id: str, timestamp_s: int, body: bytes) -> str:
    """Sign the exact bytes that are sent: ``v1,`` and the Base64 of the HMAC with SHA-256 (RFC 2104)."""
    if not secret.startswith(SECRET_PREFIX):
        message = f"a webhook secret begins with {SECRET_PREFIX}"
        raise ValueError(message)
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX).encode(), validate=True)
    except binascii.Error as exc:
        message = f"behind {SECRET_PREFIX}, a webhook secret is Base64"
        raise ValueError(message) from exc
    signed = b".".join((message_id.encode(), str(timestamp_s).encode(), body))
    return f"{_VERSION},{base64.b64encode(hmac.digest(key, signed, sha256)).decode('ascii')}"


def signed_headers(secrets: Iterable[str], *, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the three headers of an attempt (Standard Webhooks), with a signature for each secret, the newest first.

    Raises:
        ValueError: There is no secret, or one is not ``whsec_`` and Base64.
    """
    timestamp_s = to_ms(at) // _SECOND_MS
    signatures = [signature(each, message_id=message_id, timestamp_s=timestamp_s, body=body) for each in secrets]
    if not signatures:
        message = "nothing is sent unsigned"
        raise ValueError(message)
    return {
        ID_HEADER: message_id,
        TIMESTAMP_HEADER: str(timestamp_s),
        SIGNATURE_HEADER: " ".join(signatures),
    }
