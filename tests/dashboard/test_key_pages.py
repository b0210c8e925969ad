"""The pages of API keys."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests import sqlite
from tests.api.world import SEALER, ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import beside
from tests.statements import statements

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core import IssuedKey, Scope
from contentsvc_core.access.keys import MAX_KEYS, ApiKey

KEYS = "/dashboard/keys"


def row(page: Seen, prefix: str) -> list[str]:
    return next([" ".join(cell.split()) for cell in row] for row in page.rows if prefix in row[0])


async def key_of(acme: Caller, prefix: str) -> ApiKey:
    found = await acme.world.stores.keys.key(prefix)
    assert found is not None
    return found


async def test_a_key_is_issued_and_shown_once(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(KEYS)).form(KEYS)
    assert form.fields["scope"] == ["read", "write"]

    page = await browsing.send(form, name="<b>Status page", scope="read", expires="2026-01-31")

    assert (page.status, page.heading) == (201, "Your new key")
    shown = page.tree.one("code", class_="secret").text
    assert page.tree.one("button", class_="copy")["data-copy"] == shown
    assert page.response.headers["Cache-Control"] == "no-store"
    answer = await acme.world.send("GET", "/v1/posts", headers={"Authorization": f"Bearer {shown}"})
    assert answer.status_code == 200
    issued = await key_of(acme, shown[:14])
    assert (issued.name, issued.scopes) == ("<b>Status page", (Scope.READ,))
    # At the end of that day.
    assert issued.expires_at == datetime(2026, 2, 1, tzinfo=UTC)

    listed = await browsing.open(KEYS)
    assert shown not in listed.response.text
    assert row(listed, issued.prefix)[0] == f"<b>Status page {issued.prefix}… active"
    assert row(listed, issued.prefix)[1] == "read"
    # The text between them is the time of last use, which is stored a moment later.
    when = row(listed, issued.prefix)[2]
    assert when.startswith(f"issued just now with {acme.record.prefix}… ")
    assert when.endswith(" expires in 31 days")


async def test_a_reloaded_answer_issues_no_second_key(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(KEYS)).form(KEYS)
    first, second = await asyncio.gather(*(browsing.send(form, name="Status page") for _ in range(2)))
    # The browser shows the second answer of a double click: it has the key, too.
    secrets = {each.tree.one("code", class_="secret").text for each in (first, second)}
    assert (second.status, len(secrets)) == (201, 1)
    acme.world.clock.advance(timedelta(seconds=3))

    reloaded = await browsing.send(form, name="Status page")

    assert (first.status, reloaded.path) == (201, KEYS)
    assert "This form was sent before" in reloaded.tree.one(role="status").text
    assert [row[0].split()[0] for row in reloaded.rows].count("Status") == 1
    # A browser that goes back to the form may fill it in for another key.
    assert (await browsing.send(form, name="Other page")).status == 201
    assert (await browsing.send((await browsing.open(KEYS)).form(KEYS), name="Status page")).status == 201


async def test_a_key_is_revoked_and_its_sessions_end(acme: Caller, browsing: Browsing) -> None:
    other, issued = await beside(acme)
    path = f"{KEYS}/{issued.record.prefix}/revoke"
    page = await browsing.open(KEYS)
    assert "refused from then on" in page.tree.one("form", action=path)["data-confirm"]

    page = await browsing.send(page.form(path))

    assert (page.path, "Revoked" in page.tree.one(role="status").text) == (KEYS, True)
    assert (await key_of(acme, issued.record.prefix)).revoked_at == acme.world.clock.now()
    assert (await other.open(KEYS)).path == "/dashboard/sign-in"
    ended = page.tree.one("details")
    assert "1 key revoked or expired" in ended.text
    assert issued.record.prefix in ended.text
    assert path not in [form.action for form in page.forms]


async def test_revoking_the_own_key_signs_out(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(KEYS)
    path = f"{KEYS}/{acme.record.prefix}/revoke"
    assert "signed in" in row(page, acme.record.prefix)[0]
    assert "you will be signed out" in page.tree.one("form", action=path)["data-confirm"]

    page = await browsing.send(page.form(path))

    assert (page.path, "You are signed out." in page.text) == ("/dashboard/sign-in", True)
    assert (await browsing.open(KEYS)).path == "/dashboard/sign-in"


async def test_an_expired_key_is_shown_as_expired(acme: Caller, browsing: Browsing) -> None:
    await browsing.send((await browsing.open(KEYS)).form(KEYS), name="Old", expires="2026-01-01")
    acme.world.clock.advance(timedelta(hours=23))
    browsing.cookies.clear()
    await browsing.sign_in(acme.key)
    acme.world.clock.advance(timedelta(hours=2))

    page = await browsing.open(KEYS)

    assert next(row for row in page.rows if "Old" in row[0])[0].endswith("expired")
    assert "Old" in page.tree.one("details").text


async def test_how_much_of_each_limit_is_used_is_shown_and_looking_does_not_count(
    acme: Caller, browsing: Browsing
) -> None:
    other, issued = await beside(acme)
    for _ in range(3):
        await acme("POST", "/v1/posts/generate", {"contentType": "changelog"})
    form = (await other.open("/dashboard/posts/write")).form("/dashboard/posts/write")
    for _ in range(10):
        await other.send(form)

    for _ in range(3):
        await browsing.open(KEYS)
    page = await browsing.open(KEYS)

    # Only limits in use are shown, without rows of zeros.
    (own,) = page.tree.all("tr")[1].all("li")
    assert own.one("span", class_="number").text == "3 of 10 in the last 60 s"
    assert own.one("rect", class_="part")["width"] == "30.0"
    (foreign,) = page.tree.all("tr")[2].all("li")
    assert issued.record.prefix in page.tree.all("tr")[2].text
    assert "10 of 10" in foreign.text
    assert foreign.one("rect", class_="full")["width"] == "100.0"

    acme.world.clock.advance(timedelta(seconds=60))
    page = await browsing.open(KEYS)
    assert row(page, issued.record.prefix)[3] == "none"


async def test_writing_does_not_issue_or_revoke_keys(acme: Caller, browsing: Browsing) -> None:
    writer, _ = await beside(acme, Scope.READ, Scope.WRITE)

    page = await writer.open(KEYS)

    assert "--scope admin" in page.text
    assert [form.action for form in page.forms] == ["/dashboard/sign-out"]
    fields = (await writer.open("/dashboard/changelog")).form("/dashboard/changelog").fields
    for path in (KEYS, f"{KEYS}/{acme.record.prefix}/revoke"):
        refused = await writer.post(path, {"csrf": fields["csrf"], "scope": "read"})
        assert refused.status == 403
        assert "the scope admin" in refused.text
    assert (await key_of(acme, acme.record.prefix)).revoked_at is None
    assert len(await acme.world.stores.keys.keys(acme.organization.id)) == 2


async def test_a_key_gives_no_scope_that_it_lacks_and_no_end_after_its_own(acme: Caller) -> None:
    end = acme.world.clock.now() + timedelta(days=1)
    issued = await acme.world.operator.issue_key(acme.organization, scopes=(Scope.READ, Scope.ADMIN), expires_at=end)
    assert isinstance(issued, IssuedKey)
    admin = Browsing(acme.world)
    await admin.sign_in(issued.key)
    form = (await admin.open(KEYS)).form(KEYS)

    # Both faults at once, each at its field.
    refused = await admin.send(form, scope=["read", "write"], expires="2025-01-31")
    assert refused.status == 422
    assert refused.tree.one(id="scope-fault").text == "Your own key may not do all of this: tick less."
    assert refused.tree.one(id="expires-fault").text == "This day is over: choose today or a later one."
    for expires in ("", "2027-01-31"):
        page = await admin.send(form, scope="read", expires=expires)
        shown = page.tree.one("code", class_="secret").text
        created = await key_of(acme, shown[:14])
        assert (created.expires_at, created.issued_by) == (end, issued.record.prefix)


async def test_revoking_a_key_revokes_the_keys_issued_with_it(acme: Caller, browsing: Browsing) -> None:
    root, issued = await beside(acme)
    page = await root.send((await root.open(KEYS)).form(KEYS), scope=["read", "admin"])
    leaked = page.tree.one("code", class_="secret").text
    thief = Browsing(acme.world)
    await thief.sign_in(leaked)
    await thief.send((await thief.open(KEYS)).form(KEYS), scope=["read", "admin"])
    page = await browsing.open(KEYS)
    assert "The 2 keys that were issued with it will end, too." in page.response.text

    # A key that revokes its own issuer ends, too.
    done = await thief.send((await thief.open(KEYS)).form(f"{KEYS}/{issued.record.prefix}/revoke"))

    assert done.path == "/dashboard/sign-in"
    assert (await browsing.open(KEYS)).status == 200


async def test_an_organization_has_a_bounded_number_of_keys(acme: Caller, browsing: Browsing) -> None:
    form = (await browsing.open(KEYS)).form(KEYS)
    for _ in range(MAX_KEYS - 1):
        await acme.world.operator.issue_key(acme.organization)

    page = await browsing.send(form, name="One more")

    assert page.status == 409
    assert "An organization has at most 100 active API keys: revoke one that is not used any more." in page.text
    assert len(await acme.world.stores.keys.keys(acme.organization.id)) == MAX_KEYS


async def test_the_page_reads_as_often_for_many_keys_as_for_one(tmp_path: Path) -> None:
    database = Database(sqlite.migrated(tmp_path / "keys.db"))
    world = ApiWorld(stores=SqlStores(database, SEALER))
    acme = await world.caller()
    browsing = Browsing(world)
    await browsing.sign_in(acme.key)
    reads: list[int] = []
    page = await browsing.open(KEYS)
    for _ in range(2):
        with statements() as executed:
            page = await browsing.open(KEYS)
        reads.append(len(executed))
        for _ in range(5):
            await world.operator.issue_key(acme.organization)
    assert len(page.rows) == 7
    assert reads[0] == reads[1]
    await database.dispose()
