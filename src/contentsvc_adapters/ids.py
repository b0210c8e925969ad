import secrets
import string
from typing import Final, final

from uuid_utils import uuid7

ALPHABET: Final = string.ascii_letters + string.digits


@final
class RandomIds:
    def new_id(self, prefix: str) -> str:
        return prefix + str(uuid7())

    def token(self, length: int) -> str:
        return "".join(secrets.choice(ALPHABET) for _ in range(length))
