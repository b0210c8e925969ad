"""How a delivery proves its sender: a signature over the body, or a shared token (specification 5.2).

A scheme is a value of a provider. Every check is in constant time, and none of them raises.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, final

from attrs import Factory, field, frozen

if TYPE_CHECKING:
    from hmac import HMAC

SIGNATURE_HEADER: Final = "X-Hub-Signature-256"

#: Checks the value of a scheme's header for a body; ``None``: the header is missing or repeated.
Verifier: TypeAlias = Callable[[bytes, bytes | None], bool]

#: The length of a signature, in hexadecimal digits.
_DIGITS: Final = 64


def sent_name(header: str) -> bytes:
    """Return a header's name as deliveries have it."""
    return header.lower().encode("ascii")


@final
@frozen(kw_only=True)
class HmacSha256:
    """A prefix and the HMAC with SHA-256 over the raw body, in lowercase hexadecimal digits (RFC 2104)."""

    header: str
    prefix: str = "sha256="
    name: bytes = field(init=False, default=Factory(lambda self: sent_name(self.header), takes_self=True))

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
        return partial(self.is_signed, tuple(keyed(secrets)))

    def is_signed(self, macs: "Iterable[HMAC]", body: bytes, signature: bytes | None) -> bool:
        """Check that ``signature`` was made over ``body`` with one of the keys of ``macs``."""
        prefix = self.prefix
        if signature is None or len(signature) != len(prefix) + _DIGITS:
            return False
        verified = False
        for mac in macs:
            computed = mac.copy()
            computed.update(body)
            # Every key is tried, so that the time taken does not tell which one was right.
            verified |= hmac.compare_digest(f"{prefix}{computed.hexdigest()}".encode(), signature)
        return verified


@final
@frozen(kw_only=True)
class SharedToken:
    """The webhook secret itself, in a header."""

    header: str
    name: bytes = field(init=False, default=Factory(lambda self: sent_name(self.header), takes_self=True))

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

    def value(self, body: bytes, secret: str) -> str:
        del body
        return secret

    def verifier(self, secrets: Iterable[str]) -> Verifier:
        return partial(self.is_sent, tuple(_bytes(secret) for secret in secrets if secret))

    def is_sent(self, tokens: Iterable[bytes], body: bytes, sent: bytes | None) -> bool:
        del body
        if not sent:
            return False
        verified = False
        for token in tokens:
            # As above. All tokens have one length, so that the comparison tells nothing by it.
            verified |= hmac.compare_digest(token, sent)
        return verified


Scheme: TypeAlias = HmacSha256 | SharedToken

SPECIFIED: Final = HmacSha256(header=SIGNATURE_HEADER)


def keyed(secrets: Iterable[str]) -> "Iterator[HMAC]":
    """Return an HMAC for each secret, to be copied for each body.

    An empty secret gets none: anyone can compute its signature.
    """
    made = (hmac.new(_bytes(secret), digestmod=hashlib.sha256) for secret in secrets if secret)
    # OpenSSL's object itself, where there is one: its wrapper in Python takes as long as the rest of a verification.
    return (getattr(each, "_hmac", None) or each for each in made)


def sign(body: bytes, secret: str) -> str:
    """Return the signature header's value for ``body``: ``sha256=`` and 64 lowercase hexadecimal digits."""
    return SPECIFIED.value(body, secret)


def verify(body: bytes, signature: bytes | None, secrets: Iterable[str]) -> bool:
    """Check that ``signature`` was made over ``body`` with one of ``secrets``."""
    return SPECIFIED.is_signed(keyed(secrets), body, signature)


def _bytes(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")
