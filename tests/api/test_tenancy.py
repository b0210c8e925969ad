"""Tenancy: every operation that takes an id, with an id of another organization."""

import re
from typing import Any, Final

import pytest
from sqlalchemy import Connection, select
from tests.api.furnished import furnish, operations
from tests.api.world import SEALER, ApiWorld

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.schema.all_tables import metadata
from contentsvc_core import Scope

_PARAMETER = re.compile(r"\{[^}]+\}")
#: A body that each operation would accept for an existing object.
BODIES: dict[str, Any] = {
    "/v1/integrations/{integrationId}": {"enabled": True},
    "/v1/posts/{postId}": {"title": "Mine now"},
    "/v1/brand-identities/{brandIdentityId}": {"name": "Mine now"},
    "/v1/schedules/{scheduleId}": {"enabled": False},
    "/v1/event-triggers/{triggerId}": {"enabled": False},
    "/v1/webhook-endpoints/{endpointId}": {"enabled": False},
    "/v1/changelogs/{changelogId}": {"title": "Mine now"},
}


@pytest.fixture
def world(database: Database) -> ApiWorld:
    return ApiWorld(stores=SqlStores(database, SEALER))


def _at(path: str, id_: str) -> str:
    return _PARAMETER.sub(id_, path.replace("{number}", "1"))


async def _rows(database: Database, organization_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of an organization, and the rows that refer to them."""

    def read(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(
                    select(table).where(owner == organization_id).order_by(*table.primary_key.columns)
                )
            ]
            for table in metadata.sorted_tables
            if (owner := table.c.get("owner_id", table.c.get("organization_id"))) is not None
        }

    return await database.read(read)


@pytest.mark.slow("asks for every operation")
async def test_objects_of_another_organization_are_not_found_and_stay_unchanged(
    world: ApiWorld, database: Database
) -> None:
    acme, other = await world.caller("Acme"), await world.caller("Other")
    own, foreign = await furnish(world, acme), await furnish(world, other)
    documented = [each for each in await operations(world) if _PARAMETER.search(each[1])]
    assert {path for _, path, _ in documented} == set(foreign), "furnish() gives each path with a parameter its object"
    before = await _rows(database, other.organization.id)
    assert all(
        before[name]
        for name in (
            "posts",
            "schedules",
            "triggers",
            "jobs",
            "integrations",
            "brand_identities",
            "webhook_endpoints",
            "public_changelogs",
        )
    )

    tried: list[str] = []
    for method, path, operation in documented:
        body = BODIES[path] if "requestBody" in operation and path in BODIES else None
        answer = await acme(method, _at(path, foreign[path]), body)
        unknown = await acme(method, _at(path, foreign[path][:-4] + "zzzz"), body)
        # Equal to the byte: the answer does not disclose that the id exists elsewhere.
        assert (answer.status_code, answer.json()) == (404, unknown.json()), f"{method} {path}: {answer.text}"
        assert unknown.status_code == 404
        tried.append(f"{method} {path}")

    assert len(tried) >= 15
    assert await _rows(database, other.organization.id) == before

    # The same calls with own ids succeed: otherwise the matrix would prove nothing.
    for method, path, operation in documented:
        if method == "GET" or (method == "PATCH" and "requestBody" in operation):
            answer = await acme(method, _at(path, own[path]), BODIES[path] if method == "PATCH" else None)
            assert answer.is_success, f"{method} {path}: {answer.text}"


async def test_ids_of_another_organization_in_a_body_are_unknown(world: ApiWorld, database: Database) -> None:
    acme, other = await world.caller("Acme"), await world.caller("Other")
    own, foreign = await furnish(world, acme), await furnish(world, other)
    brand = foreign["/v1/brand-identities/{brandIdentityId}"]
    before = await _rows(database, other.organization.id)

    cron = {"cron": {"frequency": "daily", "hour": 1, "minute": 2}}
    targets = {"repositoryIds": [other.repository_id]}
    schedule = {"name": "x", "sourceType": "cron", "sourceConfig": cron, "outputType": "changelog"}
    refused = [
        ("POST", "/v1/posts/generate", {"contentType": "changelog", "brandIdentityId": brand}),
        ("POST", "/v1/posts/generate", {"contentType": "changelog", "repositoryIds": [other.repository_id]}),
        ("POST", "/v1/schedules", {**schedule, "targets": targets}),
        (
            "POST",
            "/v1/schedules",
            {
                **schedule,
                "targets": {"repositoryIds": [acme.repository_id]},
                "outputConfig": {"brandIdentityId": brand},
            },
        ),
        ("POST", "/v1/event-triggers", {"targets": targets, "outputType": "changelog"}),
        ("PATCH", f"/v1/event-triggers/{own['/v1/event-triggers/{triggerId}']}", {"targets": targets}),
        ("PATCH", f"/v1/schedules/{own['/v1/schedules/{scheduleId}']}", {"targets": targets}),
    ]
    for method, path, body in refused:
        answer = await acme(method, path, body)
        assert answer.status_code == 400, f"{method} {path}: {answer.text}"
    assert await _rows(database, other.organization.id) == before


async def test_lists_have_no_object_of_another_organization(world: ApiWorld) -> None:
    acme, other = await world.caller("Acme"), await world.caller("Other")
    own, foreign = await furnish(world, acme), await furnish(world, other)

    texts = [
        (await acme("GET", f"{path}?status=draft,published" if path == "/v1/posts" else path)).text
        for method, path, _ in await operations(world)
        if method == "GET" and not _PARAMETER.search(path)
    ]

    # Both have a repository with the same id: their records have one name.
    records = "/v1/context/{customId}"
    for path in own.keys() - {records}:
        if "jobId" not in path:
            assert any(own[path] in text for text in texts), path
        assert not any(foreign[path] in text for text in texts), path


_NO_SCHEME: Final = "Missing scheme 'Bearer': send 'Authorization: Bearer' and the API key"


async def test_every_operation_needs_a_key_with_the_scope_for_it(world: ApiWorld) -> None:
    reader, writer = await world.caller("Reader", Scope.READ), await world.caller("Writer", Scope.WRITE)

    for method, path, _ in await operations(world):
        where = _PARAMETER.sub("x", path)
        missing = await world.send(method, where)
        wrong = await world.send(method, where, headers={"Authorization": "Bearer csk_0000000000_" + "x" * 40})
        unnamed = await world.send(method, where, headers={"Authorization": "csk_0000000000_" + "x" * 40})
        answers = {"Missing API key": missing, "Invalid API key": wrong, _NO_SCHEME: unnamed}
        for error, answer in answers.items():
            assert (answer.status_code, answer.json()) == (401, {"error": error}), f"{method} {path}"
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        unfit, scope = (
            await (writer if method == "GET" else reader)(method, where),
            "read" if method == "GET" else "write",
        )
        named = {"error": f"Insufficient scope: use a key with the scope '{scope}'"}
        assert (unfit.status_code, unfit.json()) == (403, named), f"{method} {path}"
