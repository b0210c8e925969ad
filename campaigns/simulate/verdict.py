"""The conditions after all faults have ended: written from the specification, sections 4 to 8, not from the code.

Where an answer was lost, more than one result is right: then the rule returns a set, and the stored data must be in it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Final, final

from attrs import Factory, define
from campaigns.simulate.host import Kind, Sent

from contentsvc_adapters.memory.state import State
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun
from contentsvc_core.workflows.triggers import Trigger

#: The attempts of a run, and the killed processes that it survives (decisions, workflow runs).
_ATTEMPTS: Final = 8
_KILLS: Final = 20
_ANSWERS: Final = {
    Kind.WANTED: {"Processed", "Duplicate"},
    Kind.UNWANTED: {"Filtered", "Ignored", "Pong"},
    Kind.REFUSED: {"Rejected"},
}
#: Organization, integration, repository, delivery id.
Key = tuple[str, str, int, str]


@final
@define(kw_only=True)
class Expected:
    """The triggers of the configuration."""

    triggers: dict[str, Trigger] = Factory(dict[str, Trigger])
    #: Triggers that were switched during the episode: the time of a delivery decides whether they matched.
    toggled: set[str] = Factory(set[str])

    def matching(self, organization_id: str, repository_id: int, event: str) -> set[str]:
        """Return the triggers that an event starts, all of them being enabled (specification 6.4)."""
        return {
            trigger.id
            for trigger in self.triggers.values()
            if trigger.organization_id == organization_id
            and repository_id in trigger.repository_ids
            and (not trigger.event_types or event in trigger.event_types)
        }

    def second_time(self, state: State, expected: Collection[Key], started: Iterable[WorkflowRun]) -> list[str]:
        """Check the data of a second processing, a day after the first: new runs, only for these deliveries."""
        counted: Counter[tuple[Key, str]] = Counter()
        for run in started:
            if isinstance(run.cause, Delivered):
                counted[_key_of(run, run.cause), run.cause.trigger_id] += 1
        faults = [
            f"a day later: {key} has started {number} runs of {trigger}"
            for (key, trigger), number in counted.items()
            if number > 1
        ]
        faults += [
            f"a day later: {key} has started a run of {trigger}" for key, trigger in counted if key not in expected
        ]
        for key in expected:
            processed = [entry for entry in _entries(state).get(key, ()) if entry.title.startswith("Processed")]
            if len(processed) != 2:
                faults.append(f"a day later: {key} was processed {len(processed) - 1} times")
        return faults


def examine(state: State, sent: Collection[Sent], expected: Expected) -> list[str]:
    """Return the faults; empty: the data is consistent."""
    entries = _entries(state)
    faults: list[str] = []
    for each in sent:
        faults += _answers(each)
        faults += _log(each, entries.get(each.key, []))
    faults += _contexts(state, sent)
    faults += _runs(state, sent, expected)
    faults += _posts(state)
    faults += [f"{key} was never sent, but is in the log" for key in entries.keys() - {each.key for each in sent}]
    if state.unfinished:
        faults.append(f"{len(state.unfinished)} runs are left")
    return faults


def _entries(state: State) -> dict[Key, list[LogEntry]]:
    found: dict[Key, list[LogEntry]] = defaultdict(list)
    for entry in state.log.values():
        found[entry.organization_id, entry.integration_id, entry.repository_id, entry.reference_id or ""].append(entry)
    return dict(found)


def _answers(sent: Sent) -> list[str]:
    if not sent.answers:
        return [f"{sent.key} was never acknowledged"]
    wrong = set(sent.answers) - _ANSWERS[sent.kind]
    faults = [f"{sent.key}, {sent.kind.value}, was answered {sorted(wrong)}"] if wrong else []
    if sent.answers.count("Processed") > 1:
        faults.append(f"{sent.key} was answered as processed {sent.answers.count('Processed')} times")
    return faults


def _log(sent: Sent, entries: Collection[LogEntry]) -> list[str]:
    """Check that each acknowledged request has one entry, and each request with a lost answer one or none."""
    least, most = len(sent.answers), len(sent.answers) + sent.unknown
    faults: list[str] = []
    # A lost answer may have been a failure of the service (500, 503), which has a log entry of its own.
    counted = [entry for entry in entries if entry.status_code not in {500, 503}]
    if not least <= len(counted) <= most:
        faults.append(f"{sent.key} has {len(counted)} log entries, not {least} to {most}")
    processed = sum(entry.title.startswith("Processed") for entry in entries)
    if processed != (sent.kind is Kind.WANTED):
        faults.append(f"{sent.key}, {sent.kind.value}, is logged as processed {processed} times")
    duplicates = sum(entry.title.startswith("Duplicate") for entry in entries)
    if duplicates < sent.answers.count("Duplicate"):
        faults.append(f"{sent.key} was answered as a duplicate, and not logged so")
    if sent.kind is Kind.REFUSED and any(entry.status is not LogStatus.FAILED for entry in entries):
        faults.append(f"{sent.key} was refused, and is logged as a success")
    return faults


def _contexts(state: State, sent: Collection[Sent]) -> list[str]:
    """Check that each accepted delivery has one context record (specification 6.4)."""
    expected = {
        (each.hook.organization_id, f"codehost:{each.hook.repository_id}:{each.delivery_id}")
        for each in sent
        if each.kind is Kind.WANTED
    }
    found = set(state.contexts)
    return [
        *(f"the context record {key} is missing" for key in sorted(expected - found)),
        *(f"the context record {key} has no delivery" for key in sorted(found - expected)),
    ]


def _runs(state: State, sent: Collection[Sent], expected: Expected) -> list[str]:
    counted: dict[Key, Counter[str]] = defaultdict(Counter)
    faults: list[str] = []
    for run in state.runs.values():
        assert isinstance(run.cause, Delivered)
        counted[_key_of(run, run.cause)][run.cause.trigger_id] += 1
        faults += _end(run, expected)
    for each in sent:
        started = counted.pop(each.key, Counter())
        hook = each.hook
        most = set[str]()
        if each.kind is Kind.WANTED:
            most = expected.matching(hook.organization_id, hook.repository_id, each.event)
        if not most - expected.toggled <= started.keys() <= most:
            faults.append(f"{each.key} has started {sorted(started)}, not {sorted(most)}")
        faults += [
            f"{each.key} has started {trigger} {number} times" for trigger, number in started.items() if number > 1
        ]
    return faults + [f"{key} was never sent, but has started runs" for key in counted]


def _end(run: WorkflowRun, expected: Expected) -> list[str]:
    """Check that each run ends with its post, or without one for a known reason."""
    cause = run.cause
    assert isinstance(cause, Delivered)
    right = {
        RunStatus.COMPLETED: run.post_id is not None,
        # Its trigger was switched off, or another run of the trigger has reported the release.
        RunStatus.SKIPPED: cause.trigger_id in expected.toggled or cause.event.type == "release",
        RunStatus.FAILED: run.kills >= _KILLS or run.attempts >= _ATTEMPTS,
    }
    if not right.get(run.status, False):
        return [f"run {run.id} is {run.status.value} after {run.attempts} attempts and {run.kills} kills: {run.error}"]
    return []


def _posts(state: State) -> list[str]:
    """Check that a run has at most one post, a post has its run, and a release has one post."""
    of_runs: Counter[str] = Counter(str((post.source_metadata or {}).get("runId")) for post in state.posts.values())
    faults = [f"run {run} has {number} posts" for run, number in of_runs.items() if number > 1]
    completed = {run.id: run for run in state.runs.values() if run.status is RunStatus.COMPLETED}
    faults += [f"run {run} has no post" for run in completed.keys() - of_runs.keys()]
    faults += [f"the post of run {run} has no such run" for run in of_runs.keys() - completed.keys()]
    releases: Counter[tuple[str, int, str]] = Counter()
    for run in completed.values():
        cause = run.cause
        if isinstance(cause, Delivered) and cause.event.type == "release":
            releases[cause.trigger_id, cause.repository_id, getattr(cause.event, "tag_name", "")] += 1
    faults += [f"{release} has {number} posts" for release, number in releases.items() if number > 1]
    # Conversely, a release that was skipped as reported has its post.
    for run in state.runs.values():
        cause = run.cause
        if run.status is RunStatus.SKIPPED and isinstance(cause, Delivered) and cause.event.type == "release":
            reported = (cause.trigger_id, cause.repository_id, getattr(cause.event, "tag_name", ""))
            if "reported" in (run.error or "") and reported not in releases:
                faults.append(f"run {run.id} was skipped for a post about {reported} that is not there")
    return faults


def _key_of(run: WorkflowRun, cause: Delivered) -> Key:
    integration = f"int_{run.organization_id.removeprefix('org_')}_{cause.repository_id}"
    return run.organization_id, integration, cause.repository_id, cause.delivery_id
