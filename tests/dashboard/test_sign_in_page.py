"""Signing in with a key, the rights of a session, and protection against other sites."""

from datetime import timedelta

import pytest
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing

from contentsvc_core import IssuedKey, Scope
from contentsvc_core.access.rates import FAILED_SIGN_INS, SIGN_INS
from contentsvc_core.access.sessions import SESSION_LIFE
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.sign_in import SignIn
from contentsvc_http.settings import Settings

ROOT = "/dashboard"


async def test_a_sign_in_leads_to_the_page_that_was_asked_for(world: ApiWorld, acme: Caller) -> None:
    browsing = Browsing(world)
    page = await browsing.open(f"{ROOT}/posts?status=draft")
    form = page.form(f"{ROOT}/sign-in")

    # Kept while keys are refused.
    refused = await browsing.send(form, key="csk_wrong")
    page = await browsing.send(refused.form(f"{ROOT}/sign-in"), key=acme.key)

    assert (page.heading, page.response.url.query) == ("Posts", b"status=draft")


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["form", "script"])
async def test_a_form_that_is_sent_too_late_leads_back_to_its_page(
    world: ApiWorld, acme: Caller, headers: dict[str, str]
) -> None:
    form = f"{ROOT}/posts/new?x=1"

    answer = await world.send("POST", f"{ROOT}/posts/preview", headers={**headers, "Referer": f"http://test{form}"})

    address = answer.headers.get("hx-redirect") or answer.headers["location"]
    page = await Browsing(world).open(address)
    (leads_to,) = page.form(f"{ROOT}/sign-in").fields["next"]
    assert leads_to == form


async def test_a_form_without_scripts_shows_its_texts_when_the_session_has_ended(
    world: ApiWorld, acme: Caller, browsing: Browsing
) -> None:
    form = f"{ROOT}/posts/new"
    world.clock.advance(SESSION_LIFE)
    typed = {"csrf": "a b", "title": "Lamp", "token": "secret", "markdown": "A <lamp>\nfor the harbour."}
    referred = {"Referer": f"http://test{form}"}

    page = await browsing.post(form, typed, headers=referred)
    foreign = await browsing.post(form, typed, headers=referred | {"Sec-Fetch-Site": "cross-site"})

    assert (page.status, page.heading) == (401, "Sign in")
    assert "A <lamp> for the harbour." in page.text
    assert "secret" not in page.response.text
    assert "harbour" not in foreign.response.text
    signed_in = await browsing.send(page.form(f"{ROOT}/sign-in"), key=acme.key)
    assert signed_in.path == form


@pytest.mark.parametrize(
    "elsewhere",
    [
        *("https://else.example/", "//else.example", "/changelog/acme", "/dashboardx", "/dashboard/\r\nX: y", ""),
        *("/dashboard/../changelog/acme", "/dashboard/keys/%2E./..", "/dashboard/..?a=b"),
    ],
)
async def test_a_sign_in_leads_to_no_other_site(world: ApiWorld, acme: Caller, elsewhere: str) -> None:
    shown = await world.send("GET", "/dashboard/sign-in", params={"next": elsewhere})
    answer = await world.send("POST", "/dashboard/sign-in", data={"key": acme.key, "next": elsewhere})

    assert 'name="next"' not in shown.text
    assert answer.headers["location"] == ROOT


async def test_a_key_signs_in_and_the_browser_keeps_no_key(world: ApiWorld, acme: Caller) -> None:
    browsing = Browsing(world)

    page = await browsing.sign_in(acme.key)

    assert (page.path, page.heading) == (ROOT, "Overview")
    (cookie,) = browsing.cookies.values()
    assert cookie not in acme.key
    assert acme.key not in cookie
    assert acme.key not in page.response.text


@pytest.mark.parametrize("key", ["", "csk_", "csk_0123456789_" + "x" * 40, "<script>"])
async def test_an_invalid_key_is_refused_in_words(world: ApiWorld, acme: Caller, key: str) -> None:
    browsing = Browsing(world)

    page = await browsing.sign_in(key)

    assert page.status == 401
    assert "That API key is not valid." in page.text
    assert not browsing.cookies


async def test_the_cookie_is_for_the_dashboard_alone_and_for_no_script(world: ApiWorld, acme: Caller) -> None:
    answer = await world.send("POST", "/dashboard/sign-in", data={"key": acme.key})

    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=lax", "Path=/dashboard", "Max-Age=86400"):
        assert part in cookie


_HERE = {"Host": "127.0.0.1:8000"}


async def _link(acme: Caller) -> str:
    stores, clock = acme.world.stores, acme.world.clock
    door = SignIn(Authenticator(stores.keys, clock), stores.keys, stores.sessions, clock, acme.world.ids)
    return f"{ROOT}/sign-in/link?token={await door.prepare_link(acme.record)}"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LocalHost", "[::1]:8000", "127.0.0.1"])
