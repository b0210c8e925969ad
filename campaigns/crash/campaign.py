"""A campaign: cycles of start, deliveries, and `kill -9` at a random moment; then the reckoning."""

import asyncio
import contextlib
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, final

import httpx
from attrs import field, frozen
from campaigns.crash.filling import fill
from campaigns.crash.stored import differences, read_file
from campaigns.crash.traffic import Ledger, Sending, Traffic, read_answer, read_ledger, unacknowledged
from campaigns.crash.verdict import Verdict, judge
from tests.percentiles import p99
from tests.server_process import PATIENCE_S, Prepared, ServerProcess, prepare
from tests.stepped_clock import SteppedClock

_CONNECTIONS: Final = 8
#: The share of cycles that are killed while the server starts, and the usual time of a start, in seconds.
_IN_STARTUP: Final = 0.2
_STARTUP_S: Final = 1.0
#: The least and the longest time from readiness to the kill of the other cycles, in seconds.
_SERVED_S: Final = (0.02, 0.4)
#: The pause of the only sender before the burst, in seconds, and the time from the burst to the kill at most. The runs
#: of more deliveries would take hours to end.
_PAUSE_S: Final = 0.05
_BURST_S: Final = 0.15
#: The clock is stepped once in this number of cycles, while the server serves, by at most this number of seconds.
#: From one end to the other is half a day: claims hold all the time, and the checker needs to know of no step.
_CYCLES_FOR_A_STEP: Final = 3
_STEP_S: Final = 6 * 3600.0
#: The pause after a refused connection or a 503, in seconds.
_BREATH_S: Final = 0.005
#: How often unacknowledged deliveries are sent again at the end, without kills.
_REDELIVERIES: Final = 5
_STOP_S: Final = 10.0
#: How long it may take from a kill to the first 200, in seconds, in 99 of 100 cases; of fewer, the slowest alone would
#: be judged.
_RECOVERED_S: Final = 3.0
_RECOVERIES_FOR_P99: Final = 100
_OK: Final = 200
_NOT_NOW: Final = 503


@final
@frozen(kw_only=True)
class Report:
    """The result of a campaign."""

    verdict: Verdict
    #: Figures, in the order in which they are printed.
    figures: dict[str, object]
    prepared: Prepared = field(repr=False)
    ledger: Path
    #: For each event type the triggers that match.
    triggers: dict[str, tuple[str, ...]]

    @property
    def line(self) -> str:
        return "crash: " + " ".join(f"{name}={value}" for name, value in self.figures.items())


def run_campaign(
    folder: Path, *, count: int, seed: int, rows: int = 0, on_cycle: Callable[[], None] = lambda: None
) -> Report:
    """Set up in an empty folder, run the cycles, and check the stored data.

    Args:
        folder: An empty folder, for the database, the ledger and the server's log.
        count: The number of cycles.
        seed: Decides the deliveries and the times of kills; the interleaving depends on the machine.
        rows: The number of earlier log entries of another organization.
        on_cycle: Called after each cycle.
    """
    # Refusals are counted row by row: no flood bound.
    prepared = prepare(folder, failed_log_rows_per_minute="1000000")
    if rows:
        fill(prepared.installation, prepared.hook, rows=rows)
    ledger = Ledger(folder / "ledger.jsonl")
    try:
        clock = SteppedClock(folder)
        with ServerProcess(prepared.installation, program=clock.program, environment=clock.environment) as server:
            campaign = _Campaign(prepared, server, clock, ledger, random.Random(seed))  # noqa: S311  # no secret
            redelivered = asyncio.run(campaign.run(folder / "ledger.jsonl", count, on_cycle))
            return _reckon(prepared, server, campaign, redelivered, {"cycles": count, "seed": seed, "rows": rows})
    finally:
        ledger.close()


