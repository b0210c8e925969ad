"""``tail``: each entry of the log once, with any concurrent changes."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.builders import an_entry
from tests.server_process import COMMAND, Installation, until

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_cli.main import main
from contentsvc_cli.watch.tail import LogFollower
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.organizations import Organization
from contentsvc_core.read_model import LogSearch
from contentsvc_core.testing import START, push_body

ORGANIZATION = "org_1"


def entry(number: int, *, at_s: float | None = None, status: LogStatus = LogStatus.SUCCESS, **fields: Any) -> LogEntry:
    return an_entry(
        START + timedelta(seconds=number if at_s is None else at_s),
        id=f"log_{number:04}",
        reference_id=f"d-{number}",
        status=status,
        **fields,
    )


@pytest.fixture
def command_handler() -> Iterator[None]:
    """Handle Ctrl-C as in a process of the command, and as before at the end."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Log:
    """A log in memory, and its follower."""

    def __init__(self, search: LogSearch | None = None) -> None:
        self.stores: MemoryStores = memory_stores(FernetSealer("x" * 32))
        self.follower = LogFollower(self.stores.read_model, ORGANIZATION, search or LogSearch(), page=3)

    async def write(self, *entries: LogEntry) -> None:
        acme = Organization(id=ORGANIZATION, slug="acme", name="Acme", retention_days=30, created_at=START)
        await self.stores.directory.add_organization(acme)
        for each in entries:
            await self.stores.journal.append(each)

    async def start(self, earlier: int) -> list[str]:
        return [each.id[-2:] for each in await self.follower.start(earlier)]

    async def new(self) -> list[str]:
        return [each.id[-2:] for each in await self.follower.new()]


async def test_the_start_has_the_newest_entries_in_order_of_time() -> None:
    log = Log()
    await log.write(*(entry(number) for number in range(1, 8)))

    assert await log.start(4) == ["04", "05", "06", "07"]
    assert await log.new() == []


async def test_a_start_with_zero_entries_skips_the_existing_ones() -> None:
    log = Log()
    await log.write(*(entry(number, at_s=number / 100) for number in range(1, 8)))

    assert await log.start(0) == []
    assert await log.new() == []
    await log.write(entry(8))
    assert await log.new() == ["08"]


async def test_entries_written_to_an_empty_log_are_returned() -> None:
    log = Log()

    assert await log.start(10) == []
    assert await log.new() == []
    await log.write(entry(1), entry(2))
    assert await log.new() == ["01", "02"]
    assert await log.new() == []


@pytest.mark.parametrize("number", [2, 3, 4, 30])
async def test_many_at_once_are_all_given_oldest_first(number: int) -> None:
    log = Log()
    await log.write(entry(1))
    await log.start(1)

    await log.write(*(entry(2 + each, at_s=1 if each % 2 else 2) for each in range(number)))

    given = await log.new()
    assert len(given) == len(set(given)) == number
    assert given == sorted(given, key=lambda id_: (int(id_) % 2 == 0, id_))


async def test_a_late_entry_is_returned_by_the_next_poll() -> None:
    log = Log()
    await log.write(entry(10))
    await log.start(1)
    await log.write(entry(30))
    assert await log.new() == ["30"]

    # A second late, as concurrent entries may be; and 15 seconds, as the clock of a node may be.
    await log.write(entry(31, at_s=29), entry(32, at_s=15))
    given = [await log.new() for _ in range(25)]

    assert given[0] == ["31"]
    assert [id_ for ids in given for id_ in ids] == ["31", "32"]


async def test_a_pending_entry_is_returned_again_at_its_end() -> None:
    log = Log()
    await log.write(entry(1, status=LogStatus.PENDING))
    assert await log.start(1) == ["01"]

    await log.stores.journal.finish(entry(1, status=LogStatus.FAILED))

    assert await log.new() == ["01"]
    assert await log.new() == []


async def test_an_old_pending_entry_is_returned_at_its_end() -> None:
    log = Log(LogSearch(statuses=[LogStatus.PENDING, LogStatus.FAILED]))
    await log.write(entry(1, status=LogStatus.PENDING), entry(2, status=LogStatus.PENDING))
    assert await log.start(2) == ["01", "02"]
    # An hour later.
    await log.write(entry(3, at_s=3600, status=LogStatus.FAILED))
    assert [await log.new() for _ in range(20)] == [["03"], *[[]] * 19]

    await log.stores.journal.finish(entry(1, status=LogStatus.FAILED))
    # This end is not in the search.
    await log.stores.journal.finish(entry(2, status=LogStatus.SUCCESS))

    assert [id_ for _ in range(40) for id_ in await log.new()] == ["01"]


