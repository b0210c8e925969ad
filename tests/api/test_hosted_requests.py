"""Requests of clients of the hosted product, byte for byte, with and without their setting."""

from collections.abc import AsyncGenerator, Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from tests import postgres, sqlite
from tests.api.world import SEALER, ApiWorld, Caller
from tests.builders import a_brand

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core import Connection
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.workflows.causes import Generation
from contentsvc_http.settings import Settings

GENERATE: Final = "/v1/posts/generate"
#: What ``dataPoints: {}`` of the hosted library becomes before it is sent.
DATA_POINTS: Final = {
    "includePullRequests": True,
    "includeCommits": True,
    "includeReleases": True,
    "includeLinearData": False,
}
NO_LINEAR: Final = "Linear cannot be connected here"
DAILY: Final = {"frequency": "daily", "hour": 9, "minute": 0}


def schedule(**fields: Any) -> dict[str, Any]:
    """Return the body of a new schedule: the hosted library sends every field."""
    return {
        "name": "D" * 120,
        "sourceType": "cron",
        "sourceConfig": {"cron": DAILY},
        "targets": {"repositoryIds": ["1"]},
        "outputType": "changelog",
        "enabled": True,
        "autoPublish": False,
        "lookbackWindow": "last_7_days",
        **fields,
    }


def trigger(**fields: Any) -> dict[str, Any]:
    return {
        "sourceType": "codehost_webhook",
        "sourceConfig": {"eventTypes": ["release"], "includePreReleases": True, "ignoreCommitPatterns": []},
        "targets": {"repositoryIds": ["1"]},
        "outputType": "changelog",
        "enabled": True,
        "autoPublish": False,
        **fields,
    }


async def make_brand(acme: Caller) -> BrandIdentity:
    now = acme.world.clock.now()
    brand = a_brand(
        now, id=acme.world.ids.new_id("brand_"), organization_id=acme.organization.id, name="Keeper", custom_tone="dry"
    )
    await acme.world.stores.brands.add(brand)
    return evolve(brand, is_default=True)


async def make_posts(acme: Caller, *kinds: str) -> list[dict[str, Any]]:
    """Create a draft of each content type; return the posts, oldest first."""
    await acme.push("d-1", "feat: a lamp")
    # A window ends before the time of its request.
    acme.world.clock.advance(timedelta(milliseconds=1))
    for kind in kinds:
        assert (await acme("POST", GENERATE, {"contentType": kind})).status_code == 202
        await acme.world.perform()
    listed = await acme("GET", "/v1/posts?sort=asc&status=draft,published")
    return listed.json()["posts"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow("asks one more database"))])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[SqlStores]:
    url = nullcontext(sqlite.migrated(tmp_path / "store.db")) if request.param == "sqlite" else postgres.emptied()
    with url as address:
        created_body = SqlStores(Database(address), SEALER)
        yield created_body
        await created_body.close()


