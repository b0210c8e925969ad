"""The pages of API keys."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.api.world import Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import beside, stranger
from tests.dashboard.tree import tree

from contentsvc_core import Scope
from contentsvc_core.access.keys import ApiKey

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
    shown = tree(page).one("code", class_="secret").text
    assert tree(page).one("button", class_="copy")["data-copy"] == shown
    assert page.response.headers["Cache-Control"] == "no-store"
    answer = await acme.world.send("GET", "/v1/posts", headers={"Authorization": f"Bearer {shown}"})
    assert answer.status_code == 200
    issued = await key_of(acme, shown[:14])
    assert (issued.name, issued.scopes) == ("<b>Status page", (Scope.READ,))
    # When that day is over.
    assert issued.expires_at == datetime(2026, 2, 1, tzinfo=UTC)

    listed = await browsing.open(KEYS)
    assert shown not in listed.response.text
    assert row(listed, issued.prefix)[0] == f"<b>Status page {issued.prefix}… active"
    assert row(listed, issued.prefix)[1] == "read"
    assert row(listed, issued.prefix)[2] == "issued just now never used expires in 31 days"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("scope", [], "Tick what it may do"),
        ("scope", ["admin"], "Tick what it may do"),
        ("expires", "2025-12-31", "This day is over"),
        ("expires", "31.12.2026", "This is no date"),
        ("expires", "9999-12-31", "This is no date"),
    ],
)
async def test_a_fault_is_named_and_no_key_is_issued(
    acme: Caller, browsing: Browsing, field: str, value: str | list[str], said: str
) -> None:
    form = (await browsing.open(KEYS)).form(KEYS)

    page = await browsing.send(form, **{"name": "Mine", field: value})

    assert page.status == 422
    assert tree(page).one(id=f"{field}-fault").text.startswith(said)
    assert page.form(KEYS).fields["name"] == ["Mine"]
    assert len(await acme.world.stores.keys.keys(acme.organization.id)) == 1


async def test_a_key_that_expires_today_works_until_the_day_ends(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.send((await browsing.open(KEYS)).form(KEYS), expires="2026-01-01")
    key = {"Authorization": f"Bearer {tree(page).one('code', class_='secret').text}"}

    for later, status in ((timedelta(hours=23, minutes=59), 200), (timedelta(minutes=1), 401)):
        acme.world.clock.advance(later)
        assert (await acme.world.send("GET", "/v1/posts", headers=key)).status_code == status


async def test_a_key_is_revoked_and_its_sessions_end(acme: Caller, browsing: Browsing) -> None:
    other, issued = await beside(acme)
    path = f"{KEYS}/{issued.record.prefix}/revoke"
    page = await browsing.open(KEYS)
    assert "for good" in tree(page).one("form", action=path)["data-confirm"]

    page = await browsing.send(page.form(path))

    assert (page.path, "Revoked" in tree(page).one(role="status").text) == (KEYS, True)
    assert (await key_of(acme, issued.record.prefix)).revoked_at == acme.world.clock.now()
    assert (await other.open(KEYS)).path == "/dashboard/sign-in"
    ended = tree(page).one("details")
    assert "1 key revoked or expired" in ended.text
    assert issued.record.prefix in ended.text
    assert path not in [form.action for form in page.forms]


async def test_whoever_revokes_their_own_key_is_signed_out(acme: Caller, browsing: Browsing) -> None:
    page = await browsing.open(KEYS)
    path = f"{KEYS}/{acme.record.prefix}/revoke"
    assert "signed in" in row(page, acme.record.prefix)[0]
    assert "you will be signed out" in tree(page).one("form", action=path)["data-confirm"]

    page = await browsing.send(page.form(path))

    assert (page.path, "You are signed out." in page.text) == ("/dashboard/sign-in", True)
    assert (await browsing.open(KEYS)).path == "/dashboard/sign-in"


async def test_an_expired_key_is_told_as_such(acme: Caller, browsing: Browsing) -> None:
    await browsing.send((await browsing.open(KEYS)).form(KEYS), name="Old", expires="2026-01-01")
    acme.world.clock.advance(timedelta(hours=23))
    browsing.cookies.clear()
    await browsing.sign_in(acme.key)
    acme.world.clock.advance(timedelta(hours=2))

    page = await browsing.open(KEYS)

    assert next(row for row in page.rows if "Old" in row[0])[0].endswith("expired")
    assert "Old" in tree(page).one("details").text


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

    # All of one's own, and of others what is used.
    mine = tree(page).all("tr")[1].all("li")
    assert [meter.one("span", class_="number").text for meter in mine] == [
        f"{number} of {limit} in the last 60 s" for number, limit in ((3, 10), (0, 60), (0, 5), (0, 20), (0, 20))
    ]
    assert mine[0].one("rect", class_="part")["width"] == "30.0"
    (theirs,) = tree(page).all("tr")[2].all("li")
    assert issued.record.prefix in tree(page).all("tr")[2].text
    assert "10 of 10" in theirs.text
    assert theirs.one("rect", class_="full")["width"] == "100.0"

    acme.world.clock.advance(timedelta(seconds=60))
    page = await browsing.open(KEYS)
    assert row(page, issued.record.prefix)[3] == "none"


async def test_who_may_only_read_sees_no_actions_and_can_do_none(acme: Caller, browsing: Browsing) -> None:
    reader, issued = await beside(acme, Scope.READ)

    page = await reader.open(KEYS)

    assert [form.action for form in page.forms] == ["/dashboard/sign-out"]
    assert row(page, issued.record.prefix)[1] == "read"
    fields = (await browsing.open(KEYS)).form(KEYS).fields
    for path in (KEYS, f"{KEYS}/{acme.record.prefix}/revoke"):
        assert (await reader.post(path, fields)).status == 403
    assert (await key_of(acme, acme.record.prefix)).revoked_at is None


async def test_another_organizations_keys_are_not_there(acme: Caller, browsing: Browsing) -> None:
    other = await stranger(acme)
    page = await other.open(KEYS)
    csrf = page.form(KEYS).fields["csrf"]

    assert acme.record.prefix not in page.text
    for prefix in (acme.record.prefix, "csk_0000000000", "%20"):
        assert (await other.post(f"{KEYS}/{prefix}/revoke", {"csrf": csrf})).status == 404
    assert (await key_of(acme, acme.record.prefix)).revoked_at is None
