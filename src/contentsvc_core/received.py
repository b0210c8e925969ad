"""The facts of a refused delivery: allow-listed headers, sizes and checks; never a secret, never the body."""

from enum import Enum
from typing import final

import msgspec

from contentsvc_core.values import Value


class SignatureHeader(Enum):
    """The state of the header that proves the sender."""

    ABSENT = "absent"
    #: Two or more times, so none of them counts.
    REPEATED = "repeated"
    MALFORMED = "malformed"
    PRESENT = "present"


class Match(Enum):
    """The explanation of a signature that matches the received body with no valid secret."""

    #: The received body, with a secret that a rotation has replaced.
    PREVIOUS_SECRET = "previousSecret"  # noqa: S105  # the name of a match
    #: The JSON inside a form, with a valid secret.
    DECODED_FORM = "decodedForm"
    #: The body with other line ends, white space at its end, or byte order mark, with a valid secret.
    CHANGED_BODY = "changedBody"


@final
class Received(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The facts of a refused delivery. The stored form is bounded (:data:`.webhooks.examination.STORED_BYTES`)."""

    #: Names and values of allow-listed headers, as far as they fit.
    headers: tuple[tuple[str, str], ...] = ()
    #: The size of the received body in bytes; ``None``: the delivery was refused before its body was complete.
    size: int | None = None
    #: The address of the sender behind trusted proxies; ``None``: unknown.
    source: str | None = None
    signature: SignatureHeader = SignatureHeader.ABSENT
    signature_length: int = 0
    #: ``None``: nothing that was tried explains the signature, or nothing was tried.
    match: Match | None = None
    had_previous_secret: bool = False
    is_form: bool = False

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)


def received_to_json(received: Received) -> str:
    return msgspec.json.encode(received).decode()


def received_from_json(text: str | bytes) -> Received:
    return msgspec.json.decode(text, type=Received)