@pytest.mark.parametrize("setting", ["on", "off"])
async def test_requests_of_hosted_clients_are_taken_with_the_setting_and_refused_without(
    stores: SqlStores, setting: str
) -> None:
    hosted = setting == "on"
    acme = await ApiWorld(Settings(hosted_client=setting), stores).caller()
    # Without the setting, a misspelt filter is refused, where it would list everything.
    misspelt = await acme("GET", "/v1/posts?statu=draft&limit=1")
    assert hosted or "unknown parameter 'statu'; known are " in misspelt.json()["error"]
    assert misspelt.status_code == (200 if hosted else 400)
    brand, posts = await make_brand(acme), await make_posts(acme, "changelog", "blog_post")
    (connected,) = (await acme("GET", "/v1/integrations")).json()["codehost"]
    post, integration = f"/v1/posts/{posts[0]['id']}", connected["id"]

    async def taken(method: str, path: str, body: dict[str, Any], *, field: str) -> Any:
        """Send a request that is accepted with the setting; without it, the refusal names the field."""
        answer = await acme(method, path, body)
        assert answer.is_success if hosted else answer.status_code == 400, answer.text
        assert hosted or field in answer.json()["error"], answer.text
        return answer.json()

    # The library with `dataPoints: {}`; the command line and the MCP server with an integration and a brand voice;
    # the launcher's extension.
    bodies: list[tuple[dict[str, Any], str]] = [
        ({"dataPoints": DATA_POINTS}, "includePullRequests"),
        ({"integrations": {"github": [integration]}, "brandVoiceId": brand.id}, "integrations"),
        (
            {
                "brandIdentityId": brand.id,
                "dataPoints": DATA_POINTS,
                "integrations": {"github": [integration], "linear": []},
                "lookbackWindow": "yesterday",
                "timezone": "Etc/UTC",
            },
            "includePullRequests",
        ),
        (
            {
                "linearIntegrationIds": [],
                "selectedItems": {"commitShas": []},
                "timezone": "America/New_York",
                "publishDestination": None,
            },
            "linearIntegrationIds",
        ),
    ]
    for more, field in bodies:
        request_body = {"contentType": "changelog", "lookbackWindow": "last_7_days", **more}
        started = await taken("POST", GENERATE, request_body, field=field)
        if hosted:
            voice = brand.id if "brand" in str(more) else None
            assert (started["job"]["repositoryIds"], started["job"]["brandVoiceId"]) == (["1"], voice)

    # A whole PATCH of a schedule as it was read keeps the brand.
    output = {"brandVoiceId": brand.id, "publishDestination": None, "instructions": None}
    new = schedule(targets={"repositoryIds": [integration]}, outputConfig=output)
    created_body = await taken("POST", "/v1/schedules", new, field="publishDestination")
    if hosted:
        assert created_body["schedule"]["targets"] == {"repositoryIds": ["1"]}
        read = {name: created_body["schedule"][name] for name in new}
        changed = await acme("PATCH", f"/v1/schedules/{created_body['schedule']['id']}", {**read, "name": "Renamed"})
        assert changed.json()["schedule"]["outputConfig"] == created_body["schedule"]["outputConfig"]
        (kept,) = await stores.schedules.all_of(acme.organization.id)
        assert (kept.name, kept.brand_identity_id, kept.repository_ids) == ("Renamed", brand.id, (1,))
    new = trigger(targets={"repositoryIds": [integration]}, outputConfig=output)
    created_body = await taken("POST", "/v1/event-triggers", new, field="includePreReleases")
    if hosted:
        read = {name: created_body["eventTrigger"][name] for name in new}
        await acme("PATCH", f"/v1/event-triggers/{created_body['eventTrigger']['id']}", {**read, "enabled": False})
        (kept,) = await stores.triggers.all_of(acme.organization.id)
        assert (kept.enabled, kept.brand_identity_id, kept.event_types) == (False, brand.id, ("release",))

    # The launcher's extension sends the slug with each change of a post.
    edit = {"markdown": "# Lamp\n\nIt is lit.", "slug": None, "status": "published", "title": "Lamp"}
    assert posts[0]["status"] == "draft"
    await taken("PATCH", post, edit, field="slug")
    current_post = (await acme("GET", post)).json()["post"]
    assert (current_post["title"], current_post["status"]) == (
        ("Lamp", "published") if hosted else (posts[0]["title"], "draft")
    )

    cleared = {"customTone": "", "customInstructions": "", "audience": None, "toneProfile": "Casual"}
    path = f"/v1/brand-identities/{brand.id}"
    await taken("PATCH", path, cleared, field="customTone")
    spoken = (await acme("GET", path)).json()["brandIdentity"]
    stored = (spoken["customTone"], spoken["toneProfile"])
    assert stored == ((None, "Casual") if hosted else ("dry", "Professional"))


