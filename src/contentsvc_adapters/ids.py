import secrets
import string
from typing import Final, final

import uuid_utils

_ALPHABET: Final = string.ascii_letters + string.digits


@final
class RandomIds:
    def new_id(self, prefix: str) -> str:
        return prefix + str(uuid_utils.uuid7())

    def token(self, length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))
