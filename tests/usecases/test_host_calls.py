"""Calls to code hosts: their requests, time limits and log entries."""

from datetime import datetime, timedelta
from typing import Any, Final, Self

import pytest
from attrs import evolve
from tests.code_host_server import CodeHostServer
from tests.refusals import accepted, message_of, the_refusal
from tests.usecases.conftest import Between, World
from tests.usecases.offices import BASE_URL, NAME, NUMBER, Office, office_of

from contentsvc_core import LogEntry, LogStatus
from contentsvc_core.code_hosts import (
    Hook,
    HookAccess,
    HostAnswer,
    HostDeliveries,
    HostDelivery,
    HostFault,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.journal import Direction
from contentsvc_core.organizations import Integration
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.usecases.connect import UNKNOWN, Connected, Disconnected, HookRemoval
from contentsvc_core.usecases.reconcile import Missed, MissedEnd, Reconciled
from contentsvc_core.usecases.rotate import Rotated

_TOKEN: Final = "ghp_scripted"
_AWAY: Final = HostRefusal(fault=HostFault.UNREACHABLE, reason="no answer")
_FORBIDDEN: Final = HostRefusal(fault=HostFault.NO_ACCESS, reason="forbidden", status=403)
_GONE: Final = HostRefusal(fault=HostFault.NO_ACCESS, reason="not found", status=404)
_DONE: Final[HostAnswer[None]] = HostAnswer(value=None, status=204)


class ScriptedHost:
    """A code host that records calls, and answers by a script, or with success."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "repository": HostAnswer(
                value=RemoteRepository(id=NUMBER, full_name=NAME, default_branch="trunk"), status=200
            ),
            "create_hook": HostAnswer(value="h-1", status=201),
            "find_hook": HostAnswer(value="h-2", status=200),
            **answers,
        }
        self.calls: list[tuple[object, ...]] = []
        self.limits: list[float] = []

    def within(self, limit_s: float, *, limit_bytes: float = 0) -> Self:  # noqa: ARG002  # no limit is reached
        self.limits.append(limit_s)
        return self

    def _answer(self, name: str, *given: object) -> Any:
        self.calls.append((name, *given))
        answer = self.answers.get(name, _DONE)
        if name == "redeliver":
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def repository(self, full_name: str, *, token: str | None) -> Any:
        return self._answer("repository", full_name, token)

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> Any:
        return self._answer("create_hook", full_name, hook.url, hook.secret, token)

    async def find_hook(self, full_name: str, path: str, *, token: str) -> Any:
        return self._answer("find_hook", full_name, path, token)

    async def change_secret(self, full_name: str, hook_id: str, secret: str, *, token: str) -> Any:
        return self._answer("change_secret", full_name, hook_id, secret, token)

    async def remove_hook(self, full_name: str, hook_id: str, *, token: str) -> Any:
        return self._answer("remove_hook", full_name, hook_id, token)

    async def deliveries(self, full_name: str, hook_id: str, *, since: datetime, token: str) -> Any:
        return self._answer("deliveries", full_name, hook_id, since, token)

    async def redeliver(self, full_name: str, hook_id: str, attempt_id: str, *, token: str) -> Any:
        return self._answer("redeliver", full_name, hook_id, attempt_id, token)


@pytest.fixture
def host() -> ScriptedHost:
    return ScriptedHost()


def office(world: World, host: ScriptedHost | None, **more: Any) -> Office:
    scripted: Any = host
    # No server runs: every call fails at once.
    server: Any = CodeHostServer
    return office_of(world, server, scripted, **more)


async def connected(world: World, host: ScriptedHost) -> Connected:
    created = accepted(await office(world, host).connect(_TOKEN))
    host.calls.clear()
    host.limits.clear()
    return created


def path_of(integration: Integration) -> str:
    return f"/api/webhooks/github/{integration.organization_id}/{integration.id}/{NUMBER}"


async def last_entry(world: World) -> LogEntry:
    return (await world.stores.journal.entries(world.organization.id))[0]


async def test_a_repository_is_read_and_its_hook_is_made(world: World, host: ScriptedHost) -> None:
    created = accepted(await office(world, host, patience_s=9.0).connect(_TOKEN))

    assert (created.created_at_host, created.url) == (True, f"{BASE_URL}{path_of(created.integration)}")
    assert created.integration.repositories[0].branch == "trunk"
    assert host.calls == [("repository", NAME, _TOKEN), ("create_hook", NAME, created.url, created.secret, _TOKEN)]
    # A third of the time is reserved for cleaning up.
    assert host.limits == [pytest.approx(6.0)]
    entry = await last_entry(world)
    assert entry == LogEntry(
        id=entry.id,
        organization_id=world.organization.id,
        integration_id=created.integration.id,
        repository_id=NUMBER,
        reference_id=None,
        title="Webhook creation",
        integration_type="github",
        direction=Direction.OUTGOING,
        status=LogStatus.SUCCESS,
        status_code=201,
        detail={"operation": "create_hook", "repository": NAME},
        created_at=world.clock.now(),
    )
    assert entry.id.startswith("log_")
    access = await world.stores.hooks.access(world.organization.id, created.integration.id)
    assert access == HookAccess(hook_id="h-1", token=_TOKEN)
    for secret in (_TOKEN, created.secret):
        assert secret not in repr((created, access, entry))


@pytest.mark.parametrize(
    ("answers", "operations", "reason"),
    [
        ({"create_hook": _FORBIDDEN}, ["repository", "create_hook"], "forbidden"),
        # The hook may have been created: the service looks for it, and deletes it.
        ({"create_hook": _AWAY}, ["repository", "create_hook", "find_hook", "remove_hook"], "no answer"),
        (
            {"create_hook": _AWAY, "find_hook": HostAnswer(value=None, status=200)},
            ["repository", "create_hook", "find_hook"],
            "no answer",
        ),
        (
            {"create_hook": _AWAY, "find_hook": _AWAY},
            ["repository", "create_hook", "find_hook"],
            "no answer; a webhook may be left there: remove the one that delivers to {url}",
        ),
        (
            {"create_hook": _AWAY, "remove_hook": _FORBIDDEN},
            ["repository", "create_hook", "find_hook", "remove_hook"],
            "no answer; a webhook may be left there: remove the one that delivers to {url}",
        ),
    ],
)
async def test_a_hook_that_cannot_be_made_leaves_no_integration(
    world: World, answers: dict[str, Any], operations: list[str], reason: str
) -> None:
    host = ScriptedHost(**answers)

    refused = the_refusal(await office(world, host, patience_s=9.0).connect(_TOKEN))

    url = next(each[2] for each in host.calls if each[0] == "create_hook")
    assert refused.message() == reason.format(url=url)
    assert [each[0] for each in host.calls] == operations
    assert host.limits == [pytest.approx(6.0), *([pytest.approx(3.0)] if "find_hook" in operations else [])]
    entry = await last_entry(world)
    assert (entry.status, entry.status_code, entry.error_message) == (
        LogStatus.FAILED,
        403 if reason == "forbidden" else None,
        refused.message(),
    )
    assert await world.stores.directory.integrations(world.organization.id) == [world.connection.integration]


async def test_an_internal_fault_is_logged_without_its_message_and_leaves_nothing(world: World) -> None:
    host = ScriptedHost(create_hook=RuntimeError("with a token in it"))

    with pytest.raises(RuntimeError):
        await office(world, host).connect(_TOKEN)

    entry = await last_entry(world)
    assert (entry.status, entry.status_code) == (LogStatus.FAILED, None)
    assert entry.error_message == "a fault of ours: RuntimeError"
    assert [each[0] for each in host.calls] == ["repository", "create_hook", "find_hook", "remove_hook"]
    assert await world.stores.directory.integrations(world.organization.id) == [world.connection.integration]


async def test_the_facts_of_the_code_host_decide(world: World, host: ScriptedHost) -> None:
    # With an id and no token, the code host is not called.
    by_hand = accepted(await office(world, host).connect(None, name="acme/buoy", number=8))
    assert (by_hand.integration.repositories[0].branch, host.calls) == (None, [])
    other = await office(world, host).connect(_TOKEN, number=7)
    assert message_of(other) == f"the code host knows '{NAME}' by the id {NUMBER}, not 7"
    named = accepted(await office(world, host).connect(_TOKEN, number=NUMBER, branch="stable"))
    assert named.integration.repositories[0].branch == "stable"
    unread = await office(world, ScriptedHost(repository=_FORBIDDEN)).connect(_TOKEN)
    assert unread == _FORBIDDEN.refusal


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"token": "two words"}, "the token must be 1 to 1000 visible ASCII characters, without spaces"),
        ({"token": "x" * 1_001}, "the token must be 1 to 1000 visible ASCII characters, without spaces"),
        ({"branch": ""}, "a branch's name is one line of 1 to 255 characters"),
        ({"branch": " main"}, "a branch's name is one line of 1 to 255 characters"),
        ({"branch": "x" * 256}, "a branch's name is one line of 1 to 255 characters"),
        ({"name": "acme"}, "'acme' is not of the form OWNER/NAME"),
    ],
)
async def test_an_invalid_connection_is_refused_before_any_call(
    world: World, host: ScriptedHost, given: dict[str, Any], reason: str
) -> None:
    arguments: dict[str, Any] = {"token": _TOKEN, **given}
    assert message_of(await office(world, host).connect(**arguments)) == reason
    assert host.calls == []
    accepted(await office(world, host).connect("x" * 1_000, branch="x" * 255))


async def test_without_an_api_a_repository_is_connected_by_hand(world: World) -> None:
    nowhere = office(world, None)
    refused = await nowhere.connect(_TOKEN, number=7)
    assert refused == Refusal(
        RefusalKind.HOST_REFUSED,
        (
            "the API of 'github' is not configured: set CONTENTSVC_GITHUB_API_URL, "
            "or give the repository's id and no token"
        ),
        "repository_id",
    )
    by_hand = accepted(await nowhere.connect(None, number=7))
    assert (by_hand.created_at_host, by_hand.integration.repositories[0].id) == (False, 7)
    rotated = await nowhere.rotate(by_hand, hours=1)
    assert rotated == Rotated(
        integration=by_hand.integration,
        secret=rotated.secret,
        overlap_until=world.clock.now() + timedelta(hours=1),
        at_host=None,
    )
    assert await nowhere.reconcile(by_hand) == Refusal(
        RefusalKind.UNSUITABLE,
        "the integration has no token: request missed deliveries on the webhook's page at the code host",
    )
    gone = await nowhere.disconnect(by_hand)
    assert gone == Disconnected(id=by_hand.integration.id, removed=gone.removed, hook=HookRemoval.BY_HAND)


@pytest.mark.parametrize(
    ("answers", "operations", "end", "refusal"),
    [
        ({}, ["remove_hook h-1"], HookRemoval.REMOVED, None),
        ({"remove_hook": _FORBIDDEN}, ["remove_hook h-1"], HookRemoval.LEFT, _FORBIDDEN),
        # The hook is missing or invisible: the list of hooks shows which.
        ({"remove_hook": _GONE}, ["remove_hook h-1", "find_hook"], HookRemoval.LEFT, _GONE),
        (
            {"remove_hook": _GONE, "find_hook": HostAnswer(value=None, status=200)},
            ["remove_hook h-1", "find_hook"],
            HookRemoval.REMOVED,
            None,
        ),
        ({"remove_hook": _GONE, "find_hook": _AWAY}, ["remove_hook h-1", "find_hook"], HookRemoval.LEFT, _GONE),
    ],
)
async def test_a_hook_is_removed_as_far_as_the_code_host_lets_us(
    world: World,
    host: ScriptedHost,
    answers: dict[str, Any],
    operations: list[str],
    end: HookRemoval,
    refusal: HostRefusal | None,
) -> None:
    created = await connected(world, host)
    host.answers |= answers

    gone = await office(world, host).disconnect(created)

    assert gone == Disconnected(id=created.integration.id, removed=gone.removed, hook=end, refusal=refusal)
    assert [" ".join(map(str, (each[0], *each[2:-1]))).split(" /")[0] for each in host.calls] == operations
    entry = await last_entry(world)
    assert (entry.title, entry.payload) == ("Webhook removal", {"operation": "remove_hook", "repository": NAME})
    assert await world.stores.directory.integration(world.organization.id, created.integration.id) is None
    for unknown in (created.integration.id, "no id"):
        assert await office(world, host).connector.disconnect(world.organization.id, unknown) is None


async def test_a_secret_is_changed_at_the_hook_that_was_noted(world: World, host: ScriptedHost) -> None:
    created = await connected(world, host)

    rotated = await office(world, host).rotate(created, hours=2)

    assert rotated.at_host == _DONE
    assert host.calls == [("change_secret", NAME, "h-1", rotated.secret, _TOKEN)]
    entry = await last_entry(world)
    assert (entry.title, entry.payload) == ("Webhook secret change", {"operation": "change_secret", "repository": NAME})
    assert (entry.status, entry.status_code) == (LogStatus.SUCCESS, 204)
    for unknown in ("int_unknown", "no id"):
        outcome = await office(world, host).rotator.rotate(world.organization.id, unknown, overlap=timedelta())
        assert outcome == UNKNOWN


async def test_an_integration_that_is_removed_while_its_secret_is_rotated_is_unknown(
    world: World, host: ScriptedHost
) -> None:
    created = await connected(world, host)
    owner, stores = world.organization.id, world.stores

    async def beside() -> None:
        await stores.directory.remove_integration(owner, created.integration.id)

    hooks: Any = Between(stores.hooks, "rotate_secret", beside)
    rotator = office(world, host, hooks=hooks).rotator
    assert await rotator.rotate(owner, created.integration.id, overlap=timedelta()) == UNKNOWN
    assert host.calls == []


async def test_an_unreadable_token_is_reported(world: World, host: ScriptedHost) -> None:
    created = await connected(world, host)

    async def unreadable(*_: object) -> HookAccess:
        message = "sealed with another key"
        raise SecretUnreadable(message)

    world.stores.hooks.access = unreadable  # pyright: ignore[reportAttributeAccessIssue]
    refusal = HostRefusal(fault=HostFault.NO_ACCESS, reason="sealed with another key")
    assert (await office(world, host).rotate(created)).at_host == refusal
    assert await office(world, host).reconcile(created) == refusal.refusal
    gone = await office(world, host).disconnect(created)
    assert (gone.hook, gone.refusal, host.calls) == (HookRemoval.LEFT, refusal, [])


def _attempt(id_: str, delivery_id: str, minutes: int, at: datetime) -> HostDelivery:
    return HostDelivery(
        id=id_,
        delivery_id=delivery_id,
        event="push",
        action=None,
        status_code=504,
        delivered_at=at - timedelta(minutes=minutes),
    )


@pytest.mark.parametrize(
    ("second", "ends", "redelivered"),
    [
        (_DONE, [MissedEnd.REQUESTED] * 3, 3),
        (_FORBIDDEN, [MissedEnd.REQUESTED, MissedEnd.REFUSED, MissedEnd.REQUESTED], 3),
        (_AWAY, [MissedEnd.REQUESTED, MissedEnd.REFUSED, MissedEnd.NOT_REQUESTED], 2),
        (
            evolve(_AWAY, fault=HostFault.RATE_LIMITED),
            [MissedEnd.REQUESTED, MissedEnd.REFUSED, MissedEnd.NOT_REQUESTED],
            2,
        ),
    ],
)
async def test_missed_deliveries_are_requested_in_order(
    world: World, host: ScriptedHost, second: Any, ends: list[MissedEnd], redelivered: int
) -> None:
    created = await connected(world, host)
    now = world.clock.now()
    attempts = [_attempt(f"a-{n}", f"d-{n}", 9 - n, now) for n in range(3)]
    host.answers |= {
        "deliveries": HostAnswer(value=HostDeliveries(attempts=attempts, complete=False), status=200),
        "redeliver": [_DONE, second, _DONE],
    }

    done = await office(world, host).reconcile(created)

    refusal = second if isinstance(second, HostRefusal) else None
    assert done == Reconciled(
        missed=[
            Missed(attempt=attempt, repository=NAME, end=end, refusal=None if end is MissedEnd.REQUESTED else refusal)
            for attempt, end in zip(attempts, ends, strict=True)
        ],
        complete=False,
    )
    assert host.calls == [
        ("deliveries", NAME, "h-1", now - timedelta(hours=72), _TOKEN),
        *(("redeliver", NAME, "h-1", f"a-{n}", _TOKEN) for n in range(redelivered)),
    ]
    # Without a waiting user, there is no time limit.
    assert host.limits == []
    entries = [each for each in await world.stores.journal.entries(world.organization.id) if "Redel" in each.title]
    assert [entry.reference_id for entry in reversed(entries)] == [f"d-{n}" for n in range(redelivered)]
    assert entries[0].payload == {"operation": "redeliver", "repository": NAME}


async def test_reconciling_while_a_client_waits_has_the_time_of_one_request(world: World, host: ScriptedHost) -> None:
    made = await connected(world, host)
    host.answers["deliveries"] = HostAnswer(value=HostDeliveries(attempts=[], complete=True), status=200)

    reconciler = office(world, host).reconciler
    done = await reconciler.reconcile(world.organization.id, made.integration.id, patient=False)

    assert done == Reconciled(missed=[], complete=True)
    assert host.limits == [pytest.approx(20)]


async def test_an_unavailable_list_of_deliveries_has_its_reason(world: World, host: ScriptedHost) -> None:
    created = await connected(world, host)
    forgotten = HookAccess(hook_id=None, token=_TOKEN)

    async def access(*_: object) -> HookAccess:
        return forgotten

    world.stores.hooks.access = access  # pyright: ignore[reportAttributeAccessIssue]
    host.answers["find_hook"] = HostAnswer(value=None, status=200)
    refused = await office(world, host).reconcile(created)
    assert refused == Refusal(
        RefusalKind.HOST_REFUSED,
        "the code host has no webhook that delivers here: it was removed there; connect the repository again",
    )
    assert host.calls == [("find_hook", NAME, path_of(created.integration), _TOKEN)]
    host.answers |= {"find_hook": HostAnswer(value="h-2", status=200), "deliveries": _FORBIDDEN}
    assert await office(world, host).reconcile(created) == _FORBIDDEN.refusal
    for unknown in ("int_unknown", "no id"):
        assert await office(world, host).reconciler.reconcile(world.organization.id, unknown) == UNKNOWN