async def test_integration_ids_and_repeated_lists_are_accepted_with_any_setting(stores: SqlStores) -> None:
    acme = await ApiWorld(stores=stores).caller()
    posts = await make_posts(acme, "changelog", "blog_post")
    await acme("PATCH", f"/v1/posts/{posts[0]['id']}", {"status": "published"})
    other = await acme("POST", "/v1/integrations/codehost", {"owner": "acme", "repo": "buoy", "repositoryId": 77})
    ids = [acme.connection.integration.id, other.json()["codehost"]["id"]]
    assert other.json()["codehost"]["repositoryId"] == "77"

    started = await acme("POST", GENERATE, {"contentType": "changelog", "repositoryIds": [ids[1]]})
    assert started.json()["job"]["repositoryIds"] == ["77"]
    for number, chosen in enumerate(([ids[0]], [ids[1], "77"], [1, ids[1]])):
        hour = {"cron": {**DAILY, "hour": number}}
        created_body = await acme(
            "POST", "/v1/schedules", schedule(targets={"repositoryIds": chosen}, sourceConfig=hour)
        )
        assert created_body.status_code == 201, created_body.text
        body = trigger(targets={"repositoryIds": chosen}, sourceConfig={"eventTypes": ["push"]})
        assert (await acme("POST", "/v1/event-triggers", body)).status_code == 201

    async def lists(query: str) -> list[list[list[str]]]:
        answers = [(await acme("GET", f"{path}{query}")).json() for path in ("/v1/schedules", "/v1/event-triggers")]
        return [
            [each["targets"]["repositoryIds"] for each in answer[kind]]
            for answer, kind in zip(answers, ("schedules", "eventTriggers"), strict=True)
        ]

    first, second, both = ["1"], ["77"], ["1", "77"]
    assert await lists("") == await lists("?repositoryIds=") == [[first, second, both]] * 2
    assert await lists(f"?repositoryIds={ids[0]}") == await lists("?repositoryIds=1") == [[first, both]] * 2
    assert await lists(f"?repositoryIds={ids[1]}&repositoryIds=1,78") == [[first, second, both]] * 2
    assert await lists("?repositoryIds=78") == [[]] * 2
    names = (await acme("GET", f"/v1/schedules?repositoryIds={ids[0]}")).json()["repositoryMap"]
    assert names == {"1": "acme/lighthouse", "77": "acme/buoy"}

    fault = "'int_x' is neither a repository id nor the id of an integration"
    unknown = {"repositoryIds": [ids[0], "int_x"]}
    for method, path, body, field in (
        ("GET", "/v1/schedules?repositoryIds=1,int_x", None, "repositoryIds[1]"),
        ("GET", "/v1/event-triggers?repositoryIds=1,int_x", None, "repositoryIds[1]"),
        ("POST", "/v1/schedules", schedule(targets=unknown), "targets.repositoryIds[1]"),
        ("POST", "/v1/event-triggers", trigger(targets=unknown, sourceConfig={}), "targets.repositoryIds[1]"),
        ("POST", GENERATE, {"contentType": "changelog", **unknown}, "repositoryIds[1]"),
    ):
        refused = await acme(method, path, body)
        assert (refused.status_code, refused.json()) == (400, {"error": f"Invalid request: {field}: {fault}"})

    async def found(path: str, kind: str) -> int:
        answer = await acme("GET", path)
        assert answer.status_code == 200, answer.text
        return len(answer.json()[kind])

    # The site builder's plugin, which allows drafts.
    assert await found("/v1/posts?status=published", "posts") == 1
    assert await found("/v1/posts?contentType=changelog&status=published&status=draft&limit=9&limit=50", "posts") == 1
    assert (
        await found("/v1/posts?status=published&status=draft&contentType=changelog&contentType=blog_post", "posts") == 2
    )
    assert await found("/v1/webhook-logs?status=failed", "logs") == 0
    assert await found("/v1/webhook-logs?status=failed&status=success", "logs") == 1
    assert await found("/v1/context?eventType=push&eventType=release", "context") == 1