@final
class _Campaign:
    """Sends deliveries, kills the server, and steps its clock."""

    def __init__(
        self, prepared: Prepared, server: ServerProcess, clock: SteppedClock, ledger: Ledger, chance: random.Random
    ) -> None:
        self._hook = prepared.hook
        self._server = server
        self._clock = clock
        self._ledger = ledger
        # Two generators: the number of sent deliveries depends on the machine, and must not decide the next kill.
        self._plan = random.Random(chance.getrandbits(64))  # noqa: S311  # no secret
        self._traffic = Traffic(random.Random(chance.getrandbits(64)))  # noqa: S311  # no secret
        self._killed_at: float | None = None
        self._over = False
        #: The times from each kill to the first 200 after it, in seconds.
        self.recoveries: list[float] = []
        #: The offsets of the clock after each step, in seconds.
        self.steps: list[float] = []

    async def run(self, ledger: Path, count: int, on_cycle: Callable[[], None]) -> int:
        """Run the cycles, start once more, and redeliver; return the number of redeliveries."""
        stepped = set(self._plan.sample(range(count), max(1, count // _CYCLES_FOR_A_STEP)))
        for number in range(count):
            await self._cycle(steps=number in stepped)
            on_cycle()
        self._server.start()
        self._over = False
        async with self._client() as client:
            await self._until_ready(client)
            redelivered = 0
            for _ in range(_REDELIVERIES):
                again = unacknowledged(read_ledger(ledger))
                redelivered += len(again)
                await self._deliver(client, iter(again))
        # Work that is due by an earlier clock waits until the clock has caught up.
        self._clock.step_to(max(0.0, *self.steps))
        return redelivered

    async def _cycle(self, *, steps: bool) -> None:
        ahead_s, stepped_at = self._plan.uniform(-_STEP_S, _STEP_S), self._plan.random()
        in_startup = self._plan.random() < _IN_STARTUP and not steps
        wait_s = self._plan.uniform(0, _STARTUP_S) if in_startup else self._plan.uniform(*_SERVED_S)
        burst_s = self._plan.uniform(0, _BURST_S)
        self._server.start()
        self._over = False
        async with self._client() as client, asyncio.TaskGroup() as senders:
            senders.create_task(self._deliver(client, self._stream(), connections=1, pause_s=_PAUSE_S))
            if not in_startup:
                await self._until_ready(client)
            await asyncio.sleep(wait_s * stepped_at)
            if steps:
                self._clock.step_to(ahead_s)
                self.steps.append(ahead_s)
            await asyncio.sleep(wait_s * (1 - stepped_at))
            senders.create_task(self._deliver(client, self._stream()))
            await asyncio.sleep(burst_s)
            self._server.kill()
            self._over = True
            self._killed_at = time.monotonic()

    def _client(self) -> httpx.AsyncClient:
        # Beside the burst, one connection is for the sender before it, and one for readiness.
        limits = httpx.Limits(max_connections=_CONNECTIONS + 2)
        return httpx.AsyncClient(base_url=self._server.url, limits=limits, trust_env=False, timeout=PATIENCE_S)

    def _stream(self) -> Iterator[Sending]:
        while not self._over:
            yield self._traffic.next()

    async def _deliver(
        self,
        client: httpx.AsyncClient,
        sendings: Iterator[Sending],
        *,
        connections: int = _CONNECTIONS,
        pause_s: float = 0,
    ) -> None:
        async def work() -> None:
            for sending in sendings:
                await self._send(client, sending)
                await asyncio.sleep(pause_s)

        async with asyncio.TaskGroup() as workers:
            for _ in range(connections):
                workers.create_task(work())

    async def _send(self, client: httpx.AsyncClient, sending: Sending) -> None:
        """Send one delivery, unless the server is unreachable until the end of the cycle."""
        attempt = self._ledger.intend(sending)
        body = sending.body
        headers = self._hook.headers(body, sending.delivery, sending.kind.event)
        if sending.forged:
            headers["X-Hub-Signature-256"] = f"sha256={'0' * 64}"
        while not self._over:
            try:
                response = await client.post(self._hook.path, content=body, headers=headers)
            except httpx.ConnectError:
                # Nothing was sent.
                await asyncio.sleep(_BREATH_S)
                self._assert_alive()
                continue
            except httpx.TransportError:
                # The server was killed during the request: the outcome is unknown.
                return
            self._ledger.answered(attempt, response.status_code, read_answer(response.status_code, response.json()))
            self._note(response)
            if response.status_code == _NOT_NOW:
                await asyncio.sleep(_BREATH_S)
            return

    async def _until_ready(self, client: httpx.AsyncClient) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self._assert_alive()
            assert time.monotonic() < deadline, f"the server is not ready: {self._server.log()[-2000:]}"
            with contextlib.suppress(httpx.TransportError):
                response = await client.get("/health/ready")
                self._note(response)
                if response.is_success:
                    return
            await asyncio.sleep(_BREATH_S)

    def _assert_alive(self) -> None:
        """Fail when the server has ended without a kill: no request would ever be answered."""
        assert self._over or self._server.is_alive, f"the server has ended: {self._server.log()[-2000:]}"

    def _note(self, response: httpx.Response) -> None:
        if self._killed_at is not None and response.status_code == _OK:
            self.recoveries.append(time.monotonic() - self._killed_at)
            self._killed_at = None


def slow_recovery(recoveries: Sequence[float]) -> list[str]:
    """Return the fault in the times from each kill to the first 200 after it, in seconds."""
    if len(recoveries) < _RECOVERIES_FOR_P99 or p99(recoveries) <= _RECOVERED_S:
        return []
    return [f"from a kill to the first 200 it took {p99(recoveries):.1f} s (p99)"]


def _reckon(
    prepared: Prepared, server: ServerProcess, campaign: _Campaign, redelivered: int, plan: dict[str, object]
) -> Report:
    installation = prepared.installation
    installation.until_runs_ended()
    stored = read_file(installation.database)
    triggers = {"push": (prepared.on_all, prepared.on_push), "release": (prepared.on_all,)}
    ledger = installation.folder / "ledger.jsonl"
    attempts = read_ledger(ledger)
    verdict = judge(attempts, stored, triggers)
    verdict.unexpected.extend(differences(prepared, stored))
    verdict.unexpected.extend(f"never acknowledged: {sending}" for sending in unacknowledged(attempts))
    server.terminate()
    code = server.exit_code(within_s=_STOP_S)
    if code:
        verdict.unexpected.append(f"the last server ended with exit code {code}")
    answers = Counter(attempt.answer for attempt in attempts)
    recoveries_ms = [round(1000 * seconds) for seconds in campaign.recoveries]
    verdict.unexpected.extend(slow_recovery(campaign.recoveries))
    figures: dict[str, object] = {
        **plan,
        "sent": len(attempts),
        "deliveries": len({attempt.sending.delivery for attempt in attempts}),
        "acknowledged": sum(attempt.is_acknowledged for attempt in attempts),
        "processed": answers["processed"],
        "duplicates": answers["duplicate"],
        "redelivered": redelivered,
        "contexts": len(stored.contexts),
        "runs": len(stored.runs),
        "posts": len(stored.posts),
        **verdict.figures,
        "clock_steps": len(campaign.steps),
        "recovery_ms_median": round(statistics.median(recoveries_ms)) if recoveries_ms else None,
        "recovery_ms_p99": round(p99(recoveries_ms)) if len(recoveries_ms) > 1 else None,
        "recovery_ms_max": max(recoveries_ms, default=None),
    }
    return Report(verdict=verdict, figures=figures, prepared=prepared, ledger=ledger, triggers=triggers)
