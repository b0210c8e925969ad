"""The check of peers finds each omitted part of a peer in memory, and accepts a complete one."""

import hashlib
import hmac
import json
from typing import Any, Final

import httpx
import pytest
from benchmarks.material import Hook
from benchmarks.peers.work import COPIES, Subject, faults_of

HOOK: Final = Hook(
    organization="org_1", integration="int_1", repository="acme/lighthouse", repository_id=4242, secret="a secret"
)
DAY_MS: Final = 86_400_000


class Peer:
    """A minimal receiver; `without` names omitted features."""

    def __init__(self, without: str = "") -> None:
        self.without = without
        self.rows: dict[str, int] = dict.fromkeys(("claims", "events", "contexts", "runs", "logs"), 0)
        self.claimed: set[str] = set()
        self.triggers = 1

    def execute(self, statement: str) -> None:
        if "triggers" in statement and self.without != "fresh look-ups":
            self.triggers = 0
        if "claims" in statement and self.without != "the window":
            assert str(DAY_MS) in statement
            self.aged, self.claimed = self.claimed, set()

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path != HOOK.path:
            return httpx.Response(404, json={"error": "Integration not found"})
        body, id_ = request.content, request.headers["X-Host-Delivery"]
        if self.without != "duplicate log entries" or id_ not in self.claimed:
            self.rows["logs"] += 1
        expected = f"sha256={hmac.new(HOOK.secret.encode(), body, hashlib.sha256).hexdigest()}"
        signature = request.headers.get("X-Hub-Signature-256", expected if self.without == "missing signatures" else "")
        if signature != expected and (self.without != "signatures" or not signature):
            return httpx.Response(401, json={"error": "Invalid webhook signature"})
        push = json.loads(body)
        data: dict[str, Any] = {"event": "push", "delivery": id_}
        if push["ref"] != "refs/heads/main" and self.without != "filters":
            return received(data | {"filtered": True})
        if id_ in self.claimed and self.without != "claims":
            return received(data | {"duplicate": True})
        self.process(id_)
        return received(data | {"processed": {"type": "push", "action": "pushed", "data": self.data(push)}})

    def process(self, id_: str) -> None:
        self.rows["claims"] += id_ not in getattr(self, "aged", ())
        self.claimed.add(id_)
        self.rows["events"] += 1
        self.rows["contexts"] += self.without != "context records"
        self.rows["runs"] += self.triggers

    def data(self, push: dict[str, Any]) -> dict[str, Any]:
        names = ("id", "message", "author", "timestamp", "url")
        commits = [{name: commit[name] for name in names} for commit in push["commits"]]
        if self.without == "all commits":
            commits = commits[:1]
        head = {name: push["head_commit"][name] for name in ("id", "message")}
        return {"ref": push["ref"], "branch": "main", "commits": commits, "headCommit": head}


def received(data: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"received": True, "message": "…", "data": data})


async def faults(peer: Peer) -> list[str]:
    transport = httpx.MockTransport(peer.answer)
    async with httpx.AsyncClient(base_url="http://peer.invalid", transport=transport) as client:
        return await faults_of(Subject(client=client, hook=HOOK, counted=lambda: dict(peer.rows), execute=peer.execute))


async def test_a_peer_that_does_the_work_has_no_fault() -> None:
    assert await faults(Peer()) == []


@pytest.mark.parametrize(
    ("without", "fault"),
    [
        ("signatures", "a wrong signature is answered 200 instead of 401"),
        ("missing signatures", "no signature is answered 200 instead of 401"),
        ("filters", "a push to another branch leaves"),
        ("claims", f"{COPIES} concurrent copies were answered {{(200, False): {COPIES}}}"),
        ("duplicate log entries", "a duplicate leaves"),
        ("context records", "a push leaves"),
        ("all commits", "the answer to a push tells another event"),
        ("the window", "an id that is a day old is not processed again"),
        ("fresh look-ups", "a push without a trigger leaves"),
    ],
)
async def test_the_missing_features_of_a_peer_are_named(without: str, fault: str) -> None:
    assert [each for each in await faults(Peer(without)) if each.startswith(fault)]
