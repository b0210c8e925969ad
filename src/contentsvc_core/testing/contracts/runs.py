"""The contract of :class:`.RunLedger` and :class:`.Executors`: each run goes to one executor, and has one end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeAlias

from attrs import evolve

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import Lookback, window_at
from contentsvc_core.ports import Executors, Jobs, PostLibrary, RunLedger
from contentsvc_core.testing.contracts.posts import a_post
from contentsvc_core.testing.contracts.trials import Contract, Trial
from contentsvc_core.testing.parts import START
from contentsvc_core.workflows.causes import Generation, Source
from contentsvc_core.workflows.jobs import Job
from contentsvc_core.workflows.runs import (
    ALREADY_REPORTED,
    MAX_KILLS,
    SUSPECT_KILLS,
    SUSPECT_PATIENCE,
    Completion,
    RunStatus,
    WorkflowRun,
)
from contentsvc_core.zones import DEFAULT_ZONE


class RunStores(Protocol):
    """The stores that runs need: jobs start them, executors take them, and they end with posts."""

    @property
    def jobs(self) -> Jobs: ...
    @property
    def ledger(self) -> RunLedger: ...
    @property
    def executors(self) -> Executors: ...
    @property
    def posts(self) -> PostLibrary: ...


_Trial: TypeAlias = Trial[RunStores]

#: The contract of the runs. Each guarantee needs empty stores that know two organizations.
RUNS: Final = Contract[RunStores]()

_HOUR: Final = timedelta(hours=1)
_MOMENT: Final = timedelta(milliseconds=1)
_EXECUTOR: Final = "exe_1"
_WINDOW: Final = window_at(Lookback.LAST_7_DAYS, START, DEFAULT_ZONE)


async def _started(trial: _Trial, *hours: int, organization_id: str | None = None) -> list[WorkflowRun]:
    """Start a job for each hour; return their runs."""
    runs: list[WorkflowRun] = []
    for hour in hours:
        job_id, at = trial.new_id("job_"), START + hour * _HOUR
        source = Source(provider="codehost", repository_id=2**63 - 1, full_name="acme/läuft")
        cause = Generation(
            job_id=job_id,
            content_type=ContentType.BLOG_POST,
            lookback=Lookback.LAST_7_DAYS,
            window=_WINDOW,
            sources=[source],
        )
        owner = organization_id or trial.own
        run = WorkflowRun(id=trial.new_id(""), organization_id=owner, cause=cause, created_at=at, due_at=at)
        await trial.store.jobs.start(Job(id=job_id, run=run))
        runs.append(run)
    return runs


async def _taken(trial: _Trial, organization_id: str | None = None) -> WorkflowRun:
    (run,) = await _started(trial, 0, organization_id=organization_id)
    return (await _take(trial, [run.id]))[0]


async def _take(trial: _Trial, ids: Sequence[str], executor: str = _EXECUTOR) -> list[WorkflowRun]:
    await trial.store.executors.join(executor)
    taken = list(await trial.store.ledger.take(ids, executor))
    trial.same([run.id for run in taken], [*ids])
    return taken


async def _killed(trial: _Trial, error: str = "killed") -> int:
    """Recover the runs of all executors; return the number of runs that are pending again."""
    beats = await trial.store.executors.heartbeat("nobody")
    return (await trial.store.executors.recover(error, lost=beats)).pending


async def _check_due(
    trial: _Trial, at: datetime, *runs: WorkflowRun, limit: int = 99, share: int = 99, without: Sequence[str] = ()
) -> None:
    found = await trial.store.ledger.pending(at, limit=limit, per_organization=share, without=without)
    trial.same([(each.id, each.organization_id) for each in found], [(run.id, run.organization_id) for run in runs])


async def _check_stored(trial: _Trial, *runs: WorkflowRun, organization_id: str | None = None) -> None:
    found = {run.id: run for run in await trial.store.ledger.runs(organization_id or trial.own)}
    for run in runs:
        trial.same(found.get(run.id), run)


@RUNS.guarantee("a run reads back as it was, and runs are listed newest first, each in its organization")
async def _are_listed(trial: _Trial) -> None:
    ledger = trial.store.ledger
    one, two, three, four = await _started(trial, 2, 0, 1, 0)
    (foreign,) = await _started(trial, 0, organization_id=trial.foreign)
    trial.same(await ledger.runs(trial.own), [one, three, four, two])
    trial.same(await ledger.runs(trial.own, limit=2), [one, three])
    trial.same(await ledger.runs(trial.foreign), [foreign])


@RUNS.guarantee("runs are pending from exactly their due time on, the oldest first")
async def _are_pending(trial: _Trial) -> None:
    one, two, three, four = await _started(trial, 2, 0, 1, 0)
    await _check_due(trial, START + 2 * _HOUR, two, four, three, one)
    await _check_due(trial, START + 2 * _HOUR, two, four, limit=2)
    await _check_due(trial, START + _HOUR, two, four, three)
    await _check_due(trial, START + _HOUR - _MOMENT, two, four)
    await _check_due(trial, START - _MOMENT)
    await _check_due(trial, START + 2 * _HOUR, limit=0)


@RUNS.guarantee("an organization has its share of the pending runs, so that it does not delay others")
async def _share(trial: _Trial) -> None:
    own = await _started(trial, 0, 0, 0)
    (foreign,) = await _started(trial, 1, organization_id=trial.foreign)
    now = START + _HOUR
    await _check_due(trial, now, own[0], own[1], foreign, share=2)
    await _check_due(trial, now, own[0], foreign, limit=2, share=1)
    await _check_due(trial, now, foreign, without=[trial.own])


@RUNS.guarantee("a taken run is running, counts the attempt, and is not pending; unknown and taken runs are left out")
async def _are_taken(trial: _Trial) -> None:
    ledger, (one, two, three) = trial.store.ledger, await _started(trial, 0, 0, 0)
    await trial.store.executors.join(_EXECUTOR)
    taken = list(await ledger.take([three.id, one.id, "unknown", three.id], _EXECUTOR))
    counted = {"status": RunStatus.RUNNING, "attempts": 1, "takes": 1, "executor": _EXECUTOR}
    trial.same(taken, [evolve(run, **counted) for run in (three, one)])
    await _check_stored(trial, *taken, two)
    await _check_due(trial, START, two)
    trial.same(await ledger.take([one.id], _EXECUTOR), [])
    trial.same(await ledger.take([], _EXECUTOR), [])
    trial.same(await ledger.take([two.id], "stranger"), [])
    trial.same([await ledger.owns(run) for run in (*taken, two)], [True, True, False])


@RUNS.guarantee("of concurrent takers, one gets each run")
async def _go_to_one(trial: _Trial) -> None:
    runs = await _started(trial, *[0] * 12)
    names = [f"exe_{number}" for number in range(8)]
    for name in names:
        await trial.store.executors.join(name)
    ids = [run.id for run in runs]
    hands = await trial.at_once(*(trial.store.ledger.take(ids[n % 3 :], name) for n, name in enumerate(names)))
    taken = [run for hand in hands for run in hand]
    trial.same(sorted(run.id for run in taken), sorted(ids))
    trial.same({run.attempts for run in taken}, {1})


@RUNS.guarantee("a run has one post: of concurrent completions one succeeds, and the others write nothing")
async def _have_one_post(trial: _Trial) -> None:
    run, posts = await _taken(trial), [a_post(trial) for _ in range(8)]
    answers = await trial.at_once(*(trial.store.ledger.complete(run, post, once=None) for post in posts))
    trial.same(sorted(answer.name for answer in answers), ["COMPLETED", *["GONE"] * 7])
    winner = posts[answers.index(Completion.COMPLETED)]
    trial.same(await trial.store.posts.posts(trial.own), [winner])
    trial.same(await trial.store.posts.versions(trial.own, winner.id), [])
    await _check_stored(trial, evolve(run, status=RunStatus.COMPLETED, post_id=winner.id))


@RUNS.guarantee("of concurrent completions with one key, one succeeds; the other runs are skipped without posts")
async def _report_once(trial: _Trial) -> None:
    ledger, key = trial.store.ledger, "trg/1/2026/" + "v" * 5_000
    runs = [await _taken(trial) for _ in range(6)]
    answers = await trial.at_once(*(ledger.complete(run, a_post(trial), once=key) for run in runs))
    trial.same(sorted(answer.name for answer in answers), [*["ALREADY_REPORTED"] * 5, "COMPLETED"])
    (post,) = await trial.store.posts.posts(trial.own)
    for run, answer in zip(runs, answers, strict=True):
        if answer is Completion.ALREADY_REPORTED:
            await _check_stored(trial, evolve(run, status=RunStatus.SKIPPED, error=ALREADY_REPORTED))
        else:
            await _check_stored(trial, evolve(run, status=RunStatus.COMPLETED, post_id=post.id))
    trial.same({*await ledger.reported(trial.own, [key, "v2"])}, {key})


@RUNS.guarantee("the keys of a post stay reserved when it is removed, and belong to one organization")
async def _stay_reported(trial: _Trial) -> None:
    ledger, post = trial.store.ledger, a_post(trial)
    trial.same(await ledger.complete(await _taken(trial), post, once="v1", also=["v1.1", "v1.2"]), Completion.COMPLETED)
    trial.same(await trial.store.posts.remove(trial.own, post.id), expected=True)
    keys = ["v1", "v1.1", "v1.2"]
    for key in keys:
        again = await ledger.complete(await _taken(trial), a_post(trial), once=key)
        trial.same(again, Completion.ALREADY_REPORTED)
    trial.same(await trial.store.posts.posts(trial.own), [])
    trial.same({*await ledger.reported(trial.own, [*keys, "v2"])}, {*keys})
    trial.same({*await ledger.reported(trial.own, [])}, set[str]())
    trial.same({*await ledger.reported(trial.foreign, keys)}, set[str]())
    # The end of its run stays, too.
    (first, *_) = [run for run in await ledger.runs(trial.own) if run.post_id is not None]
    trial.same((first.status, first.post_id), (RunStatus.COMPLETED, post.id))
    for owner, once in ((trial.own, "v2"), (trial.own, None), (trial.own, None), (trial.foreign, "v1")):
        run = await _taken(trial, owner)
        trial.same(await ledger.complete(run, a_post(trial, organization_id=owner), once=once), Completion.COMPLETED)


@RUNS.guarantee("a run is overtaken if another post has one of its further keys: it stays running, and writes nothing")
async def _are_overtaken(trial: _Trial) -> None:
    ledger = trial.store.ledger
    first = await ledger.complete(await _taken(trial), a_post(trial), once="v1", also=["v1.1"])
    trial.same(first, Completion.COMPLETED)
    run, post = await _taken(trial), a_post(trial)
    for key in ("v1", "v1.1"):
        trial.same(await ledger.complete(run, post, once="v2", also=[key, "v3"]), Completion.OVERTAKEN)
    await _check_stored(trial, run)
    trial.same(await trial.store.posts.post(trial.own, post.id), None)
    trial.same({*await ledger.reported(trial.own, ["v2", "v3"])}, set[str]())
    # As in the next attempt.
    trial.same(await ledger.complete(run, post, once="v2", also=["v3"]), Completion.COMPLETED)


@RUNS.guarantee("a post that is removed while other runs report the same leaves no post")
async def _are_removed_at_once(trial: _Trial) -> None:
    ledger, posts, post = trial.store.ledger, trial.store.posts, a_post(trial)
    first, *others = [await _taken(trial) for _ in range(8)]
    trial.same(await ledger.complete(first, post, once="v1"), Completion.COMPLETED)
    removal = posts.remove(trial.own, post.id)
    reports = (ledger.complete(run, a_post(trial), once="v1") for run in others)
    answers: list[object] = await trial.at_once(removal, *reports)
    trial.same(answers, [True, *[Completion.ALREADY_REPORTED] * len(others)])
    trial.same(await posts.posts(trial.own), [])


@RUNS.guarantee("a run ends without a post, with its reason")
async def _end(trial: _Trial) -> None:
    for status in (RunStatus.SKIPPED, RunStatus.FAILED, RunStatus.CANCELLED):
        run = await _taken(trial)
        trial.same(await trial.store.ledger.end(run, status, "so it is"), expected=True)
        await _check_stored(trial, evolve(run, status=status, error="so it is"))
    await _check_due(trial, START + 99 * _HOUR)


@RUNS.guarantee("a run changes for its last taker alone: not once it has ended, is pending or was taken again")
async def _belong_to_their_taker(trial: _Trial) -> None:
    ledger = trial.store.ledger
    ended, pending, lost = [await _taken(trial) for _ in range(3)]
    await ledger.end(ended, RunStatus.SKIPPED, "first")
    await ledger.retry(pending, due_at=START + _HOUR, error="first")
    await ledger.requeue(lost)
    (again,) = await _take(trial, [lost.id], "exe_2")
    before = list(await ledger.runs(trial.own))
    foreign = evolve(again, organization_id=trial.foreign)
    for run in (ended, pending, lost, foreign):
        trial.same(await ledger.owns(run), expected=False)
        trial.same(await ledger.end(run, RunStatus.FAILED, "second"), expected=False)
        await ledger.retry(run, due_at=START, error="second")
        await ledger.requeue(run)
        post = a_post(trial, organization_id=run.organization_id)
        trial.same(await ledger.complete(run, post, once="v1", also=["v1.1"]), Completion.GONE)
    trial.same(await ledger.runs(trial.own), before)
    trial.same(await ledger.runs(trial.foreign), [])
    trial.same(await trial.store.posts.posts(trial.own), [])
    # The keys are not reserved either.
    trial.same(await ledger.complete(again, a_post(trial), once="v1", also=["v1.1"]), Completion.COMPLETED)


@RUNS.guarantee("a retried run waits until it is due, and forgets the error when it completes")
async def _are_retried(trial: _Trial) -> None:
    run, ledger = await _taken(trial), trial.store.ledger
    due_at = START + timedelta(seconds=3)
    await ledger.retry(run, due_at=due_at, error="the writer was away")
    waiting = evolve(run, status=RunStatus.PENDING, due_at=due_at, error="the writer was away")
    await _check_stored(trial, waiting)
    await _check_due(trial, due_at - _MOMENT)
    await _check_due(trial, due_at, waiting)
    (again,) = await _take(trial, [run.id])
    trial.same(again, evolve(waiting, status=RunStatus.RUNNING, attempts=2, takes=2))
    post = a_post(trial)
    trial.same(await ledger.complete(again, post, once=None), Completion.COMPLETED)
    await _check_stored(trial, evolve(again, status=RunStatus.COMPLETED, error=None, post_id=post.id))


@RUNS.guarantee("a requeued run counts no attempt, and keeps its due time")
async def _are_requeued(trial: _Trial) -> None:
    (run,) = await _started(trial, 0)
    (taken,) = await _take(trial, [run.id])
    for _ in range(2):
        await trial.store.ledger.requeue(taken)
        await _check_stored(trial, evolve(run, takes=1, executor=_EXECUTOR))
    await _check_due(trial, START, run)


@RUNS.guarantee("runs of dead executors are pending again, count a kill and no attempt; others stay running")
async def _are_recovered(trial: _Trial) -> None:
    executors = trial.store.executors
    lost, kept = await _taken(trial), (await _take(trial, [(await _started(trial, 1))[0].id], "exe_2"))[0]
    beats = await executors.heartbeat("nobody")
    await executors.heartbeat("exe_2")
    trial.same((await executors.recover("silent", lost=beats)).pending, 1)
    await _check_stored(trial, evolve(lost, status=RunStatus.PENDING, attempts=0, kills=1), kept)
    trial.same(await executors.heartbeat("exe_2"), {"exe_2": 2})


@RUNS.guarantee("a recovered run is due at once, also if it was taken before it was due")
async def _are_due_when_recovered(trial: _Trial) -> None:
    run = await _taken(trial)
    await trial.store.ledger.retry(run, due_at=START + 99 * _HOUR, error="busy")
    await _take(trial, [run.id])
    trial.same(await _killed(trial), 1)
    await _check_due(trial, START, run)


@RUNS.guarantee("a run that is killed too often fails, and counts until then")
async def _fail_by_kills(trial: _Trial) -> None:
    run = await _taken(trial)
    for _ in range(1, MAX_KILLS):
        trial.same(await _killed(trial), 1)
        await _take(trial, [run.id])
    trial.same(await _killed(trial, "the process ended"), 0)
    (stored,) = await trial.store.ledger.runs(trial.own)
    trial.same((stored.status, stored.kills, stored.error), (RunStatus.FAILED, MAX_KILLS, "the process ended"))
    await _check_due(trial, START + 99 * _HOUR)


@RUNS.guarantee("a suspect comes last until it has waited, is taken alone, and keeps its executor to itself")
async def _are_suspected(trial: _Trial) -> None:
    ledger, (first, second, third) = trial.store.ledger, await _started(trial, 0, 0, 0)
    for _ in range(SUSPECT_KILLS):
        await _take(trial, [second.id])
        await _killed(trial)
    await _check_due(trial, START, first, third, second)
    await _check_due(trial, START + SUSPECT_PATIENCE, second, first, third)
    await trial.store.executors.join(_EXECUTOR)
    trial.same([run.id for run in await ledger.take([second.id, first.id], _EXECUTOR)], [second.id])
    trial.same(await ledger.take([first.id], _EXECUTOR), [])
    await trial.store.executors.join("exe_2")
    trial.same([run.id for run in await ledger.take([third.id, first.id], "exe_2")], [third.id, first.id])


@RUNS.guarantee("a run that has not ended is cancelled once, in its organization alone")
async def _are_cancelled(trial: _Trial) -> None:
    ledger, taken, (pending,) = trial.store.ledger, await _taken(trial), await _started(trial, 1)
    trial.same(await ledger.cancel(trial.foreign, taken.id, "no"), expected=False)
    trial.same(await ledger.cancel(trial.own, "unknown", "no"), expected=False)
    for run in (taken, pending):
        trial.same([await ledger.cancel(trial.own, run.id, reason) for reason in ("so", "late")], [True, False])
        await _check_stored(trial, evolve(run, status=RunStatus.CANCELLED, error="so"))
    trial.same(await ledger.complete(taken, a_post(trial), once=None), Completion.GONE)


@RUNS.guarantee("a run that has ended without a post is restarted with all attempts left; no other run is")
async def _are_restarted(trial: _Trial) -> None:
    ledger, run, completed = trial.store.ledger, await _taken(trial), await _taken(trial)
    due_at = START + _HOUR
    trial.same(await ledger.complete(completed, a_post(trial), once=None), Completion.COMPLETED)
    trial.same(await _killed(trial), 1)
    (run,) = await _take(trial, [run.id])
    for id_ in (run.id, completed.id, "unknown"):
        trial.same(await ledger.restart(trial.own, id_, due_at=due_at), expected=False)
    await ledger.end(run, RunStatus.FAILED, "so it is")
    trial.same(await ledger.restart(trial.foreign, run.id, due_at=due_at), expected=False)
    trial.same(await ledger.restart(trial.own, run.id, due_at=due_at), expected=True)
    found = next(each for each in await ledger.runs(trial.own) if each.id == run.id)
    trial.same((found.status, found.attempts, found.kills, found.due_at), (RunStatus.PENDING, 0, 0, due_at))
    await _check_due(trial, due_at, run)
