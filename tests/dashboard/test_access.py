"""Access to each route of the dashboard, and to each form of its pages."""

from collections.abc import Mapping
from typing import Any, Final, cast, final
from urllib.parse import urlsplit

from litestar.routes import HTTPRoute
from tests.api.furnished import furnish
from tests.api.world import ApiWorld, Caller
from tests.core.test_changelog_facets import png
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.conftest import signed_in
from tests.dashboard.contents import beside

from contentsvc_core import Scope
from contentsvc_core.access.sessions import csrf_token
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.routes import dashboard_routes

ROOT = "/dashboard"
SIGN_OUT = f"{ROOT}/sign-out"
HOSTILE = "<img src=x onerror=alert(1)>"
#: The paths without a session.
OPEN = (f"{ROOT}/assets/", f"{ROOT}/sign-in", SIGN_OUT)
#: Forms after which the object accepts no other one.
LAST = ("/revoke", "/disconnect", "/delete", "/disable")
#: The operations of ``/v1`` with the same id, by the beginning of the page's path.
ITEMS: Final = {
    "brands": "/v1/brand-identities/{brandIdentityId}",
    "brands/jobs": "/v1/brand-identities/generate/{jobId}",
    "changelogs": "/v1/changelogs/{changelogId}",
    "context": "/v1/context/{customId}",
    "endpoints": "/v1/webhook-endpoints/{endpointId}",
    "integrations": "/v1/integrations/{integrationId}",
    "integrations/logs": "/v1/webhook-logs/{logId}",
    "keys": "key",
    "posts": "/v1/posts/{postId}",
    "posts/jobs": "/v1/posts/generate/{jobId}",
    "runs": "/v1/runs/{runId}",
    "schedules": "/v1/schedules/{scheduleId}",
    "triggers": "/v1/event-triggers/{triggerId}",
}


@final
class Office:
    """An organization with one object of each kind, with names that a page must escape, and its user."""

    def __init__(self, caller: Caller, browsing: Browsing, ids: dict[str, str]) -> None:
        self.caller = caller
        self.browsing = browsing
        self.ids = ids

    @classmethod
    async def of(cls, caller: Caller) -> "Office":
        ids = {**await furnish(caller.world, caller), "key": caller.record.prefix}
        named: dict[str, dict[str, Any]] = {
            "triggers": {"name": HOSTILE, "sourceConfig": {"eventTypes": []}},
            "schedules": {"name": HOSTILE},
        }
        for item, fields in named.items():
            assert (await caller("PATCH", ITEMS[item].partition("{")[0] + ids[ITEMS[item]], fields)).is_success
        await caller.push("d-8", f"feat: {HOSTILE}")
        await caller.release("d-9", HOSTILE)
        office = cls(caller, await signed_in(caller.world, caller), ids)
        for path in (f"{ROOT}/changelog/images", office.path(f"{ROOT}/changelogs/{{changelog_id:str}}/images")):
            logo = {"file": ("logo.png", png(8, 8), "image/png")}
            assert (await office.browsing.upload(path, {"csrf": office.csrf, "kind": "logo"}, logo)).status == 200
        return office

    async def pages(self) -> dict[str, Seen]:
        """Open each page that the overview links to."""
        seen: dict[str, Seen] = {}
        waiting = [ROOT]
        while waiting:
            path = waiting.pop()
            seen[path] = await self.browsing.open(path)
            assert seen[path].status == 200, path
            hrefs = {urlsplit(href).path for href in seen[path].links.values()}
            waiting += {href for href in hrefs if href.startswith(ROOT)}.difference(seen, waiting)
        return seen

    async def texts(self) -> dict[str, str]:
        return {path: page.text for path, page in (await self.pages()).items()}

    def path(self, template: str, id_: str | None = None) -> str:
        """Return the path with its own object, or with another id."""
        before, parameter, _ = template.replace("{kind:str}", "logo").partition("{")
        if not parameter:
            return before
        _, _, after = template.replace("{kind:str}", "logo").partition("}")
        return before + (id_ or self.ids[ITEMS[before.removeprefix(f"{ROOT}/").rstrip("/")]]) + after

    def paths_of_none(self, template: str, other: "Office") -> list[str]:
        """Return the paths with the other organization's object, and with ids that are no object's."""
        return [other.path(template), *(self.path(template, id_) for id_ in ("unknown", "%20"))]

    @property
    def csrf(self) -> str:
        (token,) = self.browsing.cookies.values()
        return csrf_token(token)


def routes(world: ApiWorld, method: str) -> list[str]:
    """Return the paths of a method that need a session, and answer with a page of their own."""
    dashboard = Dashboard(app=world.use_cases, limits=cast("Any", None), receiver=cast("Any", world.receiver))
    return [
        route.path
        for route in dashboard_routes(dashboard).routes
        if isinstance(route, HTTPRoute) and not route.path.startswith(OPEN)
        for handler in route.route_handlers
        if method in handler.http_methods and handler.fn.__name__ not in {"refuse_reading", "unknown"}
    ]


async def sent(browsing: Browsing, path: str, fields: Mapping[str, Any], **request: Any) -> Seen:
    if path.endswith("/images"):
        return await browsing.upload(path, {name: "".join(value) for name, value in fields.items()}, None, **request)
    return await browsing.post(path, fields, **request)


