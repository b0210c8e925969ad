import asyncio
import time
from collections.abc import Sequence
from typing import Final

from contentsvc_cli.operate.doctor.findings import Finding, fault, ok, warning
from contentsvc_cli.operate.doctor.network import HostCheck
from contentsvc_cli.operate.doctor.work import duration
from contentsvc_core.timestamps import to_ms
from contentsvc_http.wiring.diagnostics import DatabaseInspector

#: Fault limit, in seconds: schedules fire in whole minutes.
_FAR_S: Final = 60.0
#: Warning limit between this machine and the database, in seconds.
_NEAR_S: Final = 1.0
#: Warning limit for code hosts, in seconds: the Date header has whole seconds, and latency adds to it.
_NEAR_HOST_S: Final = 5.0
#: Maximum difference from the monotonic clock, in seconds, during a check of half a second.
_STEP_S: Final = 0.1
_LOOKED_AT_S: Final = 0.5
_NAME: Final = "clock"
_ADVICE: Final = "synchronize the clocks of all machines by NTP (docs/operations.md, Schedules)"


async def steadiness() -> Finding:
    wall, steady = time.time(), time.monotonic()
    await asyncio.sleep(_LOOKED_AT_S)
    passed = time.monotonic() - steady
    apart = time.time() - wall - passed
    if passed < 0 or abs(apart) > _STEP_S:
        return warning(_NAME, f"the clock jumped by {apart:+.1f} s during the check", _ADVICE)
    return ok(_NAME, "runs steadily")


async def beside_database(database: DatabaseInspector) -> Finding | None:
    before = time.time()
    server = await database.server()
    after = time.time()
    if server.now is None:
        return None
    return compared(
        to_ms(server.now) / 1000 - (before + after) / 2, "the database's", near_s=_NEAR_S + (after - before)
    )


def beside_hosts(results: Sequence[HostCheck]) -> list[Finding]:
    return [
        compared(result.ahead_s, f"that of {result.name}", near_s=_NEAR_HOST_S)
        for result in results
        if result.ahead_s is not None
    ]


def compared(ahead_s: float, clock_name: str, *, near_s: float) -> Finding:
    if abs(ahead_s) <= near_s:
        return ok(_NAME, f"within {near_s:.0f} s of {clock_name}")
    sentence = f"{duration(abs(ahead_s))} {'behind' if ahead_s > 0 else 'ahead of'} {clock_name}"
    return fault(_NAME, sentence, _ADVICE) if abs(ahead_s) > _FAR_S else warning(_NAME, sentence, _ADVICE)
