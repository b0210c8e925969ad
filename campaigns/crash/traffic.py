"""The deliveries of a campaign, and the ledger of deliveries and answers."""

import hashlib
import json
import os
import random
import uuid
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Any, Final, final

from attrs import frozen
from tests.server_process import DUPLICATE, REPOSITORY, REPOSITORY_ID

#: The latest sendings, which are preferred for copies: the first sending may still be in flight.
_RECENT: Final = 16
_PAGE: Final = f"https://codehost.example/{REPOSITORY}"


class Kind(Enum):
    """The kind of a delivery, which decides its expected effects."""

    #: A push with a change to report: a post for each matching trigger.
    PUSH = "push"
    #: A push whose only commit is a release chore: its runs end `skipped`.
    CHORE = "chore"
    #: A release: one post for each matching trigger and release, however many deliveries announce it.
    RELEASE = "release"
    #: A push to another branch.
    FILTERED = "filtered"
    #: An event kind that is not supported.
    IGNORED = "ignored"

    @property
    def event(self) -> str:
        return {Kind.RELEASE: "release", Kind.IGNORED: "issues"}.get(self, "push")

    @property
    def is_processed(self) -> bool:
        return self in {Kind.PUSH, Kind.CHORE, Kind.RELEASE}


@final
@frozen(kw_only=True)
class Sending:
    """One delivery; its body is derived from these fields alone."""

    delivery: str
    kind: Kind
    #: The tag of a release; two deliveries may announce one release.
    tag: str = ""
    #: Whether its signature is wrong.
    forged: bool = False

    @property
    def marker(self) -> str:
        """Return the unique part of the stored event."""
        return self.tag or hashlib.sha1(self.delivery.encode(), usedforsecurity=False).hexdigest()

    @property
    def body(self) -> bytes:
        repository = {"id": REPOSITORY_ID, "full_name": REPOSITORY, "default_branch": "main"}
        match self.kind:
            case Kind.RELEASE:
                event: dict[str, Any] = {"action": "published", "release": self._release()}
            case Kind.IGNORED:
                event = {"action": "opened", "issue": {"number": 1}}
            case _:
                event = self._push()
        return json.dumps(event | {"repository": repository}).encode()

    def _release(self) -> dict[str, Any]:
        return {
            "tag_name": self.tag,
            "name": None,
            "body": None,
            "prerelease": False,
            "draft": False,
            "published_at": "2026-01-01T12:00:00Z",
            "html_url": f"{_PAGE}/releases/tag/{self.tag}",
        }

    def _push(self) -> dict[str, Any]:
        sha = self.marker
        commit = {
            "id": sha,
            "message": "chore(release): 1.0.0" if self.kind is Kind.CHORE else f"feat: add lamp {sha[:12]}",
            "author": {"name": "Ada", "email": "ada@example.com"},
            "timestamp": "2026-01-01T12:00:00Z",
            "url": f"{_PAGE}/commit/{sha}",
        }
        branch = "aside" if self.kind is Kind.FILTERED else "main"
        return {"ref": f"refs/heads/{branch}", "commits": [commit], "head_commit": commit}


@final
class Traffic:
    """Creates deliveries. The seed decides the deliveries, and the network decides their order of arrival."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._sent: list[Sending] = []
        self._tags: list[str] = []

    def next(self) -> Sending:
        """Create the next delivery, or send a copy of an earlier one."""
        drawn = self._chance.random()
        if drawn < 0.2 and self._sent:
            # A copy: most of them genuine, and likely of a delivery that is being processed right now.
            among = self._sent[-_RECENT:] if self._chance.random() < 0.6 else self._sent
            copied = self._chance.choice(among)
            forged = self._chance.random() < 0.2
            return Sending(delivery=copied.delivery, kind=copied.kind, tag=copied.tag, forged=forged)
        created = self._new()
        if not created.forged:
            self._sent.append(created)
        return created

    def _new(self) -> Sending:
        kinds = (Kind.PUSH, Kind.CHORE, Kind.RELEASE, Kind.FILTERED, Kind.IGNORED)
        kind = self._chance.choices(kinds, weights=(50, 10, 20, 12, 8))[0]
        delivery = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        forged = self._chance.random() < 0.06
        tag = self._tag(forged=forged) if kind is Kind.RELEASE else ""
        return Sending(delivery=delivery, kind=kind, tag=tag, forged=forged)

    def _tag(self, *, forged: bool) -> str:
        if self._tags and self._chance.random() < 0.3:
            return self._chance.choice(self._tags[-_RECENT:])
        tag = f"v{self._chance.getrandbits(64):020d}"
        if not forged:
            self._tags.append(tag)
        return tag


@final
@frozen(kw_only=True)
class Attempt:
    """One request, and its answer, if there was one."""

    sending: Sending
    #: ``None``: no answer came.
    status: int | None = None
    #: `processed`, `duplicate`, `filtered`, `ignored`, or an error's text.
    answer: str = ""

    @property
    def is_acknowledged(self) -> bool:
        return self.status is not None and (self.status < 300 or (self.sending.forged and self.status == 401))

    @property
    def is_open(self) -> bool:
        """Check whether the outcome is unknown: no answer, or 503."""
        return self.status in {None, 503}

    @property
    def is_as_expected(self) -> bool:
        """Check whether the answer is allowed for such a delivery; 503 always is."""
        if self.is_open:
            return True
        if self.sending.forged:
            return (self.status, self.answer) == (401, "Invalid webhook signature")
        allowed = {"processed", "duplicate"} if self.sending.kind.is_processed else {self.sending.kind.value}
        return self.status == 200 and self.answer in allowed


def read_answer(status: int, body: dict[str, Any]) -> str:
    """Return the outcome of an answer as one word, or the text of an error."""
    if status != 200:
        return str(body.get("error"))
    if body["message"] == DUPLICATE:
        return "duplicate"
    return next((kind for kind in ("processed", "filtered", "ignored") if body["data"].get(kind)), body["message"])


@final
class Ledger:
    """A file with a line for each attempt and each answer. A line is on the disk before the next action."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8")
        self._numbers = 0

    def close(self) -> None:
        self._file.close()

    def intend(self, sending: Sending) -> int:
        """Write an attempt; return its number."""
        self._numbers += 1
        self._write(
            attempt=self._numbers,
            delivery=sending.delivery,
            kind=sending.kind.value,
            tag=sending.tag,
            forged=sending.forged,
        )
        return self._numbers

    def answered(self, attempt: int, status: int, answer: str) -> None:
        """Write the result of an attempt."""
        self._write(attempt=attempt, status=status, answer=answer)

    def _write(self, **line: object) -> None:
        self._file.write(f"{json.dumps(line)}\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def read_ledger(path: Path) -> list[Attempt]:
    """Read a ledger, in the order of its attempts."""
    attempts: dict[int, Attempt] = {}
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        number = int(entry["attempt"])
        if "kind" in entry:
            sending = Sending(
                delivery=entry["delivery"], kind=Kind(entry["kind"]), tag=entry["tag"], forged=entry["forged"]
            )
            attempts[number] = Attempt(sending=sending)
        else:
            attempts[number] = Attempt(sending=attempts[number].sending, status=entry["status"], answer=entry["answer"])
    return list(attempts.values())


def unacknowledged(attempts: Iterable[Attempt]) -> list[Sending]:
    """Return the unacknowledged deliveries, each once."""
    sent: dict[Sending, bool] = {}
    for attempt in attempts:
        sent[attempt.sending] = sent.get(attempt.sending, False) or attempt.is_acknowledged
    return [sending for sending, acknowledged in sent.items() if not acknowledged]
