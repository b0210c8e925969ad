from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeAlias

from contentsvc_core.access.keyed_requests import KeyedRequest
from contentsvc_core.refusals import Refusal

#: Maps the stored request (``None``: the key is free) to the new one, or to a refusal, which changes nothing.
RequestTransition: TypeAlias = Callable[[KeyedRequest | None], KeyedRequest | Refusal | None]


class KeyedRequests(Protocol):
    """The requests with an idempotency key; seeds and answers are sealed. The core has the rules."""

    async def update(self, key_prefix: str, name: str, transition: RequestTransition) -> KeyedRequest | Refusal | None:
        """Apply a transition to the request with an idempotency key, and return its result.

        Read and write are exclusive among all processes, for a new key, too. The same request is not written. The
        transition awaits nothing and may be called more than once: if the connection is lost at the commit, it is
        applied again.
        """
        ...

    async def sweep(self, *, before: datetime, limit: int) -> int:
        """Delete at most ``limit`` requests that were first made before ``before``, oldest first."""
        ...
