"""Each answer is in the document of its setting; with ``CONTENTSVC_HOSTED_CLIENT``, hosted clients can read it."""

import json
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import msgspec
import pytest
from tests import postgres, sqlite
from tests.api import hosted_shapes
from tests.api.tour import TourAnswer, tour
from tests.api.world import SEALER, ApiWorld, Caller
from tests.builders import a_post
from tests.code_host_server import CodeHostServer, at_github
from tests.endpoints import PLACES

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_core.content.posts import Label, PostStatus
from contentsvc_core.outgoing.events import TEST_TYPE, EventType, endpoint_disabled, post_written, run_failed
from contentsvc_core.outgoing.messages import message_for, message_for_test, payload
from contentsvc_core.ports import Stores
from contentsvc_core.usecases.watch_integrations import IntegrationWatch
from contentsvc_http.settings import Settings

#: Statuses that the tour gets from some operation.
STATUSES: Final = {200, 201, 202, 400, 401, 403, 404, 409, 412, 413, 415, 429}
_EVERY_OPERATION: Final = pytest.mark.slow("asks for every operation once more")


@contextmanager
def _url(database: str, folder: Path) -> Generator[str]:
    if database == "sqlite":
        yield sqlite.migrated(folder / "store.db")
    else:
        with postgres.emptied() as url:
            yield url


@asynccontextmanager
async def _stores(database: str, folder: Path) -> AsyncGenerator[Stores | None]:
    if database == "memory":
        yield None
        return
    with _url(database, folder) as url:
        stores = SqlStores(Database(url), SEALER)
        try:
            yield stores
        finally:
            await stores.close()


@pytest.mark.parametrize(
    ("hosted", "database"),
    [
        ("on", "memory"),
        *(
            pytest.param(hosted, database, marks=_EVERY_OPERATION)
            for hosted in ("on", "off")
            for database in ("postgresql", "sqlite")
        ),
    ],
)
async def test_every_answer_is_as_documented(hosted: str, database: str, tmp_path: Path) -> None:
    settings = Settings(
        hosted_client=hosted,
        base_url="https://contentsvc.example",
        smtp_url="smtp://mail.acme.example",
        mail_from="alerts@acme.example",
    )
    with CodeHostServer() as server:
        host = RestCodeHost(server.api_url)

        async with _stores(database, tmp_path) as stores:
            answers = await tour(ApiWorld(settings, stores=stores, hosts=at_github(host)))
        await host.close()

    document = await _document(hosted)
    operations = {
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if operation.get("security")
    }
    assert {each.operation for each in answers if each.status < 300} == operations
    assert {each.status for each in answers} == STATUSES
    for each in answers:
        _check_documented(document, each)
        if hosted == "on":
            hosted_shapes.check(each.operation, each.status, each.body)


@pytest.mark.parametrize("hosted", ["off", "on"])
async def test_every_success_has_an_example_that_is_as_documented(hosted: str) -> None:
    document = await _document(hosted)
    operations = [
        (f"{method.upper()} {path}", int(status), answer["content"]["application/json"])
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
    ]
    examples = [
        TourAnswer(operation, status, body)
        for operation, status, content in operations
        for body in (
            *([content["example"]] if "example" in content else []),
            *(each["value"] for each in content.get("examples", {}).values()),
        )
    ]

    for each in examples:
        _check_documented(document, each)
        if hosted == "on" and each.operation in hosted_shapes.SUCCESSES:
            hosted_shapes.check(each.operation, each.status, each.body)
    # The schemas of the probes are sufficient.
    lacking = {operation for operation, _, _ in operations} - {each.operation for each in examples}
    assert lacking == {"GET /health/live", "GET /health/ready"}


@pytest.mark.parametrize("hosted", ["off", "on"])
async def test_every_field_can_have_a_value(hosted: str) -> None:
    schemas = (await _sent_document(hosted))["components"]["schemas"]
    fields = {f"{name}.{field}": shape for name in schemas for field, shape in _fields(schemas[name])}

    # Generators of clients fail at a type that has no value but null.
    assert len(fields) > 500
    assert [name for name, shape in fields.items() if shape.get("type") == "null"] == []