async def test_an_entry_that_was_pending_before_the_start_or_outside_the_search_is_returned_when_it_fails() -> None:
    log = Log(LogSearch(statuses=[LogStatus.FAILED]))
    await log.write(entry(1, status=LogStatus.PENDING), entry(2, at_s=3600))
    assert await log.start(10) == []
    await log.write(entry(3, at_s=3600, status=LogStatus.PENDING))
    assert [await log.new() for _ in range(20)] == [[]] * 20
    # An hour later.
    await log.write(entry(4, at_s=7200))

    for number in (1, 3):
        await log.stores.journal.finish(entry(number, status=LogStatus.FAILED))

    assert sorted([id_ for _ in range(40) for id_ in await log.new()]) == ["01", "03"]


def test_a_second_ctrl_c_ends_the_command_while_it_closes_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_handler: None
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTENTSVC_DATABASE_URL", raising=False)
    CliRunner().invoke(main, ["organization", "create", "Acme"])
    ends: list[int] = []

    async def interrupted(_: LogFollower) -> list[LogEntry]:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return []

    monkeypatch.setattr(LogFollower, "new", interrupted)
    monkeypatch.setattr("os._exit", ends.append)

    done = CliRunner().invoke(main, ["tail"])

    assert (done.exit_code, done.output, ends) == (0, "", [0])


async def test_only_entries_of_the_search_are_returned() -> None:
    log = Log(LogSearch(statuses=[LogStatus.FAILED], text="secret"))
    await log.write(entry(1), entry(2, status=LogStatus.FAILED, reason="another Secret"))

    assert await log.start(10) == ["02"]
    await log.write(entry(3), entry(4, status=LogStatus.FAILED), entry(5, status=LogStatus.FAILED, reason="no secret"))
    assert await log.new() == ["05"]


async def test_nothing_is_lost_while_the_store_is_away() -> None:
    log = Log()
    await log.write(entry(1))
    await log.start(1)
    found = log.stores.read_model.log
    calls = 0

    async def away(*arguments: Any, **how: Any) -> Any:
        nonlocal calls
        calls += 1
        # The first query of a poll succeeds, and the second one fails.
        if calls == 2:
            message = "away"
            raise StoreUnavailable(message)
        return await found(*arguments, **how)

    await log.write(entry(2))
    log.stores.read_model.log = away  # pyright: ignore[reportAttributeAccessIssue]  # an outage between two reads
    with pytest.raises(StoreUnavailable):
        await log.new()
    await log.write(entry(50))

    assert await log.new() == ["02", "50"]


def test_an_unknown_organization_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONTENTSVC_DATABASE_URL", raising=False)
    CliRunner().invoke(main, ["migrate"])

    done = CliRunner().invoke(main, ["tail", "--organization", "nobody"])

    assert done.exit_code == 1
    assert done.stderr.startswith("Error: there is no organization")
    assert CliRunner().invoke(main, ["tail", "--organization", "a", "--status", "lost"]).exit_code == 2


def receive(installation: Installation, integration_id: str, *deliveries: str) -> None:
    lines = (
        {"event": "push", "delivery": delivery, "body": push_body("feat: a lamp", repository_id=4242)}
        for delivery in deliveries
    )
    path = installation.folder / "x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    installation.command("receive", str(path), "--integration", integration_id)


@pytest.mark.slow("starts a process for each case")
@pytest.mark.parametrize("as_json", [False, True])
def test_the_log_is_followed_until_ctrl_c_ends_it_well(tmp_path: Path, as_json: bool) -> None:
    installation = Installation(tmp_path)
    installation.command("organization", "create", "Acme")
    hook = installation.connect("acme", "acme/lighthouse", 4242)
    receive(installation, hook.integration_id, "d-1", "d-2")
    out = tmp_path / "out"
    with out.open("wb") as stdout:
        following = subprocess.Popen(
            [COMMAND, "tail", "--organization", "acme", "-n", "1", *(["--json"] if as_json else [])],
            env=installation.environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            # A background job of a shell ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509  # no threads
        )
    try:
        until(lambda: b"d-2" in out.read_bytes(), "what was there is shown")
        receive(installation, hook.integration_id, "d-3", "d-2")
        until(lambda: out.read_bytes().count(b"\n") == 3, "what has come is shown")
        os.kill(following.pid, signal.SIGINT)
        _, errors = following.communicate(timeout=30)
    finally:
        following.kill()
        following.wait()

    assert (following.returncode, errors) == (0, b"")
    lines = out.read_text().splitlines()
    if as_json:
        bodies = [json.loads(line) for line in lines]
        assert [body["referenceId"] for body in bodies] == ["d-2", "d-3", "d-2"]
        assert bodies[2:] == installation.command("log", "list", "--organization", "acme", "--limit", "1")
    else:
        assert lines[1].split("  ")[1:] == [
            *("success", "200", "Processed push event", "acme/lighthouse"),
            *("main: feat: a lamp", "d-3", "0 workflow runs started"),
        ]
        assert "\x1b" not in out.read_text()
