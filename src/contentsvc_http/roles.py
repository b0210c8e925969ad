from enum import StrEnum
from typing import final


@final
class Role(StrEnum):
    """Receive webhooks, perform runs, or both."""

    ALL = "all"
    #: Serves webhooks and ``/v1``; other processes perform the runs.
    RECEIVER = "receiver"
    #: Performs runs and deletes expired data; serves its operator's requests only.
    WORKER = "worker"

    @property
    def receives(self) -> bool:
        return self is not Role.WORKER

    @property
    def works(self) -> bool:
        return self is not Role.RECEIVER
