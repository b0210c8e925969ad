"""Completing runs with their posts, many in one transaction."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, final

from attrs import frozen
from sqlalchemy import Connection, Update, bindparam, delete, select, update
from sqlalchemy.sql.dml import ReturningInsert

from contentsvc_adapters.sql.addressing import address
from contentsvc_adapters.sql.containment import contain, lock, note_released
from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.outgoing.enqueue import enqueue
from contentsvc_adapters.sql.post_rows import once_digest, post_row
from contentsvc_adapters.sql.row import json_of
from contentsvc_adapters.sql.runs import forget, has_status
from contentsvc_adapters.sql.schema.content import posts, told_once
from contentsvc_adapters.sql.schema.work import workflow_runs
from contentsvc_adapters.sql.store import setting_each
from contentsvc_core.content.posts import Post
from contentsvc_core.outgoing.events import post_written
from contentsvc_core.workflows.context import push_id
from contentsvc_core.workflows.runs import ALREADY_REPORTED, Completion, RunStatus, WorkflowRun

_HELD: Final = (
    select(workflow_runs.c.id, workflow_runs.c.organization_id, workflow_runs.c.takes)
    .where(workflow_runs.c.id.in_(bindparam("ids", expanding=True)), has_status(RunStatus.RUNNING))
    # All transactions lock in the same order, so that they cannot deadlock.
    .order_by(workflow_runs.c.id)
    .with_for_update()
)
_SKIPPED: Final = (
    update(workflow_runs)
    .where(workflow_runs.c.id.in_(bindparam("ids", expanding=True)))
    .values(status=RunStatus.SKIPPED.value, error=ALREADY_REPORTED, post_id=None)
)
_REPORTED: Final = select(told_once.c.organization_id, told_once.c.once_key).where(
    # The first column of the primary key: without it, the query would scan the whole table.
    told_once.c.organization_id.in_(bindparam("organizations", expanding=True)),
    told_once.c.once_key.in_(bindparam("keys", expanding=True)),
)
_CARRIED: Final = select(posts.c.once_key).where(
    posts.c.organization_id == bindparam("organization"), posts.c.once_key.in_(bindparam("keys", expanding=True))
)
_DELETE_POSTS: Final = delete(posts).where(posts.c.id.in_(bindparam("ids", expanding=True)))


@final
@frozen(kw_only=True)
class RunCompletion:
    run: WorkflowRun
    post: Post
    once: str | None
    pushes: Collection[str] = ()


@lru_cache(maxsize=1)
def _completing(dialect: Dialect) -> Update:
    return setting_each(dialect, workflow_runs.c.post_id).values(status=RunStatus.COMPLETED.value, error=None)


@lru_cache(maxsize=1)
def _writing(dialect: Dialect) -> ReturningInsert[str]:
    adding = dialect.insert(posts).on_conflict_do_nothing(index_elements=["organization_id", "once_key"])
    return adding.returning(posts.c.id)


def complete(connection: Connection, dialect: Dialect, endings: Sequence[RunCompletion]) -> list[Completion]:
    """Complete runs that their executors still hold, each independently; return the result of each."""
    ids = [ending.run.id for ending in endings]
    held = {(row.id, row.organization_id, row.takes) for row in connection.execute(_HELD, {"ids": ids})}
    own: dict[str, RunCompletion] = {}
    for ending in endings:
        run = ending.run
        if (run.id, run.organization_id, run.takes) in held:
            own.setdefault(run.id, ending)
    if not own:
        return [Completion.GONE] * len(endings)
    post_ids = json_of({id_: ending.post.id for id_, ending in own.items()})
    connection.execute(_completing(dialect), {"ids": list(own), "by_id": post_ids})
    forget(connection, list(own))
    owners = {each.run.organization_id for each in own.values() if each.pushes or each.once or push_id(each.run.cause)}
    if owners:
        lock(connection, owners, releases=any(ending.pushes or ending.once for ending in own.values()))
    written = _write(connection, dialect, list(own.values()))
    _contain(connection, dialect, owners, [ending for ending in own.values() if ending.post.id in written])
    unwritten = [id_ for id_, ending in own.items() if ending.post.id not in written]
    if unwritten:
        connection.execute(_SKIPPED, {"ids": unwritten})
    posts_written = [ending.post for ending in own.values() if ending.post.id in written]
    enqueue(connection, dialect, [each for post in posts_written for each in post_written(post)])
    address(connection, dialect, posts_written, are_new=True)
    return [_completion(ending, own, written) for ending in endings]


def complete_together(
    connection: Connection, dialect: Dialect, ending: RunCompletion, also: Collection[str]
) -> Completion:
    """Complete a run whose post reports several releases, unless another post reports one of ``also``."""
    run = ending.run
    owner = run.organization_id
    # The same lock order as in `complete`: the run first.
    held = {(row.id, row.organization_id, row.takes) for row in connection.execute(_HELD, {"ids": [run.id]})}
    if (run.id, owner, run.takes) not in held:
        return Completion.GONE
    # All posts of releases wait for this lock: until the transaction ends, no other post reports these releases.
    lock(connection, [owner], releases=True)
    keys = sorted({once_digest(key) for key in also})
    if reported_keys(connection, owner, keys):
        return Completion.OVERTAKEN
    (completion,) = complete(connection, dialect, [ending])
    if completion is Completion.COMPLETED:
        values = [{"organization_id": owner, "once_key": key} for key in keys]
        connection.execute(dialect.insert(told_once).values(values))
    return completion


def reported_keys(connection: Connection, organization_id: str, keys: Collection[bytes]) -> set[bytes]:
    deleted = connection.execute(_REPORTED, {"organizations": [organization_id], "keys": list(keys)})
    carried = connection.scalars(_CARRIED, {"organization": organization_id, "keys": list(keys)})
    return {row.once_key for row in deleted} | set(carried)


def _contain(connection: Connection, dialect: Dialect, owners: set[str], endings: Sequence[RunCompletion]) -> None:
    released = [(each.run.organization_id, push, each.post.id) for each in endings for push in each.pushes]
    note_released(connection, dialect, released)
    reported = (push_id(each.run.cause) for each in endings)
    contain(connection, owners, [*(push for _, push, _ in released), *(push for push in reported if push is not None)])


def _completion(ending: RunCompletion, own: dict[str, RunCompletion], written: set[str]) -> Completion:
    if own.get(ending.run.id) is not ending:
        return Completion.GONE
    return Completion.COMPLETED if ending.post.id in written else Completion.ALREADY_REPORTED


def _write(connection: Connection, dialect: Dialect, endings: Sequence[RunCompletion]) -> set[str]:
    values: list[dict[str, Any]] = [
        post_row(ending.post, run_id=ending.run.id, once=ending.once, push=push_id(ending.run.cause))
        for ending in endings
    ]
    # Sorted by key, as in all transactions that write the same keys, so that they cannot deadlock.
    values.sort(key=lambda row: (row["organization_id"], row["once_key"] or b"", row["id"]))
    written = set(connection.scalars(_writing(dialect), values))
    keys = {(row["organization_id"], row["once_key"]): row["id"] for row in values if row["id"] in written}
    # Read after the insert, which waits for a concurrent deletion.
    once_keys = [key for _, key in keys if key is not None]
    rows = (
        connection.execute(_REPORTED, {"organizations": sorted({each for each, _ in keys}), "keys": once_keys}).all()
        if once_keys
        else ()
    )
    again = {keys[row.organization_id, row.once_key] for row in rows if (row.organization_id, row.once_key) in keys}
    if again:
        connection.execute(_DELETE_POSTS, {"ids": sorted(again)})
    return written - again
