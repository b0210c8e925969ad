"""The command, run in this process."""

import asyncio
import json
from typing import Any

from click.testing import CliRunner, Result
from tests.performing import performer_over

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_cli.main import main
from contentsvc_cli.wiring import open_app, receiver_of
from contentsvc_core.testing import PlainSteps, address, push_body, signed
from contentsvc_http.settings import load_settings


def invoke(*arguments: str, **how: Any) -> Result:
    return CliRunner().invoke(main, arguments, **how)


def command(*arguments: str, **how: Any) -> Any:
    """Return the JSON that a command prints."""
    done = invoke(*arguments, "--json", **how)
    assert done.exit_code == 0, (arguments, done.output)
    return json.loads(done.stdout)


def receive(integration_id: str, *messages: str, first: int = 1) -> None:
    """Receive pushes to the repository 4242, of one commit each; the ids of the deliveries are ``d-1`` and so on."""
    pushes = [
        {"event": "push", "delivery": f"d-{number}", "body": push_body(message, repository_id=4242)}
        for number, message in enumerate(messages, first)
    ]
    recording = "".join(f"{json.dumps(push)}\n" for push in pushes)
    command("receive", "-", "--integration", integration_id, input=recording)


def deliver(hook: dict[str, Any], *ids: str, forged: int = 0) -> None:
    """Receive signed pushes to a connected repository, followed by forged ones."""
    at = address(organization_id=hook["organizationId"], integration_id=hook["integrationId"], repository_id=4242)

    async def work() -> None:
        async with open_app(load_settings()) as app:
            receiver = receiver_of(app)
            secrets = [hook["webhookSecret"]] * len(ids) + ["forged"] * forged
            for number, secret in enumerate(secrets):
                id_ = ids[number] if number < len(ids) else f"forged-{number}"
                body = push_body(f"feat: {id_}", repository_id=4242)
                await receiver.receive(signed(body, at=at, secret=secret, delivery_id=id_))

    asyncio.run(work())


def error(*arguments: str, code: int = 1, **how: Any) -> str:
    """Return the message of a command that fails; only a wrong usage (code 2) prints more than one line."""
    done = invoke(*arguments, **how)
    assert (done.exit_code, done.stdout) == (code, ""), done.output
    *usage, message = done.stderr.splitlines()
    assert message.startswith("Error: ")
    assert code == 2 or not usage
    return message.removeprefix("Error: ")


def perform(url: str) -> None:
    """Perform the runs that are due in a database."""

    async def work() -> None:
        stores = SqlStores(Database(url), FernetSealer("x" * 32))
        performer = performer_over(stores, SystemClock(), RandomIds(), DeterministicWriter())
        await stores.executors.join("exe_1")
        due = await stores.ledger.pending(SystemClock().now(), limit=9, per_organization=9)
        for run in await stores.ledger.take([each.id for each in due], "exe_1"):
            await performer.perform(run, PlainSteps())
        await stores.close()

    asyncio.run(work())
