"""Triggers in the dashboard."""

from typing import Any

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import branded

from contentsvc_core import Connection, Trigger
from contentsvc_core.content.posts import ContentType
from contentsvc_core.workflows.filters import Batch, TriggerOptions
from contentsvc_core.workflows.triggers import ANY_SOURCE

ROOT = "/dashboard/triggers"


async def triggers(acme: Caller) -> list[Trigger]:
    return list(await acme.world.stores.triggers.all_of(acme.organization.id))


async def made(browsing: Browsing, **fields: Any) -> Seen:
    form = (await browsing.open(f"{ROOT}/new")).form(f"{ROOT}/new")
    return await browsing.send(form, **{"repositories": "codehost:1", **fields})


async def second(acme: Caller, number: int, provider: str = "codehost") -> Connection:
    connection = await acme.world.operator.connect(
        acme.organization, full_name=f"acme/{provider}-{number}", repository_id=number, provider=provider, branch="main"
    )
    assert isinstance(connection, Connection)
    return connection


def cookies_of(browsing: Browsing) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in browsing.cookies.items())}


def checked(page: Seen, name: str) -> list[str]:
    return [attrs["value"] for _, attrs in page.elements if attrs.get("name") == name and "checked" in attrs]


async def test_a_trigger_is_made_shown_changed_and_deleted(acme: Caller, browsing: Browsing) -> None:
    voice = (await branded(acme)).id

    page = await made(
        browsing, name="Letters", events="release", output_type="investor_update", brand=voice, auto_publish="yes"
    )

    (trigger,) = await triggers(acme)
    assert (page.path, page.heading) == (f"{ROOT}/{trigger.id}", "Letters")
    assert "Created." in page.text
    assert (trigger.name, trigger.repository_ids, trigger.event_types) == ("Letters", (1,), ("release",))
    assert (trigger.output_type, trigger.brand_identity_id) == (ContentType.INVESTOR_UPDATE, voice)
    assert (trigger.auto_publish, trigger.enabled) == (True, True)
    row = (await browsing.open(ROOT)).rows[1]
    assert row[:3] == ["Letters acme/lighthouse", "enabled", "Releases"]
    assert row[3:5] == ["Investor update as Lighthouse", "at once"]

    form = page.form(page.path)
    assert form.fields["repositories"] == ["codehost:1"]
    page = await browsing.send(
        form, name="", events=["push", "release"], output_type="changelog", brand="", auto_publish=[]
    )
    assert "Saved." in page.text
    # A trigger without a name has a description as its title.
    assert page.heading == "Changelog of acme/lighthouse"
    (trigger,) = await triggers(acme)
    assert (trigger.name, trigger.event_types, trigger.brand_identity_id) == ("", (), None)
    assert (trigger.auto_publish, trigger.output_type) == (False, ContentType.CHANGELOG)
    assert checked(page, "events") == ["push", "release"]
    assert (await browsing.open(ROOT)).rows[1][4] == "after review"

    page = await browsing.send(page.form(f"{page.path}/delete"))
    assert (page.path, await triggers(acme)) == (ROOT, [])
    assert "Deleted." in page.text


async def test_one_button_switches_a_trigger_off_and_on(acme: Caller, browsing: Browsing) -> None:
    await made(browsing, name="Letters")
    (trigger,) = await triggers(acme)

    page = await browsing.send((await browsing.open(ROOT)).form(f"{ROOT}/{trigger.id}/switch"))
    assert (page.path, page.rows[1][1]) == (ROOT, "disabled")
    assert "Switched off." in page.text
    page = await browsing.send(page.form(f"{ROOT}/{trigger.id}/switch"))
    assert (page.rows[1][1], [each.enabled for each in await triggers(acme)]) == ("enabled", [True])
    assert page.form(f"{ROOT}/{trigger.id}/switch").buttons == ["Switch off Letters"]


async def test_a_long_list_is_filtered_and_a_switch_keeps_the_place(acme: Caller, browsing: Browsing) -> None:
    await second(acme, 2)
    for number in range(21):
        await made(browsing, name=f"Letter {number}", branches=f"b{number}", repositories=f"codehost:{number % 2 + 1}")
    found = await browsing.open(f"{ROOT}?query=CODEHOST-2+letter+1")
    assert [row[0].partition(" acme")[0] for row in found.rows[1:]] == [
        f"Letter {number}" for number in range(1, 21, 2) if "1" in str(number)
    ]
    assert "6 of 21 triggers" in found.text
    switched = next(form for form in found.forms if form.action.endswith("/switch"))

    answer = await acme.world.send("POST", switched.action, data=switched.fields, headers=cookies_of(browsing))

    id_ = switched.action.split("/")[-2]
    assert answer.headers["location"] == f"{ROOT}?query=CODEHOST-2+letter+1&notice=disabled#{id_}"
    assert [attrs for _, attrs in found.elements if attrs.get("id") == id_]
    nothing = await browsing.open(f"{ROOT}?query=horn")
    assert nothing.links["Show all triggers"] == ROOT
    assert "New trigger" in nothing.links