async def test_an_integration_names_the_provider_of_its_repository(world: ApiWorld, acme: Caller) -> None:
    created_body = await acme.world.operator.connect(
        acme.organization, full_name="acme/mirror", repository_id=1, provider="github", branch="main"
    )
    assert isinstance(created_body, Connection)
    targets, source = {"repositoryIds": [created_body.integration.id]}, {"eventTypes": ["push"]}

    body = {"targets": targets, "sourceConfig": source}
    created = (await acme("POST", "/v1/event-triggers", body)).json()["eventTrigger"]
    assert (created["sourceType"], created["targets"]) == ("github_webhook", {"repositoryIds": ["1"]})
    started = await acme("POST", GENERATE, {"contentType": "changelog", "repositoryIds": [created_body.integration.id]})
    (run,) = await world.stores.ledger.runs(acme.organization.id)
    assert started.status_code == 202
    assert isinstance(run.cause, Generation)
    assert [each.full_name for each in run.cause.sources] == ["acme/mirror"]

    path = f"/v1/event-triggers/{created['id']}"
    for method, where in (("POST", "/v1/event-triggers"), ("PATCH", path)):
        refused = await acme(method, where, {"targets": targets, "sourceType": "codehost_webhook"})
        error = "targets.repositoryIds: sourceType names the provider codehost, but an integration has another provider"
        assert (refused.status_code, refused.json()) == (400, {"error": f"Invalid request: {error}"})
    moved = await acme("PATCH", path, {"targets": {"repositoryIds": [acme.connection.integration.id]}})
    assert moved.json()["eventTrigger"]["sourceType"] == "codehost_webhook"


@pytest.fixture(scope="module")
def hosted() -> ApiWorld:
    """Return a world with the setting: its routes are registered once."""
    return ApiWorld(Settings(hosted_client="on"))


async def test_posts_are_listed_as_the_hosted_product_lists_them(hosted: ApiWorld) -> None:
    acme = await hosted.caller("Lists")
    posts = await make_posts(acme, "changelog", "blog_post", "twitter_post")
    for each in posts[:2]:
        await acme("PATCH", f"/v1/posts/{each['id']}", {"status": "published"})

    async def listed(query: str) -> list[str]:
        answer = await acme("GET", f"/v1/posts?sort=asc&{query}")
        assert answer.status_code == 200, answer.text
        assert answer.json()["pagination"]["totalItems"] == len(answer.json()["posts"])
        return [each["contentType"] for each in answer.json()["posts"]]

    assert await listed("") == await listed("status=") == ["changelog", "blog_post"]
    assert await listed("status=draft") == ["twitter_post"]
    assert await listed("status=published&status=draft") == ["changelog", "blog_post", "twitter_post"]
    assert await listed("contentType=changelog,image") == ["changelog"]
    assert await listed("contentType=image") == []
    beyond = await acme("GET", "/v1/posts?contentType=image&page=2")
    assert (beyond.status_code, beyond.json()["error"]) == (400, "Invalid page number")
    assert (await acme("GET", "/v1/posts?contentType=image&status=secret")).status_code == 400


async def test_a_slug_is_taken_and_not_kept(hosted: ApiWorld) -> None:
    acme = await hosted.caller("Slugs")
    (post,) = await make_posts(acme, "changelog")
    path = f"/v1/posts/{post['id']}"
    tag = (await acme("GET", path)).headers["ETag"]

    for slug in (None, "a-lamp"):
        alone = await acme("PATCH", path, {"slug": slug})
        assert (alone.status_code, alone.headers["ETag"], alone.json()["post"]["id"]) == (200, tag, post["id"])
        assert alone.json()["post"]["updatedAt"] == post["updatedAt"]
    stale = await acme("PATCH", path, {"slug": "a"}, headers={"If-Match": '"other"'})
    assert stale.status_code == 412
    assert (await acme("PATCH", "/v1/posts/post_x", {"slug": "a"})).status_code == 404
    assert (await acme("PATCH", path, {})).status_code == 400
    assert (await acme("PATCH", path, {"slug": 7})).status_code == 400
    changed = await acme("PATCH", path, {"slug": "a-lamp", "title": "Lamp"})
    assert (changed.status_code, changed.json()["post"]["title"]) == (200, "Lamp")


