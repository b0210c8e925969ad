"""The page of the house style, and its preview."""

from typing import Any

import pytest
from tests.api.world import Caller
from tests.core.test_house_style import WHOLE
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import beside

from contentsvc_core import Scope
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.style_fields import read_style

PAGE = "/dashboard/house-style"
PREVIEW = f"{PAGE}/preview"
PART = {"HX-Request": "true"}


async def standing(acme: Caller) -> dict[str, Any] | None:
    found = await acme.world.stores.directory.organization_of(acme.organization.id)
    assert found is not None
    return style_body(found.house_style)


async def set_style(acme: Caller, **fields: Any) -> None:
    style = read_style(fields)
    assert isinstance(style, HouseStyle)
    await acme.world.stores.directory.set_house_style(acme.organization.id, style)


async def previewed(browsing: Browsing, page: Seen, **changes: str | list[str]) -> Seen:
    """Return the part of the page that a script asks for."""
    fields = page.form(PAGE).fields | {
        name: [text] if isinstance(text, str) else text for name, text in changes.items()
    }
    return await browsing.post(PREVIEW, fields, headers=PART)


async def test_a_form_sets_the_house_style_and_shows_it(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(PAGE)
    assert page.heading == "House style"
    page = await browsing.send(
        page.form(PAGE),
        **{
            "audience": "team",
            "headings.breaking": "Take care",
            "headings.added": "🚀 New",
            "hide": "docs\r\n\r\n api \r\n",
            "hidePaths": "vendor/*\r\n*.lock",
            "hideAuthors": "Kettle",
            "hideReleaseChores": "no",
            "foldUpkeep": "no",
            "upkeepPosts": "write",
            "notes": "fill",
            "emoji": "yes",
            "foldSections": ["performance", "other"],
            "commitHashes": "no",
            "links": "no",
            "details": "no",
            "contributors": "no",
            "bots": "kettle-bot",
            "longestPost": "5000",
        },
    )

    assert "Saved." in page.text
    assert await standing(acme) == WHOLE
    # The unchanged form sends the same values.
    await browsing.send(page.form(PAGE))
    assert await standing(acme) == WHOLE
    # All fields have their defaults: nothing is set.
    empty: dict[str, str | list[str]] = {name: "" for name in page.form(PAGE).fields if name not in {"csrf", "seen"}}
    await browsing.send(page.form(PAGE), **empty)
    assert await standing(acme) is None


async def test_an_unset_field_shows_the_value_that_applies(acme: Caller, browsing: Browsing) -> None:
    def unset(page: Seen, name: str) -> str:
        return page.tree.one("select", id=name).all("option")[0].text

    page = await browsing.open(PAGE)
    assert unset(page, "commitHashes") == "default (yes)"
    assert unset(page, "notes") == "default (stand alone)"
    assert unset(page, "audience") == "default"

    # The audience sets the defaults of the other fields.
    page = await browsing.send(page.form(PAGE), audience="public")
    assert unset(page, "commitHashes") == "default (no)"

    # In an override, the unset value is that of the organization.
    page = await browsing.send(page.form(PAGE), commitHashes="yes")
    assert unset(await browsing.open("/dashboard/triggers/new"), "style.commitHashes") == "as in the house style (yes)"


async def test_the_preview_is_the_newest_release_in_the_style_of_the_form(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(PAGE)
    assert "Nothing to preview yet" in (await previewed(browsing, page)).text
    await acme.push("d-1", "feat: a lamp", "fix(api): the lens")
    shown = await previewed(browsing, page)
    assert "Written from the newest push to acme/lighthouse: there is no release yet." in shown.text
    assert ("lamp" in shown.text, "lens" in shown.text) == (True, True)
    await acme.push("d-2", "fix(api): the hinge")
    assert "Written from the newest 2 pushes" in (await previewed(browsing, page)).text
    await acme.release("d-3", "v1")

    shown = await previewed(browsing, page, hide="api")

    assert shown.heading == ""
    assert "Written from the newest release, v1 of acme/lighthouse." in shown.text
    assert ("lamp" in shown.text, "lens" in shown.text) == (True, False)
    assert await standing(acme) is None
    assert "Longest post must be a whole number" in (await previewed(browsing, page, longestPost="1")).text


async def test_a_style_that_hides_everything_has_the_reason_in_its_preview(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "fix(api): the lens")

    shown = await previewed(browsing, await browsing.open(PAGE), hide="api")

    reason = "1 change that the house style hides: nothing a reader notices"
    assert f"With these settings there is no post: {reason}." in shown.text


async def test_without_scripts_a_button_shows_the_preview_and_keeps_the_input(acme: Caller, browsing: Browsing) -> None:
    await acme.push("d-1", "feat: a lamp", "fix(api): the lens")
    form = (await browsing.open(PAGE)).form(PAGE)
    assert form.buttons == ["Save", "Preview"]
    fields = form.fields | {"hide": ["api"]}

    page = await browsing.post(PREVIEW, fields)

    assert page.heading == "House style"
    assert ("lamp" in page.text, "lens" in page.text) == (True, False)
    assert page.form(PAGE).fields["hide"] == ["api"]
    assert await standing(acme) is None
    wrong = await browsing.post(PREVIEW, fields | {"longestPost": ["1"]})
    assert (wrong.status, "Longest post must be a whole number" in wrong.text) == (422, True)
    # The address of the preview in a new page.
    assert (await browsing.open(PREVIEW)).path == PAGE


async def test_foreign_text_in_headings_and_paths_is_inert(acme: Caller, browsing: Browsing) -> None:
    evil = "<script>alert(1)</script>"
    await set_style(acme, headings={"added": evil}, hidePaths=[evil])
    await acme.push("d-1", f"feat: a lamp {evil}")

    page = await browsing.open(PAGE)
    shown = await previewed(browsing, page)

    assert page.form(PAGE).fields["hidePaths"] == [evil]
    assert evil not in page.response.text
    assert evil not in shown.response.text


async def test_a_read_key_sees_the_house_style(acme: Caller, browsing: Browsing) -> None:
    reader, _ = await beside(acme, Scope.READ)
    assert "Nothing is set: the defaults apply." in (await reader.open(PAGE)).text
    await set_style(acme, hide=["docs"], links=False, headings={"added": "New"})

    page = await reader.open(PAGE)

    assert ("docs" in page.text, "added: New" in page.text, [form.action for form in page.forms]) == (
        *(True, True),
        ["/dashboard/sign-out"],
    )


@pytest.mark.parametrize("kind", ["trigger", "schedule"])
async def test_an_override_is_edited_in_the_form_of_a_trigger_and_of_a_schedule(
    acme: Caller, browsing: Browsing, kind: str
) -> None:
    await set_style(acme, hide=["docs"], audience="public")
    path = f"/dashboard/{kind}s/new"
    form = (await browsing.open(path)).form(path)
    fields = {"repositories": "codehost:1" if kind == "trigger" else "1", "name": "Team"}

    page = await browsing.send(form, **fields, **{"style.audience": "team", "style.headings.added": "New"})

    one = page.path
    assert "Created." in page.text
    assert "2 fields differ" in page.text
    assert "The house style has: docs." in page.text
    assert await override(acme, kind) == {"audience": "team", "headings": {"added": "New"}}
    # The unchanged form sends the same values; an empty list differs from an unset field.
    page = await browsing.send(page.form(one), **{"style.headings.added": "", "style.hide.none": "yes"})
    assert await override(acme, kind) == {"audience": "team", "hide": []}
    page = await browsing.send(page.form(one), name="Everybody")
    assert await override(acme, kind) == {"audience": "team", "hide": []}

    refused = await browsing.send(page.form(one), **{"style.longestPost": "12", "style.hide.none": ""})
    assert refused.status == 422
    assert "Longest post must be a whole number from 1,000 to 100,000." in refused.text
    (field,) = [attrs for _, attrs in refused.elements if attrs.get("aria-invalid") == "true"]
    assert (field["name"], field["value"]) == ("style.longestPost", "12")
    assert [attrs for tag, attrs in refused.elements if tag == "details" and "open" in attrs]
    assert await override(acme, kind) == {"audience": "team", "hide": []}

    await browsing.send(page.form(one), **{"style.audience": "", "style.hide.none": list[str]()})
    assert await override(acme, kind) is None


async def override(acme: Caller, kind: str) -> dict[str, Any] | None:
    stores, own = acme.world.stores, acme.organization.id
    found = await (stores.triggers.all_of(own) if kind == "trigger" else stores.schedules.all_of(own))
    return style_body(next(each.house_style for each in found if each.name))


@pytest.mark.parametrize("kind", ["trigger", "schedule"])
async def test_an_override_is_previewed_with_the_house_style(acme: Caller, browsing: Browsing, kind: str) -> None:
    await set_style(acme, hide=["api"])
    await acme.push("d-1", "feat: a lamp", "fix(api): the lens", "feat(ui): a door")
    path = f"/dashboard/{kind}s/new"
    repository = {"repositories": ["codehost:1" if kind == "trigger" else "1"]}
    fields = (await browsing.open(path)).form(path).fields | repository | {"style.hide": ["ui"]}

    shown = await browsing.post(f"{PAGE}/override", fields, headers=PART)
    without_scripts = await browsing.post(f"/dashboard/{kind}s/preview", fields)

    for page in (shown, without_scripts):
        # As entries, because a trigger's page also names the newest commit.
        assert ("A lamp" in page.text, "The lens" in page.text, "A door" in page.text) == (True, True, False)
    inherited = await browsing.post(f"{PAGE}/override", fields | {"style.hide": [""]}, headers=PART)
    assert ("The lens" in inherited.text, "A door" in inherited.text) == (False, True)
    wrong = await browsing.post(f"{PAGE}/override", fields | {"style.longestPost": ["1"]}, headers=PART)
    assert "Longest post must be a whole number" in wrong.text
    assert (await browsing.open(f"{PAGE}/override")).path == PAGE


async def test_a_key_that_may_only_read_sees_where_a_trigger_differs(acme: Caller) -> None:
    body = {"targets": {"repositoryIds": [acme.repository_id]}, "outputConfig": {"houseStyle": {"links": False}}}
    path = f"/dashboard/triggers/{(await acme('POST', '/v1/event-triggers', body)).json()['eventTrigger']['id']}"
    reader, _ = await beside(acme, Scope.READ)

    assert "House style: links no" in (await reader.open(path)).text