async def test_an_object_of_another_organization_is_not_found_and_stays_as_it_is(world: ApiWorld) -> None:
    acme, other = await Office.of(await world.caller("Acme")), await Office.of(await world.caller("Other"))
    own, foreign = await acme.pages(), await other.texts()
    forms = {form.action: form.fields for page in own.values() for form in page.forms}
    reading, writing = (
        [each for each in routes(world, method) if "{" in each.replace("{kind:str}", "")] for method in ("GET", "POST")
    )

    for path, page in own.items():
        assert not [id_ for id_ in other.ids.values() if id_ in page.response.text], path
        assert "other/lighthouse" not in page.text, path
    for template in reading:
        assert (await acme.browsing.open(acme.path(template))).status == 200, template
        for path in acme.paths_of_none(template, other):
            assert (await acme.browsing.open(path)).status == 404, path
    for template in sorted(writing, key=lambda each: [each.endswith(last) for last in LAST]):
        fields = {"csrf": acme.csrf, "repository": "2", **forms.get(acme.path(template), {})}
        for path in acme.paths_of_none(template, other):
            assert (await sent(acme.browsing, path, fields)).status == 404, path
        # Otherwise the answers for other users would prove nothing.
        assert (await sent(acme.browsing, acme.path(template), fields)).status not in {403, 404}, template

    assert len(reading) >= 10
    assert len(writing) >= 20
    assert await other.texts() == foreign


async def test_names_and_messages_are_shown_as_words(world: ApiWorld) -> None:
    pages = await (await Office.of(await world.caller("Acme"))).pages()
    html = [page for page in pages.values() if page.response.headers["content-type"].startswith("text/html")]

    assert len([page for page in html if HOSTILE in page.text]) > len(html) / 4
    assert not [page.path for page in html for _, attrs in page.elements if "onerror" in attrs]


async def test_ids_of_another_organization_in_a_form_or_a_filter_are_unknown(world: ApiWorld) -> None:
    acme, other = await Office.of(await world.caller("Acme")), await Office.of(await world.caller("Other"))
    trigger = (await acme.browsing.open(f"{ROOT}/triggers/new")).form(f"{ROOT}/triggers/new").fields
    schedule = (await acme.browsing.open(f"{ROOT}/schedules/new")).form(f"{ROOT}/schedules/new").fields
    post = {"csrf": acme.csrf, "seen": "x", "title": "t", "markdown": "m", "post": other.ids[ITEMS["posts"]]}
    integration = other.ids[ITEMS["integrations"]]

    for path, fields in (
        ("triggers", trigger | {"id": [other.ids[ITEMS["triggers"]]]}),
        ("schedules", schedule | {"id": [other.ids[ITEMS["schedules"]]]}),
        ("posts", post),
    ):
        assert (await acme.browsing.post(f"{ROOT}/{path}/preview", fields)).status == 404, path
    assert (await acme.browsing.open(f"{ROOT}/runs?before={other.ids[ITEMS['runs']]}")).status == 404
    log = await acme.browsing.open(f"{ROOT}/integrations/logs?integration={integration}")
    assert "No entry matches this filter." in log.text
    matched = await acme.browsing.post(f"{ROOT}/triggers/preview", trigger | {"repositories": ["codehost:2"]})
    assert "0 of 5 deliveries" in matched.text
    # A job of another kind has another page.
    for path, job in (("posts", "brands/jobs"), ("brands", "posts/jobs")):
        assert (await acme.browsing.open(f"{ROOT}/{path}/jobs/{acme.ids[ITEMS[job]]}")).status == 404


async def test_a_key_that_may_only_read_opens_pages_and_sends_no_form(world: ApiWorld) -> None:
    acme = await Office.of(await world.caller("Acme"))
    reader, _ = await beside(acme.caller, Scope.READ)
    await reader.open(ROOT)
    before = await acme.texts()
    (token,) = reader.cookies.values()

    for path, page in (await Office(acme.caller, reader, acme.ids).pages()).items():
        assert {form.action for form in page.forms if form.method == "post"} <= {SIGN_OUT}, path
    for template in routes(world, "GET"):
        page = await reader.open(acme.path(template))
        answer = (403, True) if template.endswith(("s/new", "/write", "/edit")) else (200, False)
        assert (page.status, "may only read" in page.text) == answer, template
        assert {form.action for form in page.forms if form.method == "post"} <= {SIGN_OUT}, template
    for template in routes(world, "POST"):
        page = await sent(reader, acme.path(template), {"csrf": csrf_token(token), "kind": "logo"})
        words = "may not issue or revoke keys" if "/keys" in template else "may only read"
        assert (page.status, words in page.text) == (403, True), template

    assert await acme.texts() == before


async def test_a_form_needs_a_session_its_token_and_its_own_page(world: ApiWorld) -> None:
    acme = await Office.of(await world.caller("Acme"))
    before = await acme.texts()
    stranger = Browsing(world)

    for template in routes(world, "GET"):
        assert (await stranger.open(acme.path(template))).path == f"{ROOT}/sign-in", template
    for template in routes(world, "POST"):
        path, fields = acme.path(template), {"csrf": acme.csrf, "kind": "logo"}
        assert (await sent(stranger, path, fields)).heading == "Sign in", template
        without_token = await sent(acme.browsing, path, fields | {"csrf": "0" * 64})
        elsewhere = await sent(acme.browsing, path, fields, headers={"Sec-Fetch-Site": "cross-site"})
        for page in (without_token, elsewhere):
            assert (page.status, "out of date" in page.text) == (403, True), template

    assert await acme.texts() == before
