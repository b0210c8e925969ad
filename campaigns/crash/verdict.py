"""The checker: compares the ledger of deliveries and answers with the database."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from attrs import field, frozen
from campaigns.crash.stored import Row, Stored
from campaigns.crash.traffic import Attempt, Kind, Sending
from tests.server_process import REPOSITORY_ID

_REPORTED: Final = "another run has reported this release"
_HIDDEN: Final = "1 commit that only makes a release: nothing a reader notices"


@final
@frozen(kw_only=True)
class Verdict:
    """The faults as sentences; a campaign without faults has passed."""

    #: Acknowledged, and not stored completely.
    lost: list[str] = field(factory=list[str])
    #: Stored more than once.
    doubled: list[str] = field(factory=list[str])
    #: Rows that belong together, but are not all stored.
    partial: list[str] = field(factory=list[str])
    #: Stored, but never sent.
    invented: list[str] = field(factory=list[str])
    #: Unexpected answers, lists and ends of runs.
    unexpected: list[str] = field(factory=list[str])

    @property
    def figures(self) -> dict[str, int]:
        return {
            "lost": len(self.lost),
            "doubled": len(self.doubled),
            "partial": len(self.partial),
            "invented": len(self.invented),
            "unexpected": len(self.unexpected),
        }

    @property
    def faults(self) -> list[str]:
        return [f"{name}: {fault}" for name in self.figures for fault in getattr(self, name)]


def judge(attempts: Sequence[Attempt], stored: Stored, triggers: Mapping[str, Sequence[str]]) -> Verdict:
    """Compare the answers with the stored data.

    Args:
        attempts: The attempts of the ledger.
        stored: The stored data, once no run is pending or running.
        triggers: The matching triggers of each event type.
    """
    verdict = Verdict()
    verdict.partial.extend(f"the database: {fault}" for fault in stored.faults)
    verdict.unexpected.extend(
        f"{attempt.sending} was answered {attempt.status} {attempt.answer}"
        for attempt in attempts
        if not attempt.is_as_expected
    )
    genuine = {attempt.sending.delivery: attempt.sending for attempt in attempts if not attempt.sending.forged}
    _Deliveries(attempts, stored, triggers, verdict).judge(genuine)
    _judge_releases(genuine, stored, triggers, verdict)
    _judge_posts(stored, verdict)
    _judge_invented(attempts, genuine, stored, verdict)
    _judge_totals(stored, verdict)
    return verdict


@final
class _Deliveries:
    """Checks each delivery by itself."""

    def __init__(
        self, attempts: Sequence[Attempt], stored: Stored, triggers: Mapping[str, Sequence[str]], verdict: Verdict
    ) -> None:
        self._attempts: dict[str, list[Attempt]] = defaultdict(list)
        for attempt in attempts:
            self._attempts[attempt.sending.delivery].append(attempt)
        self._triggers = triggers
        self._verdict = verdict
        self._claims = Counter(row["delivery"] for row in stored.claims)
        self._contexts = Counter(str(row["custom_id"]) for row in stored.contexts)
        self._events = _grouped(stored.events)
        self._logs = _grouped(stored.logs)
        self._runs = _grouped(stored.runs)
        self._entries = {row["id"]: row for row in stored.logs}

    def judge(self, genuine: Mapping[str, Sending]) -> None:
        for delivery, sending in genuine.items():
            self._count_answers(delivery)
            if sending.kind.is_processed:
                self._judge_processed(delivery, sending)
        for delivery in self._attempts:
            self._count_log(delivery)

    def _count_answers(self, delivery: str) -> None:
        attempts = self._attempts[delivery]
        processed = sum(attempt.answer == "processed" for attempt in attempts)
        if processed > 1:
            self._verdict.doubled.append(f"{delivery}: {processed} senders were told that it was processed")
        if not processed and self._claims[delivery] and not any(attempt.is_open for attempt in attempts):
            self._verdict.unexpected.append(f"{delivery}: processed without an answer that says so")

    def _count_log(self, delivery: str) -> None:
        attempts = self._attempts[delivery]
        answered = sum(attempt.is_acknowledged for attempt in attempts)
        rows = len(self._logs[delivery])
        if rows < answered:
            self._verdict.lost.append(f"{delivery}: {answered} answers and {rows} log rows")
        if rows > len(attempts):
            self._verdict.doubled.append(f"{delivery}: sent {len(attempts)} times, {rows} log rows")

    def _judge_processed(self, delivery: str, sending: Sending) -> None:
        title = f"Processed {sending.kind.event} event"
        runs = Counter(row["trigger_id"] for row in self._runs[delivery])
        triggers = self._triggers[sending.kind.event]
        counts = {
            "claim": self._claims[delivery],
            "context record": self._contexts[f"codehost:{REPOSITORY_ID}:{delivery}"],
            "event": len(self._events[delivery]),
            "log entry": sum(row["title"] == title for row in self._logs[delivery]),
            **{f"run of {trigger}": runs[trigger] for trigger in {*triggers, *runs}},
        }
        expected = dict.fromkeys(counts, 1) | {f"run of {trigger}": 0 for trigger in runs if trigger not in triggers}
        self._compare(delivery, counts, expected)
        self._judge_event(delivery, sending)
        self._judge_ends(delivery, sending)

    def _compare(self, delivery: str, counts: Mapping[str, int], expected: Mapping[str, int]) -> None:
        missing = [name for name, count in counts.items() if count < expected[name]]
        doubled = [name for name, count in counts.items() if count > expected[name]]
        if missing and any(attempt.is_acknowledged for attempt in self._attempts[delivery]):
            self._verdict.lost.append(f"{delivery}: no {', no '.join(missing)}")
        if doubled:
            self._verdict.doubled.append(f"{delivery}: more than one {', '.join(doubled)}")
        if (missing or doubled) and any(counts.values()):
            self._verdict.partial.append(f"{delivery}: {dict(counts)}")

    def _judge_event(self, delivery: str, sending: Sending) -> None:
        for event in self._events[delivery]:
            if sending.marker not in event["data"] or event["type"] != sending.kind.event:
                self._verdict.partial.append(f"{delivery}: its event is another one's")
            entry = self._entries.get(event["id"])
            if entry is None or entry["event_id"] != event["id"] or entry["delivery"] != delivery:
                self._verdict.partial.append(f"{delivery}: its event has no log entry")

    def _judge_ends(self, delivery: str, sending: Sending) -> None:
        ends: Mapping[Kind, Sequence[tuple[str, str | None]]] = {
            Kind.PUSH: [("completed", None)],
            Kind.CHORE: [("skipped", _HIDDEN)],
            Kind.RELEASE: [("completed", None), ("skipped", _REPORTED)],
        }
        for run in self._runs[delivery]:
            if (run["status"], run["error"]) not in ends[sending.kind]:
                self._verdict.lost.append(f"{delivery}: run {run['id']} ended {run['status']} ({run['error']})")


def _judge_releases(
    genuine: Mapping[str, Sending], stored: Stored, triggers: Mapping[str, Sequence[str]], verdict: Verdict
) -> None:
    """Check that each trigger wrote one post of a release, for any number of deliveries that announced it."""
    completed = Counter(
        (sending.tag, row["trigger_id"])
        for row in stored.runs
        if row["status"] == "completed"
        and (sending := genuine.get(row["delivery"])) is not None
        and sending.kind is Kind.RELEASE
    )
    tags = {sending.tag for sending in genuine.values() if sending.kind is Kind.RELEASE}
    for tag in tags:
        for trigger in triggers["release"]:
            posts = completed[tag, trigger]
            if not posts:
                verdict.lost.append(f"release {tag} has no post of {trigger}")
            if posts > 1:
                verdict.doubled.append(f"release {tag} has {posts} posts of {trigger}")


def _judge_posts(stored: Stored, verdict: Verdict) -> None:
    posts = _grouped(stored.posts, by="run_id")
    for run in stored.runs:
        own = [row["id"] for row in posts.pop(run["id"], [])]
        count = 1 if run["status"] == "completed" else 0
        if len(own) < count:
            verdict.lost.append(f"run {run['id']} has no post")
        if len(own) > count:
            verdict.doubled.append(f"run {run['id']} ({run['status']}) has {len(own)} posts")
        if own != [run["post_id"]] * count or (not count and run["post_id"]):
            verdict.partial.append(f"run {run['id']} names post {run['post_id']} and has {own}")
    verdict.invented.extend(f"post {row['id']} of no run" for rows in posts.values() for row in rows)


def _judge_invented(
    attempts: Iterable[Attempt], genuine: Mapping[str, Sending], stored: Stored, verdict: Verdict
) -> None:
    """Check that unsent deliveries stored no data, and that filtered, ignored and forged ones stored only log rows."""
    effective = {delivery for delivery, sending in genuine.items() if sending.kind.is_processed}
    contexts = {f"codehost:{REPOSITORY_ID}:{delivery}" for delivery in effective}
    named = {attempt.sending.delivery for attempt in attempts}
    verdict.invented.extend(
        f"{what} of {row['delivery']}"
        for what, rows in (("claim", stored.claims), ("event", stored.events), ("run", stored.runs))
        for row in rows
        if row["delivery"] not in effective
    )
    verdict.invented.extend(
        f"context record {row['custom_id']}" for row in stored.contexts if row["custom_id"] not in contexts
    )
    verdict.invented.extend(f"log entry of {row['delivery']}" for row in stored.logs if row["delivery"] not in named)


def _judge_totals(stored: Stored, verdict: Verdict) -> None:
    totals = {
        "claims": len(stored.claims),
        "context records": len(stored.contexts),
        "events": len(stored.events),
        "processed log entries": sum(str(row["title"]).startswith("Processed ") for row in stored.logs),
    }
    if len(set(totals.values())) > 1:
        verdict.partial.append(f"in all: {totals}")


def _grouped(rows: Iterable[Row], *, by: str = "delivery") -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[by]].append(row)
    return groups
