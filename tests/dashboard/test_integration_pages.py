"""Integrations: connecting, viewing, testing and removing."""

from datetime import timedelta

import pytest
from attrs import evolve
from tests.api.test_integrations import server, world
from tests.api.world import ApiWorld, Caller
from tests.code_host_server import REPOSITORY, TOKEN, CodeHostServer, Fault
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.conftest import signed_in

from contentsvc_core import TriggerEditor
from contentsvc_core.testing import push_body, signed
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http.settings import Settings

LIST = "/dashboard/integrations"
BASE = "https://contentsvc.example"
HOSTILE = "<img src=x onerror=alert(1)>"


__all__ = ["server", "world"]


def path_of(acme: Caller) -> str:
    return f"{LIST}/{acme.connection.integration.id}"


def secret_on(page: Seen) -> str:
    """Return the secret that a page offers to copy."""
    (secret,) = [attrs["data-copy"] for _, attrs in page.elements if attrs.get("data-copy", "").startswith("whsec_")]
    return secret


async def connect(browsing: Browsing, **fields: str) -> Seen:
    page = await browsing.open(LIST)
    return await browsing.send(page.form(LIST), **fields)


async def received(acme: Caller, secret: str, delivery_id: str, number: int | None = None, id_: str = "") -> int:
    """Deliver a push that is signed with a secret; return the status of the answer."""
    at = acme.address
    at = evolve(at, integration_id=id_ or at.integration_id, repository_id=number or at.repository_id)
    body = push_body("feat: a lamp", repository_id=at.repository_id)
    return (await acme.world.receiver.receive(signed(body, at=at, secret=secret, delivery_id=delivery_id))).status


