"""Random ids and tokens (port :class:`~contentsvc_core.ports.IdSource`)."""

import secrets
import string
from typing import Final, final

import uuid_utils

_ALPHABET: Final = string.ascii_letters + string.digits


@final
class RandomIds:
    """Generates UUIDv7 ids, in order within a process, and tokens from the operating system's randomness."""

    def mint(self, prefix: str) -> str:
        return prefix + str(uuid_utils.uuid7())

    def token(self, length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))
