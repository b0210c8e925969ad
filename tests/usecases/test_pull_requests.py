"""Runs that ask the code host for the pull requests of their commits: once, and without failing."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from copy import copy
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve, frozen
from msgspec.structs import replace as evolve_push
from tests.builders import a_release
from tests.code_host_server import TOKEN, CodeHostServer, Fault, HostPull, at_github
from tests.forwarding import Failing
from tests.performing import performer_over
from tests.usecases import test_generate
from tests.usecases.conftest import World
from tests.usecases.offices import BASE_URL, NAME, NUMBER, Office, office_of
from tests.usecases.test_perform import taken

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_adapters.engine.inline import InlineExecution
from contentsvc_core import Brief, LogStatus, Processed, RunStatus, Trigger
from contentsvc_core.code_hosts import (
    CommitRange,
    HostAnswer,
    HostCommits,
    HostFault,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.content.writing import Chapter
from contentsvc_core.errors import SecretUnreadable, StoreUnavailable
from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push
from contentsvc_core.ports import Hooks
from contentsvc_core.testing import PlainSteps, address, push_body, release_body, signed
from contentsvc_core.usecases.briefs import BriefSources
from contentsvc_core.usecases.code_host_service import CodeHostService
from contentsvc_core.usecases.connect import Connected
from contentsvc_core.usecases.pull_requests import MAX_COMMITS_READ, MAX_PULL_REQUESTS, PullRequestReader
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.triggers import CreateTrigger


class Recorder(test_generate.Recorder):
    """A writer that records its briefs, and fails a number of times."""

    costly = False

    @property
    def pull_requests(self) -> Mapping[int, PullRequest]:
        """Return the pull requests of the last brief."""
        return {number: each for chapter in self.briefs[-1].chapters for number, each in chapter.pull_requests.items()}


@frozen(kw_only=True)
class Setup:
    """An office that also performs its runs."""

    office: Office
    writer: Recorder
    made: Connected
    hosts: Any

    @property
    def world(self) -> World:
        return self.office.world

    @property
    def server(self) -> CodeHostServer:
        return self.office.server

    def performer(self, hooks: Hooks | None = None) -> Any:
        """Create a performer, as after a restart."""
        world, stores = self.world, self.world.stores
        calls = CodeHostService(
            self.hosts, hooks or stores.hooks, stores.journal, world.clock, world.ids, base_url=BASE_URL
        )
        reader = PullRequestReader(stores.directory, calls, world.clock)
        return performer_over(stores, world.clock, world.ids, self.writer, pull_requests=reader)

    async def deliver(self, delivery_id: str, body: dict[str, Any], event: str = "push") -> None:
        integration = self.made.integration
        at = address("github", integration.organization_id, integration.id, NUMBER)
        delivery = signed(body, at=at, secret=self.made.secret, event=event, delivery_id=delivery_id)
        outcome = await self.world.receiver.receive(delivery)
        assert isinstance(outcome, Processed), outcome

    async def push(self, *messages: str, delivery_id: str = "d-1", name: str = NAME) -> None:
        await self.deliver(delivery_id, push_body(*messages, repository_id=NUMBER, repository=name))

    async def perform(self, performer: Any = None) -> list[RunStatus]:
        """Perform the due runs; return their statuses, oldest first."""
        performer = performer or self.performer()
        for run in await taken(self.world):
            await performer.perform(run, PlainSteps())
        runs = await self.world.stores.ledger.runs(self.world.organization.id)
        return [run.status for run in reversed(runs)]

    async def entries(self) -> list[tuple[str, LogStatus, int | None]]:
        return [(each.title, each.status, each.status_code) for each in (await self.office.calls())[1:]]

    def queries(self) -> int:
        return len(self.server.did("POST", "graphql"))


@pytest.fixture
async def setup(world: World) -> AsyncGenerator[Setup]:
    with CodeHostServer() as server:
        host = RestCodeHost(server.api_url, timeout_s=5.0)
        office = office_of(world, server, host)
        made = await office.connected()
        trigger = await world.triggers.create(
            world.organization.id, CreateTrigger(repository_ids=[NUMBER], provider="github")
        )
        assert isinstance(trigger, Trigger), trigger

        yield Setup(office=office, writer=Recorder(), made=made, hosts=at_github(host))
        await host.close()


async def test_a_run_is_given_the_pull_requests_that_its_subjects_name(setup: Setup) -> None:
    setup.server.add(
        HostPull(number=12, title="A lamp", labels=("bug",), author="new"), HostPull(number=13), HostPull(number=14)
    )

    await setup.push(
        "feat: lamp (#12)\n\nSee (#14).", "Merge pull request #13 from ada/lamp", "fix: leak (fixes #14)", "x (#99)"
    )

    assert await setup.perform() == [RunStatus.COMPLETED]
    (brief,) = setup.writer.briefs
    assert list(setup.writer.pull_requests) == [13, 12]
    assert brief.chapters[0].pull_requests[12] == PullRequest(
        number=12, title="A lamp", labels=("bug",), author="new", first_contribution=True, merged_sha="a" * 40
    )
    # A successful read has no log entry.
    assert await setup.entries() == []


async def test_a_push_without_a_number_may_be_a_rebased_pull_request(setup: Setup) -> None:
    body = push_body("feat: lamp", "feat: wick", repository_id=NUMBER, repository=NAME)
    setup.server.add(HostPull(number=12, sha=body["head_commit"]["id"]))

    await setup.deliver("d-1", body)

    assert await setup.perform() == [RunStatus.COMPLETED]
    assert list(setup.writer.pull_requests) == [12]


async def test_a_release_asks_for_the_pull_requests_since_the_one_before_and_the_newest_first(setup: Setup) -> None:
    for delivery in range(3):
        numbers = range(delivery * 60 + 1, delivery * 60 + 61)
        setup.server.add(*(HostPull(number=number) for number in numbers))
        await setup.push(*(f"fix: lamp (#{number})" for number in numbers), delivery_id=f"d-{delivery}")
    await setup.perform()
    await setup.deliver("d-9", release_body("v2", repository_id=NUMBER, repository=NAME), "release")

    await setup.perform()

    assert sorted(setup.writer.pull_requests) == list(range(180 - MAX_PULL_REQUESTS + 1, 181))


async def test_a_run_that_is_tried_again_does_not_ask_again(setup: Setup) -> None:
    setup.server.add(HostPull(number=12))
    await setup.push("feat: lamp (#12)")
    stores = setup.world.stores
    engine = InlineExecution(stores.ledger, stores.run_state)
    setup.writer.fails = 1
    (run,) = await taken(setup.world)
    performer = setup.performer()
    with pytest.raises(RuntimeError):
        await engine.perform(run, performer)
    await performer.failed(run, RuntimeError())
    queries = setup.queries()
    setup.server.pulls.clear()
    setup.world.clock.advance(timedelta(minutes=1))

    # The same holds for another process.
    (run,) = await taken(setup.world)
    await engine.perform(run, setup.performer())

    first, second = setup.writer.briefs
    assert first == second
    assert list(setup.writer.pull_requests) == [12]
    assert setup.queries() == queries == 2


async def test_events_without_pull_requests_cost_no_step(setup: Setup) -> None:
    await setup.deliver("d-1", release_body("v1", repository_id=NUMBER, repository=NAME), "release")
    (run,) = await taken(setup.world)

    class NoSteps:
        async def run(self, name: str, step: object) -> str:
            raise AssertionError(name, step)

    await setup.performer().perform(run, NoSteps())

    assert len(setup.writer.briefs) == 1
    assert setup.queries() == 0


@pytest.mark.parametrize(
    ("fault", "status", "pause_s"),
    [
        (Fault(status=403, headers={"Retry-After": "17"}), 403, 17),
        (Fault(status=429, headers={"Retry-After": "99999"}), 429, 3600),
        (Fault(status=401), 401, 3600),
        (Fault(status=502), 502, 60),
        (Fault(status=200, body=b"<html>a login page</html>"), 200, 60),
        (Fault(status=200, body=b'"' + b"x" * (4 * 1024**2)), 200, 60),
    ],
    ids=["limit", "long limit", "token", "away", "strange", "oversized"],
)
async def test_a_refusal_of_the_code_host_is_reported_once_and_the_post_is_written(
    setup: Setup, fault: Fault, status: int, pause_s: int
) -> None:
    setup.server.add(HostPull(number=12))
    setup.server.fault = evolve(fault, path="graphql")
    performer = setup.performer()
    for delivery in range(3):
        # While a refusal is fresh, no call is made.
        await setup.push("feat: lamp (#12)", delivery_id=f"d-{delivery}")
        await setup.perform(performer)

    assert len(setup.writer.briefs) == 3
    assert setup.writer.pull_requests == {}
    assert setup.queries() == 1
    assert await setup.entries() == [("Pull request lookup", LogStatus.FAILED, status)]
    (_, entry) = await setup.office.calls()
    assert entry.payload == {"operation": "read_pull_requests", "repository": NAME}
    assert TOKEN not in repr(entry)

    setup.server.fault = None
    for seconds, found in ((pause_s - 1, []), (1, [12])):
        setup.world.clock.advance(timedelta(seconds=seconds))
        await setup.push("feat: lamp (#12)", delivery_id=f"later-{seconds}")
        await setup.perform(performer)
        assert list(setup.writer.pull_requests) == found


async def ask(setup: Setup, performer: Any = None) -> list[str]:
    """Request content, perform the run, and return the messages about its progress."""
    setup.world.clock.advance(timedelta(minutes=1))
    job = await test_generate.ask(setup.world)
    await setup.perform(performer)
    followed = await test_generate.follow(setup.world, job)
    return [event.message for event in followed.events if event.type.value == "generating_content"]


async def test_the_events_of_a_job_name_the_reason_for_missing_pull_requests(setup: Setup) -> None:
    setup.server.add(HostPull(number=12))
    await setup.push("feat: lamp (#12)")

    assert await ask(setup) == ["Writing"]
    assert list(setup.writer.pull_requests) == [12]
    setup.server.fault = Fault(status=502, path="graphql")
    performer = setup.performer()
    for _ in range(2):
        # The second time, no call is made.
        assert await ask(setup, performer) == ["Writing; pull requests are missing: the code host answered 502"]


async def test_without_a_token_the_code_host_is_not_called_and_the_run_mentions_it(setup: Setup) -> None:
    setup.server.add(HostPull(number=12))
    await setup.push("feat: lamp (#12)")
    await setup.world.stores.directory.enable_integration(
        setup.world.organization.id, setup.made.integration.id, enabled=False
    )
    off = await ask(setup)
    await setup.office.disconnect(setup.made)
    gone = await ask(setup)
    by_hand = await setup.office.connected(None, number=NUMBER)
    await evolve(setup, made=by_hand).push("feat: lamp (#12)", delivery_id="d-2")

    assert await ask(setup) == [f"Writing; pull requests are missing: the integration of {NAME} has no token"]
    assert off == [f"Writing; pull requests are missing: the integration of {NAME} is disabled"]
    # The request was for all connected repositories.
    assert gone == ["Writing"]
    assert setup.writer.pull_requests == {}
    assert setup.queries() == 0


async def test_an_api_that_is_not_configured_is_named(setup: Setup) -> None:
    async def none(_provider: str) -> None:
        return None

    await setup.push("feat: lamp (#12)")

    (message,) = await ask(evolve(setup, hosts=none))

    assert "CONTENTSVC_GITHUB_API_URL" in message
    assert setup.writer.pull_requests == {}


async def test_a_token_that_cannot_be_opened_is_no_end_of_the_run(setup: Setup) -> None:
    hooks: Any = Failing(setup.world.stores.hooks, access=SecretUnreadable("sealed with another key"))
    await setup.push("feat: lamp (#12)")

    assert await setup.perform(setup.performer(hooks)) == [RunStatus.COMPLETED]
    assert setup.writer.pull_requests == {}


async def test_a_store_that_is_away_has_the_run_tried_again(setup: Setup) -> None:
    hooks: Any = Failing(setup.world.stores.hooks, access=StoreUnavailable("away"))
    await setup.push("feat: lamp (#12)")

    with pytest.raises(StoreUnavailable):
        await setup.perform(setup.performer(hooks))
    assert setup.writer.briefs == []


async def test_a_name_that_is_no_name_is_no_part_of_a_path(setup: Setup) -> None:
    await setup.push("feat: lamp (#12)", name="../../orgs/x")

    assert await setup.perform() == [RunStatus.COMPLETED]
    assert setup.queries() == 0


class Lister:
    """A code host that lists the commits of ranges, and records the requested ranges."""

    def __init__(self, *answers: HostCommits) -> None:
        self.answers = list(answers)
        self.ranges: list[tuple[str, CommitRange, str]] = []
        self.limits: list[Lister] = []
        self.repository_id = NUMBER
        self.refusal: HostRefusal | None = None

    def within(self, _seconds: float, *, limit_bytes: float) -> "Lister":
        assert limit_bytes == 32 * 1024 * 1024
        limited = copy(self)
        self.limits.append(limited)
        return limited

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        assert token == TOKEN
        found = RemoteRepository(id=self.repository_id, full_name=full_name, default_branch="main")
        return self.refusal or HostAnswer(value=found, status=200)

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        assert self is self.limits[0], "all repositories of a code host share one time limit"
        self.ranges.append((full_name, commit_range, token))
        return self.answers.pop(0)


def commit(message: str) -> Commit:
    return Commit(id=message, message=message, author=Author(name="Ada", email=""), timestamp="", url="")


def listed(message: str) -> Commit:
    """Return a commit as a list has it, which differs from the delivered one."""
    return evolve_push(commit(message), timestamp="2026-01-01T00:00:00Z")


def _cut(*messages: str, before: str = "0" * 40) -> Push:
    """Return a push of which the code host delivered the newest commits only."""
    commits = tuple(commit(each) for each in messages)
    head = HeadCommit(id=commits[-1].id, message=messages[-1])
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=head, is_cut=True, before=before)


async def _completed(
    setup: Setup, host: Lister, *events: Event, name: str = NAME, before: Sequence[Chapter] = ()
) -> Sequence[Event]:
    """Return the events with the commits that were left out; ``before`` are chapters of unconnected repositories."""

    async def hosts(_provider: str) -> Any:
        return host

    world, stores = setup.world, setup.world.stores
    calls = CodeHostService(hosts, stores.hooks, stores.journal, world.clock, world.ids, base_url=BASE_URL)
    reader = PullRequestReader(stores.directory, calls, world.clock)
    await setup.push("feat: x", delivery_id=f"d-{len(await stores.ledger.runs(world.organization.id))}")
    run = (await stores.ledger.runs(world.organization.id))[0]
    chapters = [*before, Chapter(repository=name, events=events)]
    brief = Brief(content_type=ContentType.CHANGELOG, chapters=chapters)
    sources = [
        Source(provider="github", repository_id=NUMBER if chapter.repository == NAME else index, full_name=name)
        for index, chapter in enumerate(before)
    ]
    source = Source(provider="github", repository_id=NUMBER, full_name=name)
    gathered = BriefSources(brief=brief, delivery_ids=(), sources=(*sources, source))
    read, _ = await reader.read(run, gathered, PlainSteps())
    return read.brief.chapters[-1].events


async def test_commits_that_a_code_host_left_out_are_listed_the_newest_push_first(setup: Setup) -> None:
    older, newer, whole = _cut("feat: c", before="a" * 40), _cut("feat: f"), evolve_push(_cut("feat: g"), is_cut=False)
    deleted, branched = evolve_push(older, head_commit=None), evolve_push(_cut("feat: h", before=""), off_default=True)
    host = Lister(
        HostCommits(found=[commit("feat: d"), commit("feat: e"), listed("feat: f")], is_cut=True),
        HostCommits(found=[commit("feat: b"), listed("feat: c")]),
    )

    release = a_release()
    found = await _completed(setup, host, older, release, whole, deleted, branched, newer)

    assert found == (
        evolve_push(older, commits=(commit("feat: b"), commit("feat: c")), is_cut=False),
        release,
        whole,
        deleted,
        branched,
        evolve_push(newer, commits=(commit("feat: d"), commit("feat: e"), commit("feat: f"))),
    )
    assert newer.head_commit is not None
    assert older.head_commit is not None
    assert host.ranges == [
        (NAME, CommitRange(head=newer.head_commit.id, before="0" * 40, limit=MAX_COMMITS_READ), TOKEN),
        (NAME, CommitRange(head=older.head_commit.id, before="a" * 40, limit=MAX_COMMITS_READ - 3), TOKEN),
    ]


async def test_the_push_that_creates_the_default_branch_has_all_commits_of_its_head(setup: Setup) -> None:
    created = _cut("feat: b", before="")
    host = Lister(HostCommits(found=[commit("feat: a"), listed("feat: b")]))

    assert await _completed(setup, host, created) == (
        evolve_push(created, commits=(commit("feat: a"), commit("feat: b")), is_cut=False),
    )
    assert host.ranges == [(NAME, CommitRange(head="feat: b", before="", limit=MAX_COMMITS_READ), TOKEN)]


async def test_a_list_of_a_rewritten_branch_changes_nothing_and_no_more_than_the_limit_are_read(setup: Setup) -> None:
    first, second = _cut("feat: a"), _cut("feat: b")
    others = [commit(f"feat: {number}") for number in range(MAX_COMMITS_READ)]
    host = Lister(HostCommits(found=others))

    assert await _completed(setup, host, first, second) == (first, second)
    assert len(host.ranges) == 1
    assert await _completed(setup, host, first, name="../x") == (first,)


async def test_another_repositorys_commits_are_not_read(setup: Setup) -> None:
    host = Lister(HostCommits(found=[commit("secret"), commit("feat: a")]))
    host.repository_id = NUMBER + 1
    push = _cut("feat: a")

    assert await _completed(setup, host, push, name="acme/private") == (push,)
    assert host.ranges == []


@pytest.mark.parametrize("of_repository", [False, True])
async def test_a_refused_list_is_logged_and_pauses_the_integration(setup: Setup, *, of_repository: bool) -> None:
    before = await setup.office.calls()
    refusal = HostRefusal(fault=HostFault.UNREACHABLE, reason="it did not answer")
    host = Lister(HostCommits(refusal=refusal))
    if of_repository:
        host.refusal = refusal
    first, second = _cut("feat: a"), _cut("feat: b")

    assert await _completed(setup, host, first, second) == (first, second)
    assert len(host.ranges) == (0 if of_repository else 1)
    assert len(await setup.office.calls()) == len(before) + 1
    entry = (await setup.office.calls())[-1]
    assert (entry.title, entry.status, entry.error_message) == ("Commit lookup", LogStatus.FAILED, "it did not answer")
    assert entry.payload == {"operation": "read_commits", "repository": NAME}


async def test_the_time_limit_is_that_of_a_code_host_and_not_of_a_repository(setup: Setup) -> None:
    first, second = _cut("feat: a"), _cut("feat: b")
    host = Lister(*(HostCommits(found=[commit(each)]) for each in ("feat: a", "feat: b")))

    await _completed(setup, host, second, before=[Chapter(repository=NAME, events=[first])])

    assert len(host.ranges) == 2


async def test_commits_are_listed_past_what_cannot_be_listed(setup: Setup) -> None:
    refusal = HostRefusal(fault=HostFault.RATE_LIMITED, reason="wait", retry_after_s=0)
    host = Lister(HostCommits(refusal=refusal), HostCommits(found=[commit("feat: a")]))
    first, second = _cut("feat: a"), _cut("feat: b")
    whole = evolve_push(first, is_cut=False)
    before = [Chapter(repository="acme/whole", events=[whole]), Chapter(repository="acme/away", events=[first])]

    assert await _completed(setup, host, first, second, before=before) == (whole, second)