async def test_a_trigger_without_its_repository_stays_disabled_with_the_reason(
    acme: Caller, browsing: Browsing
) -> None:
    await made(browsing, name="Letters")
    (trigger,) = await triggers(acme)
    await acme.world.stores.directory.remove_integration(acme.organization.id, acme.connection.integration.id)

    page = await browsing.open(ROOT)
    assert "repository 1 (not connected)" in page.text
    page = await browsing.send(page.form(f"{ROOT}/{trigger.id}/switch"))
    assert page.status == 422
    assert "Unknown repository: 1 is not connected." in page.text
    # It can still be renamed: unchanged fields are not checked again.
    page = await browsing.open(f"{ROOT}/{trigger.id}")
    assert "not connected any more" in page.text
    page = await browsing.send(page.form(page.path), name="Old letters")
    assert (page.status, page.heading) == (200, "Old letters")


async def test_a_form_names_the_faults_of_several_fields(acme: Caller, browsing: Browsing) -> None:
    page = await made(browsing, name="n" * 101, repositories=[], events=[], tags="!", scopes="x" * 201)

    assert (page.status, await triggers(acme)) == (422, [])
    assert "Nothing was saved: correct what is marked below." in page.text
    for fault in ("A trigger needs a repository.", "Choose an event, or all events.", "Tags has an empty pattern."):
        assert page.text.count(fault) == 1
    pointing = [attrs.get("aria-describedby", "") for _, attrs in page.elements]
    assert [each for each in pointing if "-fault" in each] == [
        "name-fault",
        "repositories-fault",
        "events-fault",
        "tags-hint tags-fault",
        "scopes-hint scopes-fault",
    ]
    await second(acme, 2, "github")
    page = await made(browsing, repositories=["codehost:1", "github:2"])
    assert [attrs["id"] for _, attrs in page.elements if attrs.get("id", "").endswith("-fault")] == [
        "repositories-fault"
    ]


async def test_a_second_trigger_that_does_the_same_is_refused_in_words(acme: Caller, browsing: Browsing) -> None:
    await made(browsing, name="one")

    page = await made(browsing, name="two")

    assert page.status == 422
    assert "Another trigger does the same already" in page.text
    assert page.form(f"{ROOT}/new").fields["name"] == ["two"]


async def test_a_trigger_shows_recent_deliveries_that_it_would_have_matched(acme: Caller, browsing: Browsing) -> None:
    for number in range(12):
        await acme.push(f"p-{number}", f"feat: lamp {number}")
    await acme.release("r-1", "v1.0.0")
    await acme.push("p-1", "feat: lamp 1")  # a duplicate is no match: it starts nothing

    page = await made(browsing, name="Letters", events="push")

    assert "12 of 13 deliveries that were processed lately would have started a run" in page.text
    assert "lamp 11" in page.text
    assert "lamp 1 " not in page.text
    assert sum("/integrations/logs/log_" in attrs.get("href", "") for _, attrs in page.elements) == 10


@pytest.mark.parametrize("script", [True, False])
async def test_the_preview_follows_the_form(acme: Caller, browsing: Browsing, script: bool) -> None:
    await acme.push("p-1", "feat: a lamp")
    await acme.release("r-1", "v1.0.0")
    form = (await browsing.open(f"{ROOT}/new")).form(f"{ROOT}/new")
    headers = {"HX-Request": "true"} if script else {}

    async def preview(**fields: Any) -> Seen:
        return await browsing.post(f"{ROOT}/preview", {**form.fields, "name": "Half typed", **fields}, headers=headers)

    page = await preview(repositories=[])
    assert "Choose a repository" in page.text
    page = await preview(repositories="codehost:1", events=["release"])
    assert "1 of 2 deliveries" in page.text
    assert "v1.0.0" in page.text
    page = await preview(repositories=["codehost:1", "github:1"])
    assert "Choose repositories of one provider" in page.text
    assert page.status == 200
    page = await preview(repositories="codehost:1", events=[])
    assert "Choose an event" in page.text
    page = await preview(all_repositories="yes", every_event="yes", enabled=[])
    assert "2 of 2 deliveries" in page.text
    assert "The trigger is switched off" in page.text
    if script:
        assert not page.heading
    else:
        # The whole form, with all typed values.
        assert page.form(f"{ROOT}/new").fields["name"] == ["Half typed"]
    assert await triggers(acme) == []


