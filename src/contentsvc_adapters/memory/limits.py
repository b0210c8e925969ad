from collections.abc import Collection, Mapping
from datetime import datetime
from typing import final

from contentsvc_adapters.memory.state import State, refuse_unstorable
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict, Window
from contentsvc_core.ports.limits import Transition
from contentsvc_core.timestamps import to_ms


@final
class MemoryRateLimitStore:
    def __init__(self, state: State) -> None:
        self._state = state

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        refuse_unstorable(bucket)
        before = self._state.windows.get(bucket.name, Window())
        after, verdict = transition(before)
        if after != before:
            self._state.windows[bucket.name] = after
        return verdict

    async def windows(self, buckets: Collection[Bucket]) -> Mapping[Bucket, Window]:
        windows = self._state.windows
        return {bucket: windows[bucket.name] for bucket in buckets if bucket.name in windows}

    async def sweep(self, *, before: datetime, limit: int) -> int:
        windows = self._state.windows
        expired = [name for name, window in windows.items() if window.expires_at_ms <= to_ms(before)]
        swept = sorted(expired, key=lambda name: (windows[name].expires_at_ms, name))[:limit]
        for name in swept:
            del windows[name]
        return len(swept)
