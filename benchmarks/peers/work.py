"""Checks that a peer does the measured work completely.

A fast but lossy peer is no valid result, and neither is an incomplete one. The checks are those of the receiver's own
tests, as far as a comparison depends on them.
"""

import asyncio
import contextlib
import json
import sqlite3
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, final

import httpx
import msgspec
import psycopg
from attrs import frozen

from benchmarks.material import BRANCH, Hook, push, signed
from benchmarks.sides import KINDS, Database, Running

COPIES: Final = 64
_TIMEOUT_S: Final = 30.0
_NOTHING: Final[dict[str, int]] = dict.fromkeys(KINDS, 0)
_ONCE: Final[dict[str, int]] = dict.fromkeys(KINDS, 1)
_LOG_ONLY: Final = _NOTHING | {"logs": 1}
# Every peer has these two tables.
_SWITCH_OFF: Final = "UPDATE triggers SET enabled = false"
_AGE: Final = "UPDATE claims SET claimed_at = claimed_at - 86400000"


@final
@frozen(kw_only=True)
class Subject:
    """A running peer."""

    #: A client with the peer's base URL.
    client: httpx.AsyncClient
    hook: Hook
    #: Counts its rows.
    counted: Callable[[], Mapping[str, int]]
    #: Executes a statement in its database.
    execute: Callable[[str], None]


async def faults_of(subject: Subject) -> list[str]:
    """Run all checks on a peer; return the faults."""
    check = _Check(subject)
    for question in (
        check.processes_a_push,
        check.refuses_what_is_not_signed,
        check.knows_its_places,
        check.filters_other_branches,
        check.takes_one_of_many_copies,
        check.frees_an_id_after_a_day,
        check.reads_its_triggers_afresh,
    ):
        await question()
    return check.faults


@final
class _Answer(msgspec.Struct):
    data: dict[str, Any] = {}


