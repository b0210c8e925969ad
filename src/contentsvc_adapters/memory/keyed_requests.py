from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import MemoryStore
from contentsvc_core.access.keyed_requests import KeyedRequest
from contentsvc_core.ports.keyed_requests import RequestTransition
from contentsvc_core.refusals import Refusal


@final
class MemoryKeyedRequests(MemoryStore):
    async def update(self, key_prefix: str, name: str, transition: RequestTransition) -> KeyedRequest | Refusal | None:
        requests = self._state.keyed_requests
        result = transition(requests.get((key_prefix, name)))
        if result is None:
            requests.pop((key_prefix, name), None)
        elif isinstance(result, KeyedRequest):
            requests[key_prefix, name] = result
        return result

    async def sweep(self, *, before: datetime, limit: int) -> int:
        requests = self._state.keyed_requests
        expired = sorted((request.at, key) for key, request in requests.items() if request.at < before)[:limit]
        for _, key in expired:
            del requests[key]
        return len(expired)