async def test_texts_of_a_brand_identity_are_cleared(hosted: ApiWorld) -> None:
    acme = await hosted.caller("Texts")
    brand = await make_brand(acme)
    path = f"/v1/brand-identities/{brand.id}"
    texts = ("companyName", "companyDescription", "customTone", "customInstructions", "audience", "language")

    async def change(**fields: Any) -> dict[str, Any]:
        answer = await acme("PATCH", path, fields)
        assert answer.status_code == 200, answer.text
        return answer.json()["brandIdentity"]

    for nothing in (None, "", " \n"):
        changed = await change(**dict.fromkeys(texts, "a text"))
        assert [changed[name] for name in texts] == ["a text"] * len(texts)
        changed = await change(**dict.fromkeys(texts, nothing))
        assert [changed[name] for name in texts] == [None] * len(texts)
    both = await change(toneProfile="Casual", customTone="dry")
    assert (both["toneProfile"], both["customTone"]) == ("Casual", "dry")
    assert (await change(audience="sailors"))["customTone"] == "dry"
    assert (await change(toneProfile="Formal"))["customTone"] is None
    unset = await change(toneProfile=None, customTone="wry")
    assert (unset["toneProfile"], unset["customTone"]) == ("Professional", "wry")
    assert (await change(websiteUrl="other.example"))["websiteUrl"] == "https://other.example"
    long = await change(name="n" * 120, companyDescription="d" * 4000, customInstructions="i" * 4000)
    assert [len(long[name]) for name in ("name", "companyDescription", "customInstructions")] == [120, 4000, 4000]
    for field in ("name", "websiteUrl"):
        assert (await acme("PATCH", path, {field: ""})).status_code == 400


ASK: Final = {"contentType": "changelog", "lookbackWindow": "last_7_days"}
REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    (GENERATE, {**ASK, "linearIntegrationIds": ["lin_1"]}, f"linearIntegrationIds: {NO_LINEAR}; send an empty list"),
    (GENERATE, {**ASK, "integrations": {"linear": ["lin_1"]}}, f"integrations.linear: {NO_LINEAR}; send an empty list"),
    (
        GENERATE,
        {**ASK, "dataPoints": {**DATA_POINTS, "includeLinearData": True}},
        f"dataPoints.includeLinearData: {NO_LINEAR}; send false",
    ),
    (
        GENERATE,
        {**ASK, "dataPoints": {**DATA_POINTS, "includeCommits": False, "includeReleases": False}},
        "includeCommits and includeReleases are both false",
    ),
    (GENERATE, {**ASK, "selectedItems": {"commitShas": ["a"]}}, "selectedItems: a post always covers everything"),
    (
        GENERATE,
        {**ASK, "lookbackWindow": "yesterday", "timezone": "America/New_York"},
        "timezone: 'America/New_York' is not supported: days begin at midnight UTC here; for yesterday, send 'UTC'",
    ),
    (GENERATE, {**ASK, "publishDestination": "webflow"}, "publishDestination: posts cannot be sent to other services"),
    (GENERATE, {**ASK, "brandVoiceId": "a", "brandIdentityId": "b"}, "brandVoiceId is an alias of brandIdentityId"),
    (
        GENERATE,
        {**ASK, "integrations": {"github": ["int_x"]}},
        "integrations.github[0]: 'int_x' is neither a repository id",
    ),
    (GENERATE, {**ASK, "integrations": {"slack": []}}, "integrations.slack is an unknown field"),
    (
        "/v1/schedules",
        schedule(outputConfig={"publishDestination": "framer"}),
        "outputConfig.publishDestination: posts cannot be sent to other services",
    ),
    (
        "/v1/schedules",
        schedule(outputConfig={"instructions": "as a tutorial"}),
        "outputConfig.instructions: not supported here: set customInstructions",
    ),
    (
        "/v1/schedules",
        schedule(sourceConfig={"cron": {**DAILY, "frequency": "custom", "intervalDays": 3}}),
        "sourceConfig.cron.frequency: 'custom' is not one of daily, monthly, weekly",
    ),
    (
        "/v1/event-triggers",
        trigger(sourceConfig={"eventTypes": ["push"], "ignoreCommitPatterns": ["^chore"]}),
        "sourceConfig.ignoreCommitPatterns: commits cannot be excluded by pattern here",
    ),
    (
        "/v1/event-triggers",
        trigger(outputConfig={"publishDestination": "custom"}),
        "outputConfig.publishDestination: posts cannot be sent to other services",
    ),
)


