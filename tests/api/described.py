"""The service with one object of each kind, called by its own OpenAPI document."""

import asyncio
import importlib
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, Final, final

from attrs import frozen
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from tests.api.furnished import furnish
from tests.api.world import ApiWorld, Caller

CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
#: Bodies are read strictly; unknown query parameters are ignored.
OF_BODIES: Final = "negative_data_rejection"


@final
@frozen(kw_only=True)
class Subject:
    """A service with one object of each kind, and its document in schemathesis, which has no types."""

    world: ApiWorld
    caller: Caller
    ids: dict[str, str]
    checks: dict[str, Any]
    operations: list[Any]


@cache
def subject() -> Subject:
    # Imported here, so that only one of the test processes pays for it.
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


def try_operation(
    operation: Any, mode: str, *, examples: int, seeded: int | None = None, on_call: Callable[[], object] = lambda: None
) -> None:
    """Call an operation with requests that its document allows or forbids.

    Args:
        operation: One of :attr:`Subject.operations`.
        mode: ``positive``, or ``negative``.
        examples: The number of generated requests, and of requests with existing ids.
        seeded: The seed; ``None``: random.
        on_call: Called at each request.

    Raises:
        Exception: An answer contradicts the document.
    """
    ids = subject().ids
    modes: Any = importlib.import_module("schemathesis").GenerationMode

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(generation_mode=modes(mode)))
    def called(case: Any) -> None:
        _call(case)
        on_call()
        if operation.path in ids:
            # Repeated with an existing id: a generated id only leads to 404.
            case.path_parameters[operation.path.partition("{")[2].partition("}")[0]] = ids[operation.path]
            _call(case)
            on_call()

    try:
        (called if seeded is None else seed(seeded)(called))()
    except Unsatisfiable:
        # An operation without input has no invalid input.
        takes = [*operation.body, *operation.path_parameters, *operation.query]
        assert (mode, takes) == ("negative", []), operation.label


def _call(case: Any) -> None:
    # A minute later: limits have tests of their own.
    subject().world.clock.advance(timedelta(minutes=1))
    headers = {"Authorization": f"Bearer {subject().caller.key}"}
    names = (*CHECKS, OF_BODIES) if case.operation.body else CHECKS
    case.call_and_validate(headers=headers, checks=[subject().checks[name] for name in names])