@final
class _Check:
    def __init__(self, subject: Subject) -> None:
        self.faults: list[str] = []
        self._subject = subject

    async def processes_a_push(self) -> None:
        """Check that a push has one row of each kind and its data in the answer, and a second copy only a log entry."""
        body, id_ = push(self._subject.hook, 1, commits=3), _new_id()
        with self._leaving(_ONCE, "a push"):
            answer = await self._send(body, id_)
        self._expect(answer, 200, "a push")
        told = _told(answer)
        for what, found, expected in (
            ("delivery", told.get("delivery"), id_),
            ("event", told.get("processed"), {"type": "push", "action": "pushed", "data": _normalized(body)}),
        ):
            if found != expected:
                self.faults.append(f"the answer to a push tells another {what}: {found!r}")
        with self._leaving(_LOG_ONLY, "a duplicate"):
            answer = await self._send(body, id_)
        self._expect(answer, 200, "a duplicate")
        if _told(answer).get("duplicate") is not True:
            self.faults.append("a duplicate is not told as one")

    async def refuses_what_is_not_signed(self) -> None:
        """Check that a wrong, a foreign and a missing signature get 401, and only log entries are stored."""
        hook = self._subject.hook
        body = push(hook, 2, commits=1)
        other = signed(push(hook, 3, commits=1), hook.secret).signature
        forged = {
            "a wrong signature": signed(body, "another secret").signature,
            "another body's signature": other,
            "a signature of another form": other.removeprefix("sha256="),
            "no signature": None,
        }
        for what, signature in forged.items():
            with self._leaving(_LOG_ONLY, what):
                answer = await self._send(body, _new_id(), signature=signature)
            self._expect(answer, 401, what)

    async def knows_its_places(self) -> None:
        """Check that an unknown integration gets 404."""
        path = self._subject.hook.path.replace(self._subject.hook.integration, "int_unknown")
        with self._leaving(_NOTHING, "an unknown integration"):
            answer = await self._send(push(self._subject.hook, 4, commits=1), _new_id(), path=path)
        self._expect(answer, 404, "an unknown integration")

    async def filters_other_branches(self) -> None:
        """Check that a push to another branch than the default one takes no claim."""
        body = push(self._subject.hook, 5, commits=1).replace(f"refs/heads/{BRANCH}".encode(), b"refs/heads/topic")
        with self._leaving(_LOG_ONLY, "a push to another branch"):
            answer = await self._send(body, _new_id())
        self._expect(answer, 200, "a push to another branch")

    async def takes_one_of_many_copies(self) -> None:
        """Check that one of concurrent copies is processed, and each copy is logged."""
        body, id_ = push(self._subject.hook, 6, commits=1), _new_id()
        with self._leaving(_ONCE | {"logs": COPIES}, f"{COPIES} concurrent copies"):
            answers = await asyncio.gather(*(self._send(body, id_) for _ in range(COPIES)))
        states = Counter((answer.status_code, _told(answer).get("duplicate", False)) for answer in answers)
        if states != {(200, False): 1, (200, True): COPIES - 1}:
            self.faults.append(f"{COPIES} concurrent copies were answered {dict(states)}")

    async def frees_an_id_after_a_day(self) -> None:
        """Check that after 24 hours, a delivery with the same id is processed."""
        body, id_ = push(self._subject.hook, 7, commits=1), _new_id()
        await self._send(body, id_)
        self._subject.execute(_AGE)
        before = self._subject.counted()
        answer = await self._send(body, id_)
        self._expect(answer, 200, "an id that is a day old")
        after = self._subject.counted()
        if (after["claims"], after["runs"]) != (before["claims"], before["runs"] + 1):
            self.faults.append("an id that is a day old is not processed again")

    async def reads_its_triggers_afresh(self) -> None:
        """Check that a disabled trigger starts no run from the next push on; this check is the last one."""
        self._subject.execute(_SWITCH_OFF)
        with self._leaving(_ONCE | {"runs": 0}, "a push without a trigger"):
            answer = await self._send(push(self._subject.hook, 8, commits=1), _new_id())
        self._expect(answer, 200, "a push without a trigger")

    async def _send(
        self, body: bytes, id_: str, *, path: str | None = None, signature: str | None = ""
    ) -> httpx.Response:
        """Send a push with its right signature, with another one, or with none (``None``)."""
        hook = self._subject.hook
        headers = {"Content-Type": "application/json", "X-Host-Event": "push", "X-Host-Delivery": id_}
        if signature is not None:
            headers["X-Hub-Signature-256"] = signature or signed(body, hook.secret).signature
        return await self._subject.client.post(path or hook.path, content=body, headers=headers)

    def _expect(self, answer: httpx.Response, status: int, what: str) -> None:
        if answer.status_code != status:
            self.faults.append(f"{what} is answered {answer.status_code} instead of {status}: {answer.text[:200]}")

    @contextlib.contextmanager
    def _leaving(self, expected: Mapping[str, int], what: str) -> Generator[None]:
        before = self._subject.counted()
        yield
        after = self._subject.counted()
        left = {kind: after[kind] - before[kind] for kind in KINDS}
        if left != expected:
            self.faults.append(f"{what} leaves {left} instead of {dict(expected)}")


def _told(answer: httpx.Response) -> dict[str, Any]:
    """Return the answer's data; empty: the answer has none."""
    try:
        return msgspec.json.decode(answer.content, type=_Answer).data
    except msgspec.MsgspecError:
        return {}


def _normalized(body: bytes) -> dict[str, Any]:
    """Return the normalized form of a push (specification 6.1)."""
    native = json.loads(body)
    head = native["head_commit"]
    return {
        "ref": native["ref"],
        "branch": native["ref"].removeprefix("refs/heads/"),
        "commits": [
            {name: commit[name] for name in ("id", "message", "author", "timestamp", "url")}
            for commit in native["commits"]
        ],
        "headCommit": {"id": head["id"], "message": head["message"]},
    }


def _new_id() -> str:
    return str(uuid.uuid4())


def check(running: Running) -> list[str]:
    """Run all checks on a running side; return the faults."""

    def execute(statement: str) -> None:
        if running.side.database is Database.SQLITE:
            with contextlib.closing(sqlite3.connect(running.prepared.database, timeout=30)) as opened, opened:
                opened.execute(statement)
        else:
            with psycopg.connect(running.prepared.database) as connection:
                connection.execute(statement.encode())

    async def ask() -> list[str]:
        limits = httpx.Limits(max_connections=COPIES)
        base = f"http://127.0.0.1:{running.port}"
        async with httpx.AsyncClient(base_url=base, timeout=_TIMEOUT_S, limits=limits, trust_env=False) as client:
            return await faults_of(Subject(client=client, hook=running.hook, counted=running.counted, execute=execute))

    return asyncio.run(ask())
