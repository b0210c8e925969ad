"""The golden deliveries through every driver: the same answers, and the same rows."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import httpx
import pytest
from msgspec import to_builtins
from tests.golden import GOLDEN, REPOSITORY, REPOSITORY_ID, Golden
from tests.server_process import PLAIN, Installation, prepare, serving

from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import (
    Address,
    Connection,
    Operator,
    Organization,
    Receiver,
    Trigger,
    TriggerEditor,
    answer,
    log_body,
)
from contentsvc_core.testing import ManualClock
from contentsvc_core.workflows.context import RecordBody
from contentsvc_core.workflows.runs import RunBody
from contentsvc_core.workflows.triggers import CreateTrigger

pytestmark = pytest.mark.slow("starts a server, and commands")
#: A recording has no content type of its bodies.
RECORDED: Final = tuple(golden for golden in GOLDEN if golden.content_type == "application/json")
#: The differing fields: ids, times, and states of runs.
BY_NATURE: Final = {
    "log": {"id", "createdAt"},
    "context": {"createdAt"},
    "run": {"id", "createdAt", "triggerId", "status", "attempts", "kills", "error", "postId"},
}
#: The result of a driver: status and answer of each delivery, and the stored rows.
Results = tuple[list[tuple[int, Any]], dict[str, list[Any]]]


def delivery_id(golden: Golden) -> str:
    return str(uuid5(NAMESPACE_URL, golden.name))


async def through_the_library(_folder: Path) -> Results:
    stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
    clock, ids = ManualClock(), RandomIds()
    operator = Operator(stores.directory, stores.keys, clock, ids)
    organization = await operator.create_organization("Acme")
    assert isinstance(organization, Organization)
    created = await operator.connect(
        organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch=None
    )
    assert isinstance(created, Connection)
    every = CreateTrigger(repository_ids=[REPOSITORY_ID], auto_publish=True)
    editor = TriggerEditor(stores.triggers, stores.directory, clock, ids)
    for command in (every, CreateTrigger(repository_ids=[REPOSITORY_ID], event_types=["push"], auto_publish=True)):
        trigger = await editor.create(organization.id, command)
        assert isinstance(trigger, Trigger)
    receiver = Receiver(stores.deliveries, stores.journal, clock, ids)
    at = Address(
        provider="codehost",
        organization_id=organization.id,
        integration_id=created.integration.id,
        repository_id=REPOSITORY_ID,
    )
    outcomes = [
        await receiver.receive(golden.delivery(at, created.secret, delivery_id(golden)))
        for golden in (*RECORDED, *RECORDED)
    ]
    log = await stores.journal.entries(organization.id)
    return [(outcome.status, answer(outcome)) for outcome in outcomes], {
        "log": [{**log_body(entry), "reason": entry.reason} for entry in log],
        "context": [to_builtins(RecordBody.of(record)) for record in await stores.contexts.records(organization.id)],
        "run": [to_builtins(RunBody.of(run)) for run in await stores.ledger.runs(organization.id)],
    }


async def through_http(folder: Path) -> Results:
    prepared = prepare(folder)
    hook = prepared.hook
    with serving(prepared.installation) as server:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, verify=PLAIN) as client:
            answers: list[tuple[int, Any]] = []
            for golden in (*RECORDED, *RECORDED):
                headers = hook.headers(golden.body, delivery_id(golden), golden.event)
                response = await client.post(hook.path, content=golden.body, headers=headers)
                answers.append((response.status_code, response.json()))
    return answers, rows(prepared.installation)


async def through_the_command(folder: Path) -> Results:
    prepared = prepare(folder)
    recording = folder / "golden.jsonl"
    lines = [
        {
            "event": golden.event,
            "delivery": delivery_id(golden),
            "bodyBase64": base64.b64encode(golden.body).decode(),
        }
        for golden in (*RECORDED, *RECORDED)
    ]
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    integration = prepared.hook.integration_id
    received = prepared.installation.run("receive", str(recording), "--integration", integration, "--json")
    assert received.returncode == 1, "some of the golden deliveries are refused"
    answers = json.loads(received.stdout)
    return [(row["status"], row["answer"]) for row in answers], rows(prepared.installation)


def rows(installation: Installation) -> dict[str, list[Any]]:
    return {kind: installation.command(kind, "list", "--organization", "acme") for kind in ("log", "context", "run")}


def comparable(results: Results) -> Results:
    """Remove fields that differ by nature, and sort rows of one instant."""
    answers, found = results
    return answers, {
        kind: sorted(
            ({name: value for name, value in row.items() if name not in BY_NATURE[kind]} for row in of_kind),
            key=json.dumps,
        )
        for kind, of_kind in found.items()
    }


@pytest.fixture(scope="module")
def expected() -> list[int]:
    return [golden.expected["status"] for golden in RECORDED]


@pytest.mark.parametrize("driver", [through_http, through_the_command])
async def test_every_driver_gives_the_same_outcomes_and_leaves_the_same_rows(
    driver: Callable[[Path], Any], tmp_path: Path, expected: list[int]
) -> None:
    by_library = comparable(await through_the_library(tmp_path))
    by_driver = comparable(await driver(tmp_path))

    answers, left = by_driver
    assert [status for status, _ in answers[: len(expected)]] == expected
    assert answers == by_library[0]
    assert left == by_library[1]
    # In the second round, the processed deliveries are duplicates.
    duplicates = [golden.expected["context"] for golden in RECORDED]
    assert [body.get("data", {}).get("duplicate", False) for _, body in answers[len(expected) :]] == duplicates
    assert len(left["context"]) == sum(duplicates)
    assert len(left["run"]) > len(left["context"])
