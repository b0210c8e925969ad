"""What the doctor finds about the time: the machine's own, the database's, and the code hosts'."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from contentsvc_cli.doctor.findings import Finding, fault, ok, warning
from contentsvc_cli.doctor.network import HostLook
from contentsvc_cli.doctor.work import duration
from contentsvc_core.timestamps import to_ms
from contentsvc_http.wiring.looking import LookedAt

#: Schedules fire in whole minutes: with a clock that is this far off, at another time than they say.
_FAR_S: Final = 60.0
#: Between nodes of one database.
_NEAR_S: Final = 1.0
#: What a header says is cut to a second, and has travelled.
_NEAR_HOST_S: Final = 5.0
#: How far the clock may run apart from one that is never set, in seconds, while it is looked at for half a second.
_STEP_S: Final = 0.1
_LOOKED_AT_S: Final = 0.5
_NAME: Final = "clock"
_ADVICE: Final = "have NTP keep the clocks of all machines together (docs/operations.md, Schedules)"


async def steadiness() -> Finding:
    """Compare the machine's time with a clock that is never set."""
    wall, steady = time.time(), time.monotonic()
    await asyncio.sleep(_LOOKED_AT_S)
    passed = time.monotonic() - steady
    apart = time.time() - wall - passed
    if passed < 0 or abs(apart) > _STEP_S:
        return warning(_NAME, f"it was set by {apart:+.1f} s while it was looked at", _ADVICE)
    return ok(_NAME, "runs steadily")


async def beside_database(database: LookedAt) -> Finding | None:
    """Compare the machine's time with the database's; ``None``: it has none of its own."""
    before = time.time()
    server = await database.server()
    after = time.time()
    if server.now is None:
        return None
    return compared(
        to_ms(server.now) / 1000 - (before + after) / 2, "the database's", near_s=_NEAR_S + (after - before)
    )


def beside_hosts(looks: Sequence[HostLook]) -> list[Finding]:
    """Compare the machine's time with what code hosts say."""
    return [
        compared(look.ahead_s, f"that of {look.name}", near_s=_NEAR_HOST_S)
        for look in looks
        if look.ahead_s is not None
    ]


def compared(ahead_s: float, whose: str, *, near_s: float) -> Finding:
    """Say how this machine's clock stands to another one, which is so far ahead of it."""
    if abs(ahead_s) <= near_s:
        return ok(_NAME, f"within {near_s:.0f} s of {whose}")
    said = f"{duration(abs(ahead_s))} {'behind' if ahead_s > 0 else 'ahead of'} {whose}"
    return fault(_NAME, said, _ADVICE) if abs(ahead_s) > _FAR_S else warning(_NAME, said, _ADVICE)
