"""The OpenAPI document is true: each answer to generated requests is in it. Its page loads nothing from elsewhere."""

import asyncio
import importlib
import re
from datetime import timedelta
from functools import cache
from typing import Any, Final, final

import pytest
from attrs import frozen
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from tests.api.furnished import furnish, operations
from tests.api.world import ApiWorld, Caller

CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
#: Bodies are read strictly; of query parameters, those that nobody knows are passed over.
OF_BODIES: Final = "negative_data_rejection"
EXAMPLES: Final = 6
PARTS: Final = 2


@final
@frozen(kw_only=True)
class Subject:
    """A service that has one of everything, and its document as schemathesis reads it, which has no types."""

    world: ApiWorld
    caller: Caller
    ids: dict[str, str]
    checks: dict[str, Any]
    operations: list[Any]


@cache
def subject() -> Subject:
    # Here and not above: of the processes that run tests one pays for it.
    schemathesis: Any = importlib.import_module("schemathesis")
    known: Any = importlib.import_module("schemathesis.checks")
    known.load_all_checks()
    world = ApiWorld()

    async def furnished() -> tuple[Caller, dict[str, str]]:
        caller = await world.caller()
        return caller, await furnish(world, caller)

    caller, ids = asyncio.run(furnished())
    document = schemathesis.openapi.from_asgi("/schema/openapi.json", world.app)
    found = document.include(path_regex="^/(v1|health)/").get_all_operations()
    return Subject(
        world=world,
        caller=caller,
        ids=ids,
        checks={name: known.CHECKS.get_one(name) for name in (*CHECKS, OF_BODIES)},
        operations=[each.ok() for each in found],
    )


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_every_answer_is_documented(mode: str, part: int) -> None:
    described = subject().operations
    assert len(described) >= 29

    for operation in described[part::PARTS]:
        _try(operation, mode)


def _try(operation: Any, mode: str) -> None:
    ids = subject().ids
    modes: Any = importlib.import_module("schemathesis").GenerationMode

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(generation_mode=modes(mode)))
    def called(case: Any) -> None:
        _call(case)
        if operation.path in ids:
            # Once more on a thing that is there: an id that was made up leads no further than to 404.
            (name,) = case.path_parameters
            case.path_parameters[name] = ids[operation.path]
            _call(case)

    try:
        called()
    except Unsatisfiable:
        # What takes nothing at all cannot be given anything wrong.
        takes = [*operation.body, *operation.path_parameters, *operation.query]
        assert (mode, takes) == ("negative", []), operation.label


def _call(case: Any) -> None:
    # A minute later: this is not about the limits, whose answers have a test of their own.
    subject().world.clock.advance(timedelta(minutes=1))
    headers = {"Authorization": f"Bearer {subject().caller.key}"}
    names = (*CHECKS, OF_BODIES) if case.operation.body else CHECKS
    case.call_and_validate(headers=headers, checks=[subject().checks[name] for name in names])


async def test_every_operation_says_what_it_answers_without_a_key_and_when_it_cannot(world: ApiWorld) -> None:
    described = await operations(world)

    assert len(described) >= 27
    for method, path, operation in described:
        told = set(operation["responses"])
        assert {"401", "403", "500", "503"} <= told, f"{method} {path}"
        assert ("requestBody" in operation) == ({"413", "415"} <= told), f"{method} {path}"
        assert ("{" in path) == ("404" in told), f"{method} {path}"
        assert operation["summary"], f"{method} {path}"


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


async def test_what_is_not_there_below_the_page_is_refused_like_everything_else(world: ApiWorld) -> None:
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