@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.9.9.9"])
async def test_a_link_signs_a_browser_on_this_machine_in_once(acme: Caller, host: str, client: str) -> None:
    link = await _link(acme)
    browsing, other = Browsing(acme.world), Browsing(acme.world)

    page = await browsing.open(link, headers={"Host": host}, client=(client, 5))

    assert (page.path, page.heading) == (ROOT, "Overview")
    assert "token" not in str(page.response.url)
    again = await other.open(link, headers={"Host": host}, client=(client, 5))
    assert (again.status, again.heading) == (401, "Sign in")
    assert "This sign-in link was used, or is older than 10 minutes." in again.text
    assert not other.cookies
    # Reloading the page keeps the session.
    assert (await browsing.open(ROOT)).heading == "Overview"


@pytest.mark.parametrize(
    ("client", "headers"),
    [
        ("192.0.2.7", {}),
        ("10.0.0.1", {}),
        ("::ffff:192.0.2.7", {}),
        ("2001:db8::1", {}),
        ("/run/socket", {}),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
        ("127.0.0.1", {"X-Forwarded-Proto": "https"}),
        ("127.0.0.1", {"X-Forwarded-Host": "127.0.0.1"}),
        ("127.0.0.1", {"X-Real-IP": "127.0.0.1"}),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"Via": "1.1 proxy"}),
        # A proxy that forwards the client's Host, and a name of another site that resolves to this server.
        ("127.0.0.1", {"Host": "hooks.example.org"}),
        ("127.0.0.1", {"Host": "127.0.0.1.evil.example"}),
        ("127.0.0.1", {"Host": "localhost.evil.example:8000"}),
    ],
)
async def test_a_link_is_refused_elsewhere_and_is_not_used_up(
    acme: Caller, client: str, headers: dict[str, str]
) -> None:
    link = await _link(acme)
    browsing = Browsing(acme.world)

    page = await browsing.open(link, headers=_HERE | headers, client=(client, 5))

    assert page.status == 403
    assert "only in a browser on the machine that runs contentsvc" in page.text
    assert not browsing.cookies
    assert (await browsing.open(link, headers=_HERE)).heading == "Overview"


async def test_a_prefetch_does_not_use_up_a_link(acme: Caller) -> None:
    link = await _link(acme)
    browsing = Browsing(acme.world)

    assert (await browsing.open(link, headers=_HERE | {"Sec-Purpose": "prefetch;prerender"})).status == 503
    assert (await acme.world.send("HEAD", link, headers=_HERE)).status_code == 503
    assert (await browsing.post(link, {}, headers=_HERE)).status == 405
    assert not browsing.cookies
    assert (await browsing.open(link, headers=_HERE)).heading == "Overview"


async def test_a_link_ends_the_session_of_before(acme: Caller, browsing: Browsing) -> None:
    before = dict(browsing.cookies)

    assert (await browsing.open(await _link(acme), headers=_HERE)).heading == "Overview"

    assert browsing.cookies != before
    old = Browsing(acme.world)
    old.cookies = before
    assert (await old.open(ROOT)).heading == "Sign in"


async def test_signing_out_ends_the_session_and_not_only_the_cookie(world: ApiWorld, browsing: Browsing) -> None:
    kept = dict(browsing.cookies)
    overview = await browsing.open(ROOT)

    page = await browsing.send(overview.form("/dashboard/sign-out"))

    assert "You are signed out." in page.text
    browsing.cookies = kept
    assert (await browsing.open(ROOT)).path == "/dashboard/sign-in"


@pytest.mark.parametrize("host", ["acme.example:x", "acme.example:99999", "[::"])
async def test_a_malformed_host_is_no_fault_of_the_server(world: ApiWorld, host: str) -> None:
    # Strangers could fill the log with tracebacks.
    stranger = Browsing(world)

    page = await stranger.open(ROOT, headers={"Host": host})
    refused = await stranger.open(f"{ROOT}/no-such-page", headers={"Host": host})

    assert (page.status, refused.status) == (200, 404)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "Cross-Site"},
        # With plain http and old browsers, no other header shows it.
        {"Origin": "http://evil.example"},
        {"Origin": "https://test.evil.example"},
        {"Origin": "http://test:81"},
        {"Origin": "null"},
    ],
)
async def test_a_page_of_another_site_cannot_sign_in_or_out(
    world: ApiWorld, acme: Caller, browsing: Browsing, headers: dict[str, str]
) -> None:
    stranger = Browsing(world)

    page = await stranger.post(f"{ROOT}/sign-in", {"key": acme.key}, headers=headers)
    assert page.status == 403
    assert not stranger.cookies

    page = await browsing.post(f"{ROOT}/sign-out", {}, headers=headers)
    assert page.status == 403
    assert (await browsing.open(ROOT)).heading == "Overview"


@pytest.mark.parametrize(
    ("origin", "host"), [("http://test", "test"), ("HTTP://Test", "test"), ("http://box.lan:8011", "box.lan:8011")]
)
async def test_the_own_page_signs_in_under_any_host_name(acme: Caller, origin: str, host: str) -> None:
    browsing = Browsing(acme.world)

    page = await browsing.post(f"{ROOT}/sign-in", {"key": acme.key}, headers={"Origin": origin, "Host": host})

    assert page.heading == "Overview"


