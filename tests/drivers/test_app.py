"""The HTTP application over failing stores: answers and log lines."""

import io
import json
import logging
import re
import sys
from base64 import b64encode
from collections.abc import Generator
from hashlib import sha256
from typing import Any, cast

import httpx
import pytest
from attrs import evolve
from litestar import Litestar
from tests.api.world import SEALER, ApiWorld
from tests.forwarding import Failing

from contentsvc_adapters.memory import memory_stores
from contentsvc_core import SecretUnreadable, StoreUnavailable
from contentsvc_core.organizations import webhook_path
from contentsvc_core.refusals import wire_name
from contentsvc_core.testing import push_body
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_http.app import health_routes, status_route
from contentsvc_http.client_address import Proxies
from contentsvc_http.errors import refuse
from contentsvc_http.logs import configure_logging
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.v1.routes import api_routes

SECRET_IN_BODY = "the body is nobody's business"


class World:
    """The application over a store that can fail, and a client."""

    def __init__(self) -> None:
        stores = memory_stores(SEALER)
        store: Any = Failing(stores.deliveries)
        self.faults: dict[str, Exception] = store.faults
        self.api = ApiWorld(stores=evolve(stores, deliveries=store))
        self.request = self.api.send

    async def set_up(self) -> "World":
        self.acme = await self.api.caller()
        return self

    async def deliver(self) -> httpx.Response:
        delivery = self.acme.signed(push_body(f"feat: {SECRET_IN_BODY}"))
        path = webhook_path(self.acme.connection.integration, self.acme.repository_id)
        return await self.request("POST", path, content=delivery.body, headers=list(delivery.headers))


@pytest.fixture
async def world() -> World:
    return await World().set_up()


@pytest.fixture(params=["console", "json"])
def logged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[io.StringIO]:
    """Return standard error's log output, in either format."""
    root = logging.getLogger()
    before = (root.handlers, root.level)
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logging(level="info", style=request.param)
    yield written
    root.handlers, root.level = before


async def test_a_store_that_is_away_is_503_with_retry_after(world: World) -> None:
    for where in ("configuration", "settle"):
        world.faults[where] = StoreUnavailable("the database is locked")
        answered = await world.deliver()

        assert answered.status_code == 503
        assert answered.headers["Retry-After"] == "1"
        assert answered.json() == {"error": "Service temporarily unavailable"}
        del world.faults[where]
    assert (await world.deliver()).json()["received"] is True


async def test_a_fault_of_our_own_is_500_with_the_decided_text_and_logged_with_its_cause(
    world: World, logged: io.StringIO
) -> None:
    for where in ("configuration", "settle"):
        world.faults[where] = ZeroDivisionError("the lamp went out")
        answered = await world.deliver()

        assert answered.status_code == 500
        assert answered.json() == {"error": "Internal server error processing webhook"}
        del world.faults[where]
    assert logged.getvalue().count("the lamp went out") >= 2
    assert (await world.deliver()).json()["message"] == "Processed push event (pushed)"


async def test_a_secret_of_another_key_is_one_line_with_the_remedy(world: World, logged: io.StringIO) -> None:
    world.faults["configuration"] = SecretUnreadable("sealed with another key")

    assert (await world.deliver()).status_code == 500

    (line,) = [line for line in logged.getvalue().splitlines() if "receiving failed" in line]
    assert "sealed with another key" in line
    assert "restart all servers with the same CONTENTSVC_SECRET_KEY" in line
    assert "Traceback" not in logged.getvalue()


