"""``contentsvc brand``: brand identities, from a terminal."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from click.testing import CliRunner
from tests.docs.pages import fences, read, section
from tests.drivers.commands import command, error, invoke
from tests.performing import performer_over

from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_cli.main import main
from contentsvc_cli.wiring import open_app
from contentsvc_core.application import Application
from contentsvc_core.ports.brands import NotRead, SitePage
from contentsvc_core.testing import CountingIds, PlainSteps
from contentsvc_core.usecases.read_site import BrandReader
from contentsvc_http.settings import Settings, load_settings

pytestmark = pytest.mark.usefixtures("acme")

URL = "https://acme.example"
PAGE = SitePage(
    url=f"{URL}/", html="<html lang=en><title>Acme</title><meta name=description content='Lamps for engineering teams'>"
)


class Sites:
    """A website with one page."""

    async def read(self, url: str) -> SitePage | NotRead:
        assert url == URL
        return PAGE


def perform_one(settings: Settings) -> None:
    """Wait for a run, and perform it, as a server does."""

    async def work() -> None:
        async with open_app(settings) as app:
            await perform(app)

    async def perform(app: Application) -> None:
        stores, clock = app.stores, app.clock
        reader = BrandReader(Sites(), stores.brands, ledger=stores.ledger, jobs=stores.jobs, clock=clock)
        performer = performer_over(stores, clock, CountingIds(), DeterministicWriter(), sites=reader)
        while not (due := await stores.ledger.pending(clock.now(), limit=1, per_organization=1)):
            await asyncio.sleep(0.01)
        await stores.executors.join(f"exe_{due[0].id}")
        (run,) = await stores.ledger.take([due[0].id], f"exe_{due[0].id}")
        await performer.perform(run, PlainSteps())

    asyncio.run(work())


def made(name: str = "Acme") -> dict[str, Any]:
    command("brand", "generate", URL, "--organization", "acme", "--name", name)
    perform_one(load_settings())
    return command("brand", "list", "--organization", "acme")[-1]


def test_an_identity_is_made_while_the_command_waits() -> None:
    with ThreadPoolExecutor(1) as server:
        performed = server.submit(perform_one, load_settings())
        done = invoke("brand", "generate", URL, "--organization", "acme", "--wait", "30", "--json")
        performed.result()

    assert done.exit_code == 0, done.output
    job = json.loads(done.stdout)
    assert (job["status"], job["step"]) == ("completed", "saving")
    # Progress as sentences, without the names of events.
    assert [*done.stderr.splitlines()[1:]] == [
        "A workflow run was created.",
        "The run has started.",
        f"Reading {URL}.",
        f"Reading what {URL}/ says of itself.",
        "Saving the brand identity 'Acme'.",
        "The brand identity 'Acme' was made.",
    ]
    shown = command("brand", "show", job["brandIdentityId"])
    assert (shown["name"], shown["audience"], shown["isDefault"]) == ("Acme", "engineering teams", True)


def test_the_command_waits_no_longer_than_its_option() -> None:
    done = invoke("brand", "generate", URL, "--organization", "acme", "--wait", "0", "--json")

    assert done.exit_code == 1
    assert json.loads(done.stdout)["status"] == "queued"
    assert "is a server running?" in done.stderr


def test_the_keys_equal_the_command_line_page() -> None:
    default, other = made(), made("Other")
    printed = {
        "list": command("brand", "list", "--organization", "acme"),
        "show": command("brand", "show", default["id"]),
        "edit": command("brand", "edit", default["id"], "--tone", "casual", "--audience", "", "--custom-tone", "salty"),
        "delete": command("brand", "delete", other["id"]),
    }

    for name, body in printed.items():
        (fence,) = fences(section(read("docs/cli.md"), f"### `contentsvc brand {name}`"), "json")
        shown = json.loads(fence.text)
        assert [*map(sorted, body)] == [*map(sorted, shown)] * 2 if name == "list" else sorted(body) == sorted(shown)
    edited = printed["edit"]
    assert (edited["toneProfile"], edited["audience"], edited["customTone"]) == ("Casual", None, "salty")
    assert printed["delete"] == {"brandIdentityId": other["id"], "disabledSchedules": [], "disabledEvents": []}
    assert [each["id"] for each in command("brand", "list", "--organization", "acme")] == [default["id"]]


def test_refusals_name_their_reason() -> None:
    default, other = made(), made("Other")

    assert error("brand", "show", "brand_unknown") == "there is no brand identity 'brand_unknown'"
    assert error("brand", "delete", default["id"]) == "Cannot delete the default brand identity"
    assert CliRunner().invoke(main, ["brand", "edit", other["id"]]).exit_code == 2
    assert error("brand", "edit", other["id"], "--name", "", code=2).startswith("--name must be")
    private = error("brand", "generate", "http://127.0.0.1/", "--organization", "acme", code=2)
    assert private.startswith("URL must be")
    assert error("brand", "generate", URL, "--organization", "acme", "--name", "other") == (
        "Brand identity name already exists"
    )
    assert command("brand", "edit", other["id"], "--default")["isDefault"] is True


def test_a_host_is_opened_by_its_setting_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SITE_HOSTS", "127.0.0.1:8080")
    assert command("brand", "generate", "http://127.0.0.1:8080/", "--organization", "acme")["status"] == "queued"

    monkeypatch.setenv("CONTENTSVC_SITE_HOSTS", "http://127.0.0.1")
    assert error("brand", "list", "--organization", "acme") == (
        "CONTENTSVC_SITE_HOSTS takes hosts such as intranet.example or 10.0.0.7:8080, by commas: "
        "'http://127.0.0.1' is no host, and no host:port"
    )