async def test_behind_a_proxy_that_changes_the_host_our_own_page_is_known_by_the_base_url() -> None:
    world = ApiWorld(Settings(base_url="https://hooks.example:443/"))
    browsing = Browsing(world)
    headers = {"Origin": "https://hooks.example", "Host": "node-1:8000", "Sec-Fetch-Site": "same-origin"}

    page = await browsing.post(f"{ROOT}/sign-in", {"key": (await world.caller()).key}, headers=headers)

    assert page.heading == "Overview"


async def test_a_sign_in_over_http_is_redirected_to_https() -> None:
    world = ApiWorld(Settings(base_url="https://hooks.example"))
    acme, browsing = await world.caller(), Browsing(world)
    headers = {"Origin": "http://box.lan:8011", "Host": "box.lan:8011"}

    page = await browsing.post(f"{ROOT}/sign-in", {"key": acme.key}, headers=headers)

    assert page.status == 400
    assert "You opened this page over http, and this service expects https." in page.text
    address = "https://hooks.example/dashboard/sign-in"
    assert page.links[address] == address
    assert not browsing.cookies


async def test_pages_load_only_own_resources_and_cannot_be_framed(browsing: Browsing) -> None:
    page = await browsing.open(ROOT)

    policy = page.response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.response.headers["cache-control"] == "no-store"
    loaded = [
        attrs.get("src") or attrs.get("href", "") for tag, attrs in page.elements if tag in {"script", "link", "img"}
    ]
    assert loaded
    assert all(address.startswith("/dashboard/assets/") for address in loaded)
    for address in loaded:
        answer = await browsing.world.send("GET", address)
        assert answer.status_code == 200, address
    assert not [attrs for _, attrs in page.elements if "style" in attrs or any(name.startswith("on") for name in attrs)]


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/nowhere",
        "/dashboard/assets/../conftest.py",
        "/dashboard/assets/x.js",
        # Between the addresses of routes.
        "/dashboard/keys/nowhere",
        "/dashboard/posts/post_1/no/where",
    ],
)
async def test_an_unknown_path_answers_with_a_page(browsing: Browsing, path: str) -> None:
    page = await browsing.open(path)

    assert page.status == 404
    assert page.response.headers["content-type"].startswith("text/html")


async def test_a_key_that_may_not_read_sees_nothing(world: ApiWorld) -> None:
    writer = await world.caller("Writers", Scope.WRITE)
    browsing = Browsing(world)

    page = await browsing.sign_in(writer.key)

    assert page.status == 403
    assert "may not read" in page.text
    assert "Writers" not in page.text
    assert (await browsing.send(page.form(f"{ROOT}/sign-out"))).heading == "Sign in"
    assert not browsing.cookies


async def test_a_page_of_v1_stays_json(world: ApiWorld) -> None:
    answer = await world.send("GET", "/v1/nowhere")

    assert answer.json() == {"error": "Not Found"}


async def test_a_script_that_is_signed_out_is_sent_to_the_sign_in(world: ApiWorld) -> None:
    page = await Browsing(world).open(ROOT, headers={"HX-Request": "true"})

    assert page.status == 401
    assert page.response.headers["hx-redirect"] == "/dashboard/sign-in"


async def test_a_key_stores_a_bounded_number_of_sessions(world: ApiWorld, acme: Caller) -> None:
    other = await world.operator.issue_key(acme.organization, scopes=[Scope.READ])
    assert isinstance(other, IssuedKey)
    statuses = [
        (await world.send("POST", f"{ROOT}/sign-in", data={"key": acme.key})).status_code
        for _ in range(SIGN_INS.limit + 2)
    ]
    assert statuses == [303] * SIGN_INS.limit + [429] * 2
    assert (await world.send("POST", f"{ROOT}/sign-in", data={"key": other.key})).status_code == 303

    world.clock.advance(timedelta(seconds=60))
    assert (await world.send("POST", f"{ROOT}/sign-in", data={"key": acme.key})).status_code == 303


async def test_failed_sign_ins_count_against_the_address_and_not_against_the_key(world: ApiWorld, acme: Caller) -> None:
    async def sign_in(key: str) -> tuple[int, str]:
        answer = await world.send("POST", f"{ROOT}/sign-in", data={"key": key})
        return answer.status_code, answer.headers.get("set-cookie", "")

    # A sign-in that succeeds counts nothing against the address.
    for _ in range(FAILED_SIGN_INS.limit + 1):
        assert (await sign_in(acme.key))[0] == 303
    statuses = [(await sign_in(f"csk_{number}"))[0] for number in range(FAILED_SIGN_INS.limit + 5)]
    assert statuses == [401] * FAILED_SIGN_INS.limit + [429] * 5
    # Beyond the limit no key is checked, not even a valid one; existing sessions are not affected.
    assert await sign_in(acme.key) == (429, "")
    assert (await acme("GET", "/v1/posts")).status_code == 200

    world.clock.advance(timedelta(seconds=60))
    assert (await sign_in(acme.key))[0] == 303
