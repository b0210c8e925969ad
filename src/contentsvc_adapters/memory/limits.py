from collections.abc import Collection, Mapping
from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import MemoryStore, refuse_unstorable
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.ports.limits import Transition
from contentsvc_core.timestamps import to_ms


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
        swept = sorted(expired)[:limit]
        for _, name in swept:
            del windows[name]
        return len(swept)