async def test_each_integration_is_listed_with_how_it_does(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")
    acme.world.clock.advance(timedelta(minutes=3))

    page = await browsing.open(LIST)

    assert page.heading == "Integrations"
    head, row = page.rows[:2]
    assert head == ["Repository", "Provider", "State", "Last delivery", "Succeeded", "14 days"]
    assert row[:3] == ["acme/lighthouse", "codehost", "enabled"]
    assert row[3].split() == ["success", "3", "min", "ago", ":", "Processed", "push", "event,", "acme/lighthouse"]
    assert row[4] == "100 %"
    assert page.links["acme/lighthouse"] == path_of(acme)
    labels = [attrs["aria-label"] for tag, attrs in page.elements if tag == "svg" and "aria-label" in attrs]
    assert labels == ["Deliveries of acme/lighthouse in 14 days: 1 succeeded, 0 failed"]


async def test_a_script_gets_the_list_alone(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(LIST, headers={"HX-Request": "true"})

    assert not page.heading
    assert page.rows[1][0] == "acme/lighthouse"
    # The form begins with the most common provider.
    offered = [attrs["value"] for tag, attrs in (await browsing.open(LIST)).elements if tag == "option"]
    assert offered == ["github", "gitlab", "bitbucket", "codehost"]
    # After a step back, the form has all fields.
    again = await browsing.open(LIST, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert again.heading == "Integrations"


async def test_a_repository_is_connected_and_its_secret_is_shown_once(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(LIST)).form(LIST)
    fields = {"repository": "acme/buoy", "provider": "codehost", "repository_id": "77", "branch": "stable"}
    page = await browsing.send(form, **fields)

    assert page.status == 201
    assert page.heading == "acme/buoy is connected"
    integration = (await acme.world.stores.directory.integrations(acme.organization.id))[-1]
    assert f"{BASE}/api/webhooks/codehost/{acme.organization.id}/{integration.id}/77" in page.text
    for word in ("application/json", "push and release", "stable", "only once"):
        assert word in page.text
    secret = secret_on(page)
    acme.world.clock.advance(timedelta(seconds=3))
    reloaded = await browsing.send(form, **fields)
    assert "This form was sent before" in reloaded.text
    assert (await acme.world.stores.directory.integrations(acme.organization.id))[-1] == integration
    assert await received(acme, secret, "d-1", 77, integration.id) == 200
    shown = await browsing.open(f"{LIST}/{integration.id}")
    assert shown.heading == "acme/buoy"
    assert secret not in shown.response.text


@pytest.mark.parametrize("base", ["http://127.0.0.1:8000", "http://dev.localhost", BASE])
async def test_a_payload_url_that_no_code_host_can_reach_is_marked(base: str) -> None:
    world = ApiWorld(Settings(base_url=base))
    acme = await world.caller()
    browsing = await signed_in(world, acme)

    connected = await connect(browsing, repository="acme/buoy", provider="codehost", repository_id="77")

    for page in (connected, await browsing.open(path_of(acme))):
        assert ("Only this machine can reach this URL" in page.text) is (base != BASE)


@pytest.mark.parametrize(
    ("provider", "repository", "words"),
    [
        ("gitlab", "acme/coast/buoy", ("Secret token", "Push events and Releases events", "X-Gitlab-Token")),
        ("bitbucket", "acme/buoy", ("Secret", "Repository push", "X-Hub-Signature")),
        ("github", "acme/buoy", ("Secret", "push and release", "X-Hub-Signature-256", "application/json")),
    ],
)
async def test_the_manual_steps_use_the_terms_of_the_code_host(
    browsing: Browsing, provider: str, repository: str, words: tuple[str, ...]
) -> None:
    form = await browsing.open(LIST)
    page = await connect(browsing, repository=repository, provider=provider, repository_id="77")

    assert page.heading == f"{repository} is connected"
    for word in words:
        assert word in page.text
    assert ("application/json" in page.text) is (provider == "github")
    # Before, the form has the same text for all providers.
    assert all(word in form.text for word in words[:1])


@pytest.mark.parametrize(
    "address",
    [
        "https://code.example/acme/buoy",
        "https://code.example/acme/buoy.git",
        "http://u@code.example:81/acme/buoy/",
        "git@code.example:acme/buoy.git",
        "ssh://git@code.example:2222/acme/buoy",
    ],
)
async def test_the_address_of_a_repository_names_it(acme: Caller, browsing: Browsing, address: str) -> None:
    page = await connect(browsing, repository=address, repository_id="7")

    assert page.status == 201
    integrations = await acme.world.stores.directory.integrations(acme.organization.id)
    assert "acme/buoy" in [each.full_name for integration in integrations for each in integration.repositories]


REFUSED: list[tuple[dict[str, str], str, str]] = [
    ({"repository": "lighthouse"}, "'lighthouse' is not of the form OWNER/NAME", "repository"),
    ({"repository": "acme/buoy", "provider": "svn"}, "Unknown provider 'svn'", "provider"),
    ({"repository": "acme/buoy", "repository_id": HOSTILE}, "is no repository id", "repository_id"),
    ({"repository": "acme/buoy", "provider": "codehost"}, "or give the repository's id and no token", "repository_id"),
    ({"repository": "acme/buoy", "repository_id": "7", "branch": "a\x01b"}, "A branch's name", "branch"),
    ({"repository": REPOSITORY, "provider": "github", "token": "ghp_wrong"}, "answered 401", "token"),
]


@pytest.mark.parametrize(("fields", "words", "at_fault"), REFUSED)
async def test_a_refused_connection_is_shown_at_its_field_and_the_input_stays(
    server: CodeHostServer, browsing: Browsing, fields: dict[str, str], words: str, at_fault: str
) -> None:
    page = await connect(browsing, **fields)

    assert page.status == 422
    assert words in page.text
    wrong = [attrs for _, attrs in page.elements if attrs.get("aria-invalid") == "true"]
    assert [attrs["name"] for attrs in wrong] == [at_fault]
    assert f"{at_fault}-fault" in wrong[0]["aria-describedby"]
    form = page.form(LIST)
    for name, value in fields.items():
        if name not in {"token", "provider"}:
            assert form.fields[name] == [value]
    # No page repeats a token.
    assert form.fields["token"] == [""]
    assert "token" not in fields or fields["token"] not in page.response.text
    assert not [attrs for tag, attrs in page.elements if tag == "img"]
    assert server.hooks == {}
    assert ("details", {"open": ""}) in page.elements or set(fields) <= {"repository", "provider"}


async def test_an_unreachable_code_host_is_shown_at_the_top(server: CodeHostServer, browsing: Browsing) -> None:
    server.fault = Fault(status=429, headers={"Retry-After": "23"})

    page = await connect(browsing, repository=REPOSITORY, provider="github", token=TOKEN)

    assert page.status == 422
    assert "the code host answered" in page.text.lower()
    assert "Try again in 23 seconds." in page.text
    assert not [attrs for _, attrs in page.elements if attrs.get("aria-invalid")]
    server.fault = Fault(status=502)
    page = await connect(browsing, repository=REPOSITORY, provider="github")
    assert "You can also enter the repository id: then the code host is not asked." in page.text
    assert ("details", {"open": ""}) in page.elements


async def test_a_refused_form_is_sent_again_as_it_is(server: CodeHostServer, acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(LIST)).form(LIST)
    fields = {"repository": REPOSITORY, "provider": "github", "token": TOKEN}
    server.fault = Fault(status=502)
    assert (await browsing.send(form, **fields)).status == 422
    server.fault = None

    # After a step back, the browser has the same form.
    page = await browsing.send(form, **fields)

    assert page.heading == f"{REPOSITORY} is connected"
    acme.world.clock.advance(timedelta(seconds=3))
    assert "This form was sent before" in (await browsing.send(form, **fields)).text


async def test_an_integration_shows_its_facts_and_where_to_deliver(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp")

    page = await browsing.open(path_of(acme))

    integration = acme.connection.integration
    assert page.heading == "acme/lighthouse"
    url = f"{BASE}/api/webhooks/codehost/{acme.organization.id}/{integration.id}/1"
    assert [attrs["data-copy"] for _, attrs in page.elements if "data-copy" in attrs] == [url, integration.id, "1"]
    assert "1 delivery, 100 % succeeded" in page.text
    assert page.rows[1][0].startswith("main: ")
    assert page.links["All in the log"] == f"{LIST}/logs?integration={integration.id}"


async def test_switched_off_it_refuses_and_switched_on_it_receives(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(path_of(acme))

    page = await browsing.send(page.form(f"{path_of(acme)}/disable"))

    assert "Switched off." in page.text
    assert "deliveries are refused with 403" in page.text
    assert await received(acme, acme.connection.secret, "d-1") == 403
    page = await browsing.send(page.form(f"{path_of(acme)}/enable"))
    assert "Switched on." in page.text
    assert await received(acme, acme.connection.secret, "d-1") == 200


async def test_a_test_ping_is_received_as_any_delivery_is(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(path_of(acme))

    page = await browsing.send(page.form(f"{path_of(acme)}/ping"))

    assert (page.path, page.status) == (path_of(acme), 200)
    assert "The ping arrived." in page.text
    (entry,) = await acme.world.stores.journal.entries(acme.organization.id)
    assert (entry.title, entry.status_code) == ("Webhook ping received", 200)
    assert page.rows[1][0] == "Webhook ping received"


async def test_a_refused_ping_shows_its_reason(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(path_of(acme))
    await browsing.send(page.form(f"{path_of(acme)}/disable"))

    page = await browsing.send(page.form(f"{path_of(acme)}/ping"))

    assert page.status == 409
    assert "The ping was refused with 403: Integration is disabled." in page.text
    page = await browsing.send(page.form(f"{path_of(acme)}/ping"), repository="77")
    assert page.status == 404


@pytest.mark.parametrize(("overlap", "old"), [("24", 200), ("0", 401)])
async def test_a_new_secret_is_shown_once_and_the_old_one_ends_as_chosen(
    acme: Caller, browsing: Browsing, overlap: str, old: int
) -> None:
    page = await browsing.open(path_of(acme))
    assert page.form(f"{path_of(acme)}/rotate").fields["overlap"] == ["24"]

    page = await browsing.send(page.form(f"{path_of(acme)}/rotate"), overlap=overlap)

    assert page.status == 200
    assert page.heading == "The secret was replaced"
    secret = secret_on(page)
    assert ("verifies until 2 Jan 2026" if old == 200 else "verifies no more") in page.text
    assert await received(acme, secret, "d-1") == 200
    assert await received(acme, acme.connection.secret, "d-2") == old
    assert secret not in (await browsing.open(path_of(acme))).response.text


async def test_rotating_sends_the_new_secret_to_the_code_host(
    server: CodeHostServer, acme: Caller, browsing: Browsing
) -> None:
    page = await connect(browsing, repository=REPOSITORY, provider="github", token=TOKEN)
    assert (page.status, "The webhook is made" in page.text) == (201, True)
    created = (await acme.world.stores.directory.integrations(acme.organization.id))[-1]
    before = server.hook.secret
    assert not [secret for secret in (before, TOKEN) if secret in page.response.text]
    page = await browsing.open(f"{LIST}/{created.id}")
    rotate = page.form(f"{LIST}/{created.id}/rotate")

    page = await browsing.send(rotate)

    assert "The code host has it" in page.text
    assert server.hook.secret != before
    assert server.hook.secret not in page.response.text
    rotated = server.hook.secret
    # A reload of the answer rotates nothing.
    acme.world.clock.advance(timedelta(seconds=3))
    page = await browsing.send(rotate)
    assert ("This form was sent before" in page.text, server.hook.secret) == (True, rotated)
    server.fault = Fault(status=503)
    page = await browsing.send(page.form(rotate.action))
    assert "The code host does not have it yet" in page.text
    assert secret_on(page) != server.hook.secret


async def test_an_overlap_that_is_not_offered_changes_nothing(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(path_of(acme))

    page = await browsing.send(page.form(f"{path_of(acme)}/rotate"), overlap="99999999999")

    assert page.status == 422
    assert "Choose how long" in page.text
    secrets = await acme.world.stores.directory.secrets(
        acme.organization.id, acme.connection.integration.id, acme.world.clock.now()
    )
    assert secrets == (acme.connection.secret,)


async def test_disconnecting_lists_the_disabled_triggers_and_schedules(
    server: CodeHostServer, acme: Caller, browsing: Browsing
) -> None:
    world = acme.world
    await connect(browsing, repository=REPOSITORY, provider="github", token=TOKEN)
    created = (await world.stores.directory.integrations(acme.organization.id))[-1]
    editor = TriggerEditor(world.stores.triggers, world.stores.directory, world.clock, world.ids)
    await editor.create(
        acme.organization.id, CreateTrigger(repository_ids=[4242], provider="github", name=f"Each push {HOSTILE}")
    )
    page = await browsing.open(f"{LIST}/{created.id}")

    page = await browsing.send(page.form(f"{LIST}/{created.id}/disconnect"))

    assert page.heading == f"{REPOSITORY} is disconnected"
    assert f"Trigger Each push {HOSTILE}" in page.text
    assert "It is removed, too." in page.text
    assert server.hooks == {}
    assert (await browsing.open(f"{LIST}/{created.id}")).status == 404


async def test_disconnecting_asks_to_remove_a_hook_that_was_added_by_hand(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(path_of(acme))
    forms = [dict(attrs) for tag, attrs in page.elements if tag == "form"]
    assert any("cannot be undone" in attrs.get("data-confirm", "") for attrs in forms)

    form = page.form(f"{path_of(acme)}/disconnect")
    first = await browsing.send(form)
    # The second request of a double click.
    page = await browsing.send(form)

    assert page.response.text == first.response.text
    assert "It was entered by hand: remove it at the code host." in page.text
    assert f"{BASE}/api/webhooks/codehost/" in page.text
    assert "No trigger and no schedule was switched off." in page.text
    page = await browsing.open(LIST)
    assert "No repository is connected yet" in page.text
