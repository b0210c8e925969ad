"""The oldest schema that is upgraded. No script creates it: new databases get the newest schema (decision 0078)."""

from typing import Final

revision: Final = "0020"
down_revision: Final = None


def upgrade() -> None: ...