async def test_no_traceback_holds_a_key_a_signature_or_a_body(
    world: World, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.faults["settle"] = ZeroDivisionError("the lamp went out")
    assert (await world.deliver()).status_code == 500

    async def broken(prefix: str) -> None:
        raise ZeroDivisionError(len(prefix))

    monkeypatch.setattr(world.api.stores.keys, "key", broken)
    answered = await world.request("GET", "/v1/posts", headers={"Authorization": f"Bearer {world.acme.key}"})
    assert answered.status_code == 500
    assert answered.json() == {"error": "Internal server error"}

    text = logged.getvalue()
    assert text.count("Traceback") >= 2
    for secret in (world.acme.key, world.acme.key[-20:], world.acme.connection.secret, "sha256=", SECRET_IN_BODY):
        assert secret not in text


async def test_a_path_cannot_speak_to_the_terminal(world: World, logged: io.StringIO) -> None:
    await world.request("GET", "/%1b]0;owned%07%0d%0a")

    assert "\x1b]0" not in logged.getvalue()
    assert "\x07" not in logged.getvalue()


async def test_the_line_of_a_request_is_the_same_as_any_other_line(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logging(level="info", style="json", worker=3)
    path = '/v1/"posts"\\é'
    try:
        with_id = {"X-Request-Id": "r-1"}
        await world.request("POST", path, headers=with_id)
        # With another handler, or for a console, the processors write it.
        root.handlers = [*root.handlers, logging.NullHandler()]
        await world.request("POST", path, headers=with_id)
        configure_logging(level="warning", style="json", worker=3)
        await world.request("POST", path, headers=with_id)
    finally:
        root.handlers, root.level = before

    quick, thorough = [json.loads(line) for line in written.getvalue().splitlines()]
    assert quick.pop("worker") == 3
    # An earlier test may have used, and so configured, this logger.
    thorough.pop("worker", None)
    assert list(quick) == list(thorough)
    for line in (quick, thorough):
        assert line.pop("timestamp").endswith("Z")
        assert isinstance(line.pop("ms"), float)
    assert quick == thorough
    assert (quick["path"], quick["request_id"]) == (path, "r-1")
    first, second = written.getvalue().splitlines()
    assert first[: first.index('"ms"')] == second[: second.index('"ms"')]


async def test_an_unready_service_names_the_reason() -> None:
    async def why_not() -> str | None:
        return "the engine has stopped"

    app = Litestar(route_handlers=health_routes(why_not), exception_handlers={Exception: refuse}, openapi_config=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(cast("Any", app)), base_url="http://test") as client:
        answered = await client.get("/health/ready")

    assert (await ApiWorld().send("GET", "/health/ready")).json() == {"status": "ready"}
    assert answered.status_code == 503
    assert answered.json() == {"error": "Not ready: the engine has stopped"}
    assert answered.headers["Retry-After"] == "1"


async def test_the_openapi_document_needs_no_key_and_names_every_route(world: World) -> None:
    document = (await world.request("GET", "/schema/openapi.json")).json()

    assert document["openapi"].startswith("3.1")
    app = world.api.use_cases
    limits = RateLimits(app.limiter, app.authenticator, Proxies.read(""))
    handlers = [*api_routes(app, limits, hosted=False), *health_routes(cast("Any", None)), status_route("0.1.0")]
    paths = {path for handler in handlers for path in handler.paths}
    named = {re.sub(r"\{(\w+):\w+\}", lambda name: f"{{{wire_name(name[1])}}}", path) for path in paths}
    assert set(document["paths"]) == named | {
        "/api/webhooks/{provider}/{organizationId}/{integrationId}/{repositoryId}"
    }
    receiver = document["paths"]["/api/webhooks/{provider}/{organizationId}/{integrationId}/{repositoryId}"]["post"]
    assert {"200", "400", "401", "403", "404", "413", "415", "500", "503"} <= set(receiver["responses"])
    assert "application/json" in receiver["requestBody"]["content"]
    assert {parameter["name"] for parameter in receiver["parameters"]} == {
        *("provider", "organizationId", "integrationId", "repositoryId"),
        *(name for each in PROVIDERS for name in (each.scheme.header, each.event_header, each.delivery_header)),
    }
    assert "Retry-After" in receiver["responses"]["503"]["headers"]
    schemas = document["components"]["schemas"]
    for answer in receiver["responses"].values():
        reference = answer["content"]["application/json"]["schema"]["$ref"]
        assert reference.removeprefix("#/components/schemas/") in schemas
    listing = document["paths"]["/v1/posts"]["get"]
    assert {parameter["name"] for parameter in listing["parameters"]} == {
        *("limit", "page", "sort", "orderBy", "status", "contentType", "brandIdentityId"),
        *("label", "repository", "query", "since", "until"),
    }


async def test_of_a_repeated_parameter_the_last_one_counts(world: World) -> None:
    headers = {"Authorization": f"Bearer {world.acme.key}"}

    answered = await world.request("GET", "/v1/posts?limit=5&limit=7&page=2&page=1", headers=headers)

    assert answered.json()["pagination"]["limit"] == 7
    refused = await world.request("GET", "/v1/posts?brandIdentityId=bi_1", headers=headers)
    assert (refused.status_code, refused.json()) == (400, {"error": "Invalid brandIdentityId: 'bi_1' is unknown"})


@pytest.mark.parametrize(
    "path", ["/schema", "/schema/", "/schema/openapi.json", "/schema/assets/swagger-ui.css", "/schema/x"]
)
async def test_the_documentation_has_a_content_security_policy(path: str) -> None:
    answer = await ApiWorld().send("GET", path)

    assert answer.headers["x-content-type-options"] == "nosniff"
    if "assets" not in path:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


async def test_the_documentation_page_allows_only_its_own_inline_code() -> None:
    answer = await ApiWorld().send("GET", "/schema/")

    policy = answer.headers["content-security-policy"]
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        (inline,) = re.findall(rf"<{tag}(?: type='text/javascript')?>(.*?)</{tag}>", answer.text, re.DOTALL)
        digest = b64encode(sha256(inline.encode()).digest()).decode()
        assert f"{kind} 'self' 'sha256-{digest}';" in policy
