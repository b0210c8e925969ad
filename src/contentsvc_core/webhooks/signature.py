"""Authentication of deliveries: a signature over the body, or a shared token (specification 5.2).

A scheme is a value of a provider. Every check is in constant time, and none of them raises.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Final, Protocol, TypeAlias, final

from attrs import frozen

SIGNATURE_HEADER: Final = "X-Hub-Signature-256"

#: Checks the value of a scheme's header for a body; ``None``: the header is missing or repeated.
Verifier: TypeAlias = Callable[[bytes, bytes | None], bool]

#: The length of a signature, in hexadecimal digits.
_DIGITS: Final = 64


@cache
def sent_name(header: str) -> bytes:
    # Cached: each delivery looks up three headers of its provider.
    return header.lower().encode("ascii")


class Scheme(Protocol):
    """The authentication of a provider's deliveries: a value in one header, made of the body and a secret."""

    @property
    def header(self) -> str:
        """Return the name of the header, as the code host spells it."""
        ...

    @property
    def name(self) -> bytes:
        """Return the name of the header in lower case."""
        ...

    @property
    def description(self) -> str:
        """Return a sentence about the header's value, for the OpenAPI document."""
        ...

    @property
    def proof(self) -> str:
        """Return the kind of the value as the object of a sentence, such as ``a signature over the body``."""
        ...

    @property
    def pattern(self) -> str | None:
        """Return the form of the header's value, as a regular expression; ``None``: it has any form."""
        ...

    def value(self, body: bytes, secret: str, /) -> str:
        """Return the header's value for a body."""
        ...

    def verifier(self, secrets: Iterable[str], /) -> Verifier:
        """Return the check of the header's value for any of the secrets.

        It takes the body and the value as bytes; ``None``: the header is missing or repeated. It compares in constant
        time, and raises nothing. An empty secret verifies nothing.
        """
        ...


@final
@frozen(kw_only=True)
class HmacSha256:
    """A prefix and the HMAC with SHA-256 over the raw body, in lowercase hexadecimal digits (RFC 2104)."""

    header: str
    prefix: str = "sha256="

    @property
    def name(self) -> bytes:
        return sent_name(self.header)

    @property
    def description(self) -> str:
        return f"`{self.prefix}` followed by the hexadecimal HMAC-SHA256 of the body, keyed with the webhook secret."

    @property
    def proof(self) -> str:
        return "an HMAC-SHA256 signature over the body"

    @property
    def pattern(self) -> str:
        """Return the form of the header's value, as a regular expression."""
        return f"^{self.prefix}[0-9a-f]{{{_DIGITS}}}$"

    def value(self, body: bytes, secret: str) -> str:
        return f"{self.prefix}{hmac.digest(_bytes(secret), body, hashlib.sha256).hex()}"

    def verifier(self, secrets: Iterable[str]) -> Verifier:
        return partial(self.is_signed, tuple(_keys(secrets)))

    def is_signed(self, keys: Iterable[bytes], body: bytes, signature: bytes | None) -> bool:
        """Check that ``signature`` was made over ``body`` with one of the keys."""
        prefix = self.prefix
        if signature is None or len(signature) != len(prefix) + _DIGITS:
            return False
        verified = False
        for key in keys:
            computed = f"{prefix}{hmac.digest(key, body, hashlib.sha256).hex()}".encode()
            # Every key is tried, so that the time taken does not reveal which one was right.
            verified |= hmac.compare_digest(computed, signature)
        return verified


@final
@frozen(kw_only=True)
class SharedToken:
    """The webhook secret itself, in a header."""

    header: str

    @property
    def name(self) -> bytes:
        return sent_name(self.header)

    @property
    def description(self) -> str:
        return "The webhook secret."

    @property
    def proof(self) -> str:
        return "the secret itself"

    @property
    def pattern(self) -> str | None:
        """Return ``None``: a secret has no form of its own."""
        return None

    def value(self, _body: bytes, secret: str) -> str:
        return secret

    def verifier(self, secrets: Iterable[str]) -> Verifier:
        return partial(self.is_sent, tuple(map(_bytes, secret_tuple(secrets))))

    def is_sent(self, tokens: Iterable[bytes], _body: bytes, sent: bytes | None) -> bool:
        if not sent:
            return False
        verified = False
        for token in tokens:
            # As above. All tokens have one length, so that the comparison reveals nothing by it.
            verified |= hmac.compare_digest(token, sent)
        return verified


SPECIFIED: Final = HmacSha256(header=SIGNATURE_HEADER)


def sign(body: bytes, secret: str) -> str:
    """Return the signature header's value for ``body``: ``sha256=`` and 64 lowercase hexadecimal digits."""
    return SPECIFIED.value(body, secret)


def verify(body: bytes, signature: bytes | None, secrets: Iterable[str]) -> bool:
    """Check that ``signature``, a header's value, was made over ``body`` with one of ``secrets``.

    An empty secret verifies nothing. ``signature`` is ``None`` if the header is missing.

    Raises:
        TypeError: ``secrets`` is one text, and the signature has the right length.
    """
    return SPECIFIED.is_signed(_keys(secrets), body, signature)


def secret_tuple(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets as a tuple; raise ``TypeError`` for one text, whose every letter would be a valid secret."""
    if isinstance(secrets, str | bytes):
        message = "one text instead of several secrets: pass a tuple, such as (secret,)"
        raise TypeError(message)
    return tuple(secrets)


def _keys(secrets: Iterable[str]) -> Iterable[bytes]:
    """Return the key of each secret. An empty secret has none: anyone can compute its signature."""
    for secret in secret_tuple(secrets):
        if secret:
            yield _bytes(secret)


def _bytes(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")