async def test_unsupported_fields_are_refused_by_name(hosted: ApiWorld) -> None:
    acme = await hosted.caller("Refused")
    own = str(acme.repository_id)
    current: dict[str, str] = {}
    for path, kind, body in (
        ("/v1/schedules", "schedule", schedule(targets={"repositoryIds": [own]})),
        ("/v1/event-triggers", "eventTrigger", trigger(targets={"repositoryIds": [own]})),
    ):
        created_body = await acme("POST", path, body)
        assert created_body.status_code == 201, created_body.text
        current[path] = f"{path}/{created_body.json()[kind]['id']}"
    before = [(await acme("GET", path)).json() for path in current]

    for path, body, error in REFUSED:
        # A client asks ten times a minute at most.
        hosted.clock.advance(timedelta(seconds=6))
        routes = [("POST", path), *([("PATCH", current[path])] if path in current else [])]
        for method, where in routes:
            refused = await acme(method, where, body)
            assert (refused.status_code, error in refused.json()["error"]) == (400, True), refused.text

    assert [(await acme("GET", path)).json() for path in current] == before
    assert await hosted.stores.ledger.runs(acme.organization.id) == []
    # Empty instructions have no effect.
    blank = await acme("PATCH", current["/v1/schedules"], {"outputConfig": {"instructions": ""}})
    assert blank.status_code == 200, blank.text


async def test_a_trigger_leaves_pre_releases_out_if_its_source_says_so(hosted: ApiWorld) -> None:
    acme = await hosted.caller()
    source = {"eventTypes": ["release"], "includePreReleases": False, "ignoreCommitPatterns": []}
    answer = await acme(
        "POST",
        "/v1/event-triggers",
        trigger(sourceConfig=source, targets={"repositoryIds": [acme.connection.integration.id]}),
    )

    assert answer.json()["eventTrigger"]["sourceConfig"] == source
    (stored,) = await hosted.stores.triggers.all_of(acme.organization.id)
    assert not stored.options.pre_releases


@pytest.mark.parametrize(
    ("path", "kind", "new"), [("/v1/schedules", "schedule", schedule), ("/v1/event-triggers", "eventTrigger", trigger)]
)
async def test_sending_back_the_read_object_keeps_the_house_style(
    hosted: ApiWorld, path: str, kind: str, new: Callable[..., dict[str, Any]]
) -> None:
    acme = await hosted.caller(f"Kept {kind}")
    body = new(targets={"repositoryIds": [str(acme.repository_id)]})
    created_body = (await acme("POST", path, body | {"outputConfig": {"houseStyle": {"links": False}}})).json()[kind]
    # The same without a house style: both are duplicates when the first one has none.
    assert (await acme("POST", path, body)).status_code == 201
    assert created_body["outputConfig"] is None
    one = f"{path}/{created_body['id']}"

    changed = await acme("PATCH", one, body | {"outputConfig": created_body["outputConfig"]})
    assert changed.status_code == 200, changed.text
    # Removed only by its name.
    assert (await acme("PATCH", one, {"outputConfig": {"houseStyle": None}})).status_code == 409
