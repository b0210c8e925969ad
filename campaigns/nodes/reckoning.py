"""The reckoning: compares requests and answers with the data in PostgreSQL."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import psycopg
from attrs import field, frozen
from campaigns.crash.stored import Stored, differences, read_postgres
from campaigns.crash.traffic import Attempt, unacknowledged
from campaigns.crash.verdict import Verdict, judge
from campaigns.nodes.cluster import LOOK_S, Cluster
from campaigns.nodes.load import Load

#: Of the runs that are pending or running, at least one ends within this, in seconds. A busy machine only takes longer.
MINUTE_S: Final = 60.0


@final
@frozen(kw_only=True)
class Report:
    """The result of a campaign."""

    name: str
    verdict: Verdict
    #: Figures, in the order in which they are printed.
    figures: Mapping[str, object]
    attempts: list[Attempt] = field(repr=False)
    #: The matching triggers of each event type.
    triggers: Mapping[str, Sequence[str]]

    @property
    def line(self) -> str:
        return f"nodes, {self.name}: " + " ".join(f"{name}={value}" for name, value in self.figures.items())


async def runs_ended(cluster: Cluster, load: Load, *, since: float) -> float:
    """Wait until all runs have ended, at most a minute for each; return the time, and report the others as faults."""
    progress, fewest = time.monotonic(), None
    while unended := await cluster.unended_runs():
        if fewest is None or unended < fewest:
            progress, fewest = time.monotonic(), unended
        if time.monotonic() > progress + MINUTE_S:
            left = Counter(row["status"] for row in await cluster.rows("SELECT status FROM workflow_runs"))
            load.faults.append(f"no run has ended for {MINUTE_S:g} s: {dict(left)}")
            break
        await asyncio.sleep(LOOK_S)
    return time.monotonic() - since


async def reckon(name: str, cluster: Cluster, load: Load, *, lists: bool = False, **figures: object) -> Report:
    """Check the stored data, and stop the nodes; with `lists`, also compare the lists of the operator's commands."""
    return await asyncio.to_thread(_reckon, name, cluster, load, lists, figures)


def _reckon(name: str, cluster: Cluster, load: Load, lists: bool, figures: Mapping[str, object]) -> Report:
    attempts = load.attempts
    address = cluster.prepared.installation.postgres
    assert address is not None
    stored = stored_in(address)
    verdict = judge(attempts, stored, cluster.triggers)
    verdict.unexpected.extend(load.faults)
    if lists:
        verdict.unexpected.extend(differences(cluster.prepared, stored))
    verdict.unexpected.extend(f"never acknowledged: {sending}" for sending in unacknowledged(attempts))
    verdict.unexpected.extend(cluster.faults())
    answers = Counter(attempt.answer for attempt in attempts)
    statuses = Counter(attempt.status for attempt in attempts)
    return Report(
        name=name,
        verdict=verdict,
        attempts=attempts,
        triggers=cluster.triggers,
        figures={
            "sent": len(attempts),
            "deliveries": len({attempt.sending.delivery for attempt in attempts}),
            "acknowledged": sum(attempt.is_acknowledged for attempt in attempts),
            "processed": answers["processed"],
            "duplicates": answers["duplicate"],
            "not_now": statuses[503],
            "unanswered": statuses[None],
            "redelivered": load.redelivered,
            "runs": len(stored.runs),
            "posts": len(stored.posts),
            "takeovers": sum(run["kills"] > 0 for run in stored.runs),
            **figures,
            **verdict.figures,
        },
    )


def stored_in(address: str, *changes: tuple[str, Any]) -> Stored:
    """Read the stored data; with changes, the data after them, each a statement about one victim."""
    with psycopg.connect(address) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for statement, victim in changes:
            assert connection.execute(statement.encode(), [victim]).rowcount > 0, statement
        stored = read_postgres(connection)
        connection.rollback()
        return stored
