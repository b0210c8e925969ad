"""The OpenAPI document has each answer to generated requests. Its page loads nothing from other hosts."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast

import jsonschema_rs
import pytest
from tests.api.described import subject, try_operation
from tests.api.furnished import furnish, operations
from tests.api.world import ApiWorld, Caller

from contentsvc_core.refusals import validation_fault
from contentsvc_core.usecases.reconcile import BY_HAND
from contentsvc_http.field_descriptions import FIELDS
from contentsvc_http.settings import Settings
from contentsvc_http.v1.hosted import HOSTED_FIELDS

#: The number of requests; a campaign sends many more (``make fuzz``).
EXAMPLES: Final = 4


def _schema(name: str) -> str:
    return f"#/components/schemas/{name}"


def _takes_null(field: dict[str, Any]) -> bool:
    return {"type": "null"} in field.get("oneOf", field.get("anyOf", []))


@pytest.mark.slow("tries every operation with generated requests")
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_every_answer_is_documented(mode: str) -> None:
    described = subject().operations
    assert len(described) >= 29

    for operation in described:
        try_operation(operation, mode, examples=EXAMPLES)


async def test_every_operation_documents_its_refusals(world: ApiWorld) -> None:
    described = await operations(world)

    assert len(described) >= 27
    for method, path, operation in described:
        documented = set(operation["responses"])
        assert {"401", "403", "500", "503"} <= documented, f"{method} {path}"
        takes = operation.get("requestBody", {"content": {}})["content"]
        assert bool(takes) == ({"408", "413"} <= documented), f"{method} {path}"
        assert ("application/json" in takes) == ("415" in documented), f"{method} {path}"
        assert ("{" in path) == ("404" in documented), f"{method} {path}"
        assert operation["summary"], f"{method} {path}"
        described = {answer["description"] for status, answer in operation["responses"].items() if status < "300"}
        assert not described & {each.description for each in HTTPStatus}, f"{method} {path}"


async def test_the_example_of_each_body_has_its_schema_and_is_accepted(world: ApiWorld) -> None:
    caller = await world.caller()
    ids = await furnish(world, caller)
    components = (await world.send("GET", "/schema/openapi.json")).json()["components"]
    bodies = {
        (method, path): operation["requestBody"]["content"]["application/json"]
        for method, path, operation in await operations(world)
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }

    assert len(bodies) >= 25
    # Repositories first: other examples name one.
    for method, path in sorted(bodies, key=lambda each: "integrations" not in each[1]):
        body = bodies[method, path]
        jsonschema_rs.validate({**body["schema"], "components": components}, body["example"])
        named = re.sub(r"\{\w+\}", ids.get(path, ""), path)
        answer = await caller(method, named, body["example"])
        # Missed deliveries need a token, which the integration lacks.
        accepted = answer.is_success or answer.json() == {"error": BY_HAND.message()}
        assert accepted, f"{method} {path}: {answer.text}"


async def test_generators_of_clients_find_a_named_type_for_each_object_and_a_type_for_each_value(
    world: ApiWorld,
) -> None:
    document = (await world.send("GET", "/schema/openapi.json")).json()
    schemas = document["components"]["schemas"]
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    bodies = [
        body["schema"]
        for operation in operations
        if operation["tags"] != ["webhooks"]
        for kind, body in operation.get("requestBody", {}).get("content", {}).items()
        if kind == "application/json"
    ]
    parameters = {
        f"{operation['operationId']} {parameter['name']}": parameter["schema"]
        for operation in operations
        for parameter in operation["parameters"]
    }
    headers = [
        header
        for operation in operations
        for answer in operation["responses"].values()
        for header in answer.get("headers", {}).values()
    ]

    assert len(bodies) >= 20
    assert all(set(body) == {"$ref"} and body["$ref"].rpartition("/")[2] in schemas for body in bodies)
    assert schemas["GenerationBody"]["properties"]["contentType"]["allOf"] == [{"$ref": _schema("PostContentType")}]
    assert parameters["listPosts limit"] == {"type": "integer"}
    assert parameters["listPosts status"] == {"type": "array", "items": {"$ref": _schema("PostStatus")}}
    assert all("schema" in header for header in headers)
    assert schemas["PostBody"]["properties"]["status"] == {"$ref": _schema("PostStatus")}
    answered = {
        "MetadataBody.eventType": "RepositoryEventType",
        "RunBody.eventType": "RepositoryEventType",
        "SeveralPostsBody.action": "BulkAction",
        "VersionBody.labels": "Label",
    }
    for field, choice in answered.items():
        title, _, name = field.partition(".")
        assert _schema(choice) in str(schemas[title]["properties"][name]), field
    created_at = schemas["PostBody"]["properties"]["createdAt"]
    assert (created_at["type"], created_at["format"]) == ("string", "date-time")
    assert schemas["TargetFields"]["properties"]["repositoryIds"]["items"] == {"$ref": _schema("ConnectedRepository")}
    assert not {"ContentType", "Match"} & schemas.keys()
    reset = schemas["RateLimitedBody"]["properties"]["reset"]
    assert (reset["type"], reset["format"]) == ("integer", "int64")
    assert all(operation["operationId"][0].islower() for operation in operations)


async def test_no_body_of_an_operation_has_a_choice_that_compiled_clients_lack(world: ApiWorld) -> None:
    """A choice of several schemas has no type in clients in Rust, Kotlin and PHP: they send and read other bodies."""
    document = (await world.send("GET", "/schema/openapi.json")).json()
    reached: dict[str, Any] = {}
    waiting: list[Any] = [document["paths"]]
    several: list[Any] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += cast("list[Any]", part)
        elif isinstance(part, dict):
            fields = cast("dict[str, Any]", part)
            name = fields.get("$ref", "").removeprefix(_schema(""))
            if name and name not in reached:
                reached[name] = document["components"]["schemas"][name]
                waiting.append(reached[name])
            choices: list[Any] = [*fields.get("anyOf", ()), *fields.get("oneOf", ())]
            several += [fields] if sum(each != {"type": "null"} for each in choices) > 1 else []
            waiting += fields.values()

    assert {"LogBody", "NewIntegration", "NewTrigger"} <= reached.keys()
    assert several == []


async def test_generators_of_clients_find_the_bytes_of_pictures_the_open_operations_and_the_waits(
    world: ApiWorld,
) -> None:
    document = (await world.send("GET", "/schema/openapi.json")).json()
    operations = {each["operationId"]: each for item in document["paths"].values() for each in item.values()}
    picture = operations["setChangelogImage"]
    open_ones = {name for name, operation in operations.items() if operation["security"] == []}
    limited = [operation["responses"]["503"] for operation in operations.values() if operation["security"]]
    cron = document["components"]["schemas"]["CronBody"]["properties"]

    bodies = picture["requestBody"]["content"]
    assert list(bodies) == ["image/png", "image/jpeg", "image/webp", "application/octet-stream"]
    assert all(body["schema"] == {"type": "string", "format": "binary"} for body in bodies.values())
    assert picture["parameters"][1]["schema"]["enum"] == ["logo", "icon", "card"]
    assert open_ones == {"receiveDelivery", "getPublicApiStatus", "getLiveness", "getReadiness"}
    assert all("Retry-After" in answer["headers"] for answer in limited)
    assert "Retry-After" in operations["getReadiness"]["responses"]["503"]["headers"]
    assert "ETag" in operations["getPost"]["responses"]["304"]["headers"]
    created = operations["createPost"]["responses"]
    assert "Idempotent-Replayed" in created["201"]["headers"]
    assert "WWW-Authenticate" in created["401"]["headers"]
    assert cron["dayOfWeek"]["type"] == "integer"


@pytest.mark.parametrize(("hosted", "texts"), [("off", FIELDS), ("on", HOSTED_FIELDS)])
async def test_every_body_and_field_has_a_true_description_and_no_description_is_left_over(
    hosted: str, texts: Mapping[str, str]
) -> None:
    world = ApiWorld(Settings(hosted_client=hosted))
    document = (await world.send("GET", "/schema/openapi.json")).json()
    fields = {
        f"{title}.{name}": field
        for title, schema in document["components"]["schemas"].items()
        for name, field in schema.get("properties", {}).items()
    }

    assert not [title for title, schema in document["components"]["schemas"].items() if not schema.get("description")]
    assert not [name for name, field in fields.items() if not field.get("description") and "$ref" not in field]
    found = {name: field["description"] for name, field in fields.items() if "description" in field}
    assert not [name for name, text in found.items() if "null:" in text.lower() and not _takes_null(fields[name])]
    counts = [name for name, text in found.items() if text.startswith("Number of")]
    assert not [name for name in counts if fields[name].get("type") == "array"]
    names = {*fields, *(name.partition(".")[2] for name in fields)}
    assert not texts.keys() - names


async def test_a_text_that_does_not_match_a_pattern_is_refused_with_an_example(world: ApiWorld) -> None:
    document = (await world.send("GET", "/schema/openapi.json")).json()
    patterns = set(re.findall("'pattern': '([^']*)'", str(document["components"]["schemas"])))

    assert len(patterns) >= 4
    faults = {each: validation_fault(f"Expected `str` matching regex '{each}'")[1] for each in patterns}
    assert not [each for each, fault in faults.items() if "such as" not in fault or each in fault]


def test_the_document_has_the_providers_of_other_packages(tmp_path: Path) -> None:
    package = tmp_path / "contentsvc_providers"
    package.mkdir()
    (package / "foundry.py").write_text(
        "from attrs import evolve\n"
        "from contentsvc_core.webhooks.providers.github import GITHUB\n"
        "PROVIDER = evolve(GITHUB, slug='foundry', operation_id='connectFoundry')\n",
        "utf-8",
    )
    code = (
        "import asyncio; from tests.api.world import ApiWorld\n"
        "print(asyncio.run(ApiWorld().send('GET', '/schema/openapi.json')).text)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )

    connecting = json.loads(done.stdout)["paths"]["/v1/integrations/foundry"]["post"]
    assert connecting["operationId"] == "connectFoundry"
    assert connecting["requestBody"]["content"]["application/json"]["example"]["repo"] == "beacon"
    connected = connecting["responses"]["201"]["content"]["application/json"]["example"]
    assert "/api/webhooks/foundry/" in connected["webhook"]["url"]


async def test_the_page_shows_the_document_and_loads_nothing_from_elsewhere(world: ApiWorld) -> None:
    page = await world.send("GET", "/schema")

    assert page.headers["content-type"].startswith("text/html")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 4
    assert all(path.startswith("/schema/assets/") for path in loaded)
    for path in loaded:
        assert (await world.send("GET", path)).status_code == 200, path
    assert "jsdelivr" not in page.text
    assert "/v1/posts/generate" in page.text


async def test_unknown_paths_below_the_schema_page_are_404_in_the_usual_form(world: ApiWorld) -> None:
    for path in (
        "/schema/nothing",
        "/schema/assets/nothing.js",
        "/schema/assets/%2e%2e/core.py",
        "/schema/assets/%00",
        f"/schema/assets/{'a' * 300}",
    ):
        answer = await world.send("GET", path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"error"}, path


async def test_every_change_of_nothing_is_refused_in_the_same_words(world: ApiWorld, acme: Caller) -> None:
    document = (await world.send("GET", "/schema/openapi.json")).json()
    paths = [path for path, item in document["paths"].items() if "patch" in item]

    refused = {path: (await acme("PATCH", path, {})).json()["error"] for path in paths}

    assert refused == dict.fromkeys(paths, "Invalid request: Nothing to change: give at least one field")
    assert len(paths) > 5
