from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable, remove_first
from contentsvc_core.access.keyed_requests import KeyedRequest
from contentsvc_core.access.keys import MAX_KEYS, ApiKey, is_active, refuse_key
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports.access import RequestTransition, Transition
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms


@final
class MemoryApiKeys(MemoryStore):
    async def add(self, key: ApiKey, *, at_most: int = MAX_KEYS) -> Refusal | None:
        refuse_unstorable(key)
        self._state.refuse_stranger(key.organization_id)
        stored = self._state.keys.get(key.prefix)
        if stored is not None:
            if stored.digest != key.digest:
                message = f"'{key.prefix}' is the prefix of another key"
                raise Unstorable(message)
            return None
        active = {each.prefix for each in await self.keys(key.organization_id) if is_active(each, key.created_at)}
        refused = refuse_key(key, active, at_most=at_most)
        if refused is None:
            self._state.keys[key.prefix] = key
        return refused

    async def key(self, prefix: str) -> ApiKey | None:
        return self._state.keys.get(prefix)

    async def keys(self, organization_id: str | None = None) -> Sequence[ApiKey]:
        keys = sorted(self._state.keys.values(), key=lambda key: (key.created_at, key.prefix))
        return [key for key in keys if organization_id in {None, key.organization_id}]

    async def revoke(self, prefix: str, at: datetime) -> bool:
        if prefix not in self._state.keys:
            return False
        ending: set[str | None] = {prefix}
        keys = self._state.keys.values()
        while issued := {key.prefix for key in keys if key.issued_by in ending} - ending:
            ending |= issued
        for key in [key for key in keys if key.prefix in ending]:
            self._state.keys[key.prefix] = evolve(key, revoked_at=key.revoked_at or at)
        return True

    async def touch(self, prefix: str, at: datetime) -> None:
        key = self._state.keys.get(prefix)
        if key is not None:
            self._state.keys[prefix] = evolve(key, last_used_at=at)


@final
class MemorySessions(MemoryStore):
    async def add(self, session: Session) -> None:
        refuse_unstorable(session)
        self._state.sessions.setdefault(session.digest, session)

    async def session(self, digest: str) -> Session | None:
        return self._state.sessions.get(digest)

    async def remove(self, digest: str) -> bool:
        return self._state.sessions.pop(digest, None) is not None

    async def sweep(self, *, before: datetime, limit: int) -> int:
        sessions = self._state.sessions
        expired = [(each.expires_at, digest) for digest, each in sessions.items() if each.expires_at <= before]
        return remove_first(sessions, expired, limit)


@final
class MemoryRateLimitStore(MemoryStore):
    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        refuse_unstorable(bucket)
        before, _ = self._state.windows.get(bucket.name, (Window(), 0))
        after, verdict = transition(before)
        if after != before:
            self._state.windows[bucket.name] = (after, after.expires_at_ms(bucket.rate))
        return verdict

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        windows = self._state.windows
        return {bucket: windows[bucket.name][0] for bucket in buckets if bucket.name in windows}

    async def sweep(self, *, before: datetime, limit: int) -> int:
        windows = self._state.windows
        expired = [
            (expires_at_ms, name) for name, (_, expires_at_ms) in windows.items() if expires_at_ms <= to_ms(before)
        ]
        return remove_first(windows, expired, limit)


@final
class MemoryKeyedRequests(MemoryStore):
    async def update(
        self, key_prefix: str, name: str, transition: RequestTransition, *, now: datetime
    ) -> KeyedRequest | Refusal | None:
        del now  # one process has one clock
        requests = self._state.keyed_requests
        result = transition(requests.get((key_prefix, name)))
        if result is None:
            requests.pop((key_prefix, name), None)
        elif isinstance(result, KeyedRequest):
            requests[key_prefix, name] = result
        return result

    async def sweep(self, *, before: datetime, limit: int) -> int:
        requests = self._state.keyed_requests
        expired = [(request.at, key) for key, request in requests.items() if request.at < before]
        return remove_first(requests, expired, limit)
