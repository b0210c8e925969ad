from contextlib import AbstractContextManager
from typing import final

from attrs import frozen

from contentsvc_core.access.keyed_requests import BUSY, SEED_LENGTH, KeyedRequest, StoredAnswer, begun, ended
from contentsvc_core.ports import Clock, IdSource, KeyedRequests, Repeatable
from contentsvc_core.refusals import Refusal


@final
@frozen(eq=False, repr=False)
class Idempotency:
    """Executes a request with an idempotency key so that it has one effect, however often it is sent."""

    _requests: KeyedRequests
    _clock: Clock
    _ids: IdSource
    _repeatable: Repeatable

    async def begin(self, key_prefix: str, name: str, digest: str) -> KeyedRequest | Refusal:
        """Begin a request, and return it. With an answer, it is a repetition; else execute it now."""
        now = self._clock.now()
        new = KeyedRequest(
            key_prefix=key_prefix,
            name=name,
            digest=digest,
            seed=self._ids.token(SEED_LENGTH),
            at=now,
            execution=self._ids.new_id(""),
            busy_until=now + BUSY,
        )
        request = await self._requests.update(key_prefix, name, lambda stored: begun(stored, new), now=now)
        assert request is not None  # a request that begins is stored
        return request

    def executing(self, request: KeyedRequest) -> AbstractContextManager[None]:
        """Return the context in which each execution of the request has the same time and ids.

        To the stores, its writes are repeated calls, which change nothing.
        """
        return self._repeatable(request.seed, request.at)

    async def end(self, request: KeyedRequest, answer: StoredAnswer | None, *, refused: bool = False) -> None:
        """End an execution; ``None``: its outcome is unknown, and a repeated request is executed again."""
        await self._requests.update(
            request.key_prefix,
            request.name,
            lambda stored: ended(stored, request.execution, answer, refused=refused),
            now=self._clock.now(),
        )