async def test_a_preview_without_scripts_stays_with_the_trigger_that_is_edited(
    acme: Caller, browsing: Browsing
) -> None:
    page = await made(browsing, name="Letters")
    (trigger,) = await triggers(acme)

    page = await browsing.post(f"{ROOT}/preview", page.form(page.path).fields | {"name": "Notes"})

    assert page.heading == "Letters"
    assert page.form(f"{ROOT}/{trigger.id}").fields["name"] == ["Notes"]
    # Its address, opened directly, redirects back.
    assert (await browsing.open(f"{ROOT}/preview")).path == ROOT


async def test_forged_form_values_are_refused(acme: Caller, browsing: Browsing) -> None:
    for fields in ({"output_type": "poem"}, {"repositories": "codehost:x"}):
        page = await made(browsing, **fields)
        assert page.status == 400
        assert page.response.headers["content-type"].startswith("text/html")
    assert await triggers(acme) == []


async def test_a_new_form_proposes_releases_of_the_only_repository(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(f"{ROOT}/new")
    schedule = await browsing.open("/dashboard/schedules/new")
    await acme.world.operator.connect(
        acme.organization, full_name="acme/buoy", repository_id=77, provider="codehost", branch=None
    )
    of_two = await browsing.open(f"{ROOT}/new")

    assert checked(page, "repositories") == ["codehost:1"]
    assert checked(schedule, "repositories") == ["1"]
    assert checked(of_two, "repositories") == []

    assert (checked(page, "events"), checked(page, "every_event"), checked(page, "all_repositories")) == (
        ["release"],
        [""],
        [""],
    )


async def test_filters_are_set_shown_and_removed(acme: Caller, browsing: Browsing) -> None:
    page = await made(
        browsing,
        name="Package a",
        repositories=[],
        all_repositories="yes",
        every_event="yes",
        branches="main\n release/* \n\n!release/0.x",
        tags="a@*",
        paths="pkg/a/**",
        scopes="a",
        pre_releases=[],
        batch="weekly",
    )

    (trigger,) = await triggers(acme)
    assert (page.status, trigger.source_type, trigger.event_types) == (200, ANY_SOURCE, ())
    options = TriggerOptions(
        all_repositories=True,
        branches=("main", "release/*", "!release/0.x"),
        tags=("a@*",),
        paths=("pkg/a/**",),
        scopes=("a",),
        pre_releases=False,
        batch=Batch.WEEKLY,
    )
    assert trigger.options == options
    sent = page.form(page.path).fields
    assert (sent["branches"], sent["all_repositories"], sent["every_event"]) == (
        ["main\nrelease/*\n!release/0.x"],
        ["yes"],
        ["yes"],
    )
    row = (await browsing.open(ROOT)).rows[1]
    assert row[0] == "Package a all repositories"
    assert "files: pkg/a/**" in row[2]
    assert "no pre-releases" in row[2]
    assert "one post a week" in row[2]

    fields = {"branches": "", "tags": "", "paths": "", "scopes": "", "pre_releases": "yes", "batch": "none"}
    page = await browsing.send(page.form(page.path), **fields, all_repositories="", repositories="codehost:1")
    (trigger,) = await triggers(acme)
    assert (page.status, trigger.options, trigger.repository_ids) == (200, TriggerOptions(), (1,))


async def test_the_preview_names_the_reason_for_omitting_a_delivery(acme: Caller, browsing: Browsing) -> None:
    await acme.push("p-1", "feat(api): a lamp")
    await acme.push("p-2", "fix(web): a door")
    await acme.release("r-1", "v1.0.0")

    page = await made(browsing, name="Letters", every_event="yes", scopes="api", tags="pkg@*")

    assert "1 of 3 deliveries" in page.text
    assert "Left out by its filters: 2" in page.text
    assert "no commit has a scope that matches api" in page.text
    assert "tag v1.0.0 does not match pkg@*" in page.text


@pytest.mark.parametrize("chosen", [101, 600])
async def test_too_many_repositories_are_a_fault_of_the_form(acme: Caller, browsing: Browsing, chosen: int) -> None:
    page = await made(browsing, name="All", repositories=[f"codehost:{number}" for number in range(1, chosen + 1)])

    assert (page.status, await triggers(acme)) == (422, [])
    assert "A trigger has at most 100 repositories" in page.text
