"""What a serving process is there for."""

from enum import StrEnum
from typing import final


@final
class Role(StrEnum):
    """One that receives and works, or one of both alone."""

    ALL = "all"
    #: Webhooks and ``/v1``; runs are left to others.
    RECEIVER = "receiver"
    #: Runs, and the deleting of what was kept long enough; nobody's requests but the operator's.
    WORKER = "worker"

    @property
    def receives(self) -> bool:
        """Tell whether it serves webhooks and ``/v1``."""
        return self is not Role.WORKER

    @property
    def works(self) -> bool:
        """Tell whether it performs runs."""
        return self is not Role.RECEIVER