async def test_every_message_to_a_webhook_endpoint_is_as_documented(world: ApiWorld) -> None:
    acme, clock, stores = await world.caller(), world.clock, world.stores
    await acme("POST", "/v1/webhook-endpoints", {"url": "https://acme.example/hook"})
    faults: list[Exception] = []
    watch = IntegrationWatch(stores.alerts, stores.directory, stores.read_model, clock, on_fault=faults.append)
    for number, secret in enumerate([*["wrong"] * 5, *[None] * 3]):
        clock.advance(timedelta(minutes=1))
        await acme.push(f"d-{number}", "feat: a lamp", secret=secret)
        await watch.turn()
    assert faults == []
    now = clock.now()
    due = await stores.outbox.due(now, PLACES)
    taken = await stores.outbox.take([each.id for each in due], now=now, lease=timedelta(days=9))
    failed = run_failed(
        organization_id="org_1", run_id="run_1", started_by="trg_1", takes=8, reason=None, created_at=now, due_at=now
    )
    disabled = endpoint_disabled(
        organization_id="org_1", endpoint_id="whe_1", description="", target="acme.example", reason="gone", at=now
    )
    by_hand = a_post(source_metadata=None, publish_at=now, summary="A lamp.", labels=[Label.NEW])
    posts = [*post_written(by_hand), *post_written(a_post(status=PostStatus.PUBLISHED))]
    messages = [
        *(each.message for each in taken),
        *(message_for("whe_1", occurrence) for occurrence in (*posts, failed, disabled)),
        message_for_test("whe_1", "org_1", "msg_1", now),
    ]

    components = json.dumps((await _document("off"))["components"])
    documented = _validator(components, '{"$ref": "#/components/schemas/WebhookMessage"}')
    assert {each.type for each in messages} == {TEST_TYPE, *(each.value for each in EventType)}
    assert [each.type for each in messages if not documented.is_valid(payload(each))] == []
    named = (await _document("off"))["components"]["schemas"]["WebhookMessage"]["discriminator"]["mapping"]
    shapes = {each.type: _validator(components, json.dumps({"$ref": named[each.type]})) for each in messages}
    assert [each.type for each in messages if not shapes[each.type].is_valid(payload(each))] == []


async def test_without_the_setting_the_shapes_of_the_hosted_product_are_not_met(acme: Caller) -> None:
    listed = (await acme("GET", "/v1/integrations")).json()

    with pytest.raises(msgspec.ValidationError, match="missing required field"):
        hosted_shapes.check("GET /v1/integrations", 200, listed)


async def test_operations_have_the_names_of_the_methods_that_the_hosted_product_documents() -> None:
    for hosted in ("on", "off"):
        document = await _document(hosted)
        named = {
            f"{method.upper()} {path}": operation["operationId"]
            for path, item in document["paths"].items()
            for method, operation in item.items()
        }
        assert {name: named[name] for name in hosted_shapes.SUCCESSES} == {
            name: method for name, (_, _, method) in hosted_shapes.SUCCESSES.items()
        }
        assert named["GET /v1/status"] == "getPublicApiStatus"


async def test_triggers_of_other_providers_are_not_in_the_list_but_can_be_read() -> None:
    world = ApiWorld(Settings(hosted_client="on"))
    acme = await world.caller()
    created = (await acme("POST", "/v1/event-triggers", {"targets": {"repositoryIds": [acme.repository_id]}})).json()

    listed = (await acme("GET", "/v1/event-triggers")).json()
    read = (await acme("GET", f"/v1/event-triggers/{created['eventTrigger']['id']}")).json()

    assert (listed["eventTriggers"], listed["repositoryMap"]) == ([], {})
    assert read["eventTrigger"]["sourceType"] == "codehost_webhook"


async def test_disabled_triggers_are_named() -> None:
    world = ApiWorld(Settings(hosted_client="on"))
    acme = await world.caller()
    new = {"name": "Each push", "targets": {"repositoryIds": [acme.repository_id]}}
    trigger = (await acme("POST", "/v1/event-triggers", new)).json()["eventTrigger"]["id"]

    gone = (await acme("DELETE", f"/v1/integrations/{acme.connection.integration.id}")).json()

    assert gone["disabledEvents"] == [{"id": trigger, "name": "Each push"}]
    assert gone["disabledSchedules"] == []


_DOCUMENTS: Final[dict[str, Any]] = {}


def _fields(schema: Any) -> Iterable[tuple[str, Any]]:
    return schema.get("properties", {}).items()


async def _sent_document(hosted: str) -> Any:
    return (await ApiWorld(Settings(hosted_client=hosted)).send("GET", "/schema/openapi.json")).json()


async def _document(hosted: str) -> Any:
    """Return the document of a setting; objects in it have no unknown fields."""
    if hosted not in _DOCUMENTS:
        document = await _sent_document(hosted)
        for schema in document["components"]["schemas"].values():
            if "properties" in schema:
                schema.setdefault("additionalProperties", False)
        _DOCUMENTS[hosted] = document
    return _DOCUMENTS[hosted]


def _check_documented(document: Any, answers: TourAnswer) -> None:
    method, path = answers.operation.split()
    documented = document["paths"][path][method.lower()]["responses"][str(answers.status)]
    schema = json.dumps(documented["content"]["application/json"]["schema"], sort_keys=True)
    validator = _validator(json.dumps(document["components"], sort_keys=True), schema)
    faults = [f"{list(fault.instance_path)}: {fault.message}" for fault in validator.iter_errors(answers.body)]
    assert faults == [], f"{answers.operation} {answers.status}"


@cache
def _validator(components: str, schema: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": json.loads(components)})
