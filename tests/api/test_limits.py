"""The limits of operations: their effect, and their documentation in OpenAPI."""

from typing import Any

import httpx
import pytest
from tests.api.world import ApiWorld, Caller

from contentsvc_core.access.rates import RATES, SEARCHING, SHARED_RATES, Rate, rate_of
from contentsvc_core.timestamps import to_ms

GENERATE = "/v1/posts/generate"
FAMILIES = {f"{prefix}RateLimit-{name}" for prefix in ("", "X-") for name in ("Limit", "Remaining", "Reset")}

#: The limited operations of ``/v1``; pages have limits beside them.
OPERATIONS = [each for each in (*RATES, *SHARED_RATES) if each.template.startswith("/v1/")]


def limit_headers(response: httpx.Response) -> dict[str, str]:
    return {name: response.headers[name] for name in FAMILIES if name in response.headers}


@pytest.mark.parametrize("rate", OPERATIONS, ids=lambda rate: f"{rate.method} {rate.template}")
async def test_each_row_of_the_table_is_an_operation_that_is_limited(world: ApiWorld, acme: Caller, rate: Rate) -> None:
    path = rate.template.replace("{postId}", "post_unknown").replace("{endpointId}", "whe_unknown")

    # With and without a key, for any result: this body is always invalid. A search has no body.
    for ask, status in ((acme, 2 if rate is SEARCHING else 4), (world.send, 401)):
        response = await ask(rate.method, path, content=b"{")
        assert str(response.status_code).startswith(str(status))
        reset = str(to_ms(world.clock.now()) // 1000 + 60)
        assert limit_headers(response) == {
            "RateLimit-Limit": str(rate.limit),
            "X-RateLimit-Limit": str(rate.limit),
            "RateLimit-Remaining": str(rate.limit - 1),
            "X-RateLimit-Remaining": str(rate.limit - 1),
            "RateLimit-Reset": "60",
            "X-RateLimit-Reset": reset,
        }


async def test_the_document_names_the_headers_of_each_answer_of_a_limited_operation_and_of_no_other(
    world: ApiWorld,
) -> None:
    document: dict[str, Any] = (await world.send("GET", "/schema/openapi.json")).json()
    limited = 0

    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            responses: dict[str, Any] = operation["responses"]
            if rate_of(method.upper(), path) is None:
                assert "429" not in responses
                assert not any(FAMILIES & set(response.get("headers", {})) for response in responses.values())
                continue
            limited += 1
            assert {"401", "403", "429", "500", "503"} <= set(responses)
            for status, response in responses.items():
                headers = response["headers"]
                assert set(headers) >= FAMILIES
                # A request whose idempotency key is busy waits, too.
                waits = {"429", "503", "409"} if "422" in responses else {"429", "503"}
                assert ("Retry-After" in headers) == (status in waits)
                assert all(headers[name]["schema"]["type"] == "integer" for name in FAMILIES)
            body = responses["429"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            fields = document["components"]["schemas"][body]
            assert set(fields["required"]) == {"error", "limit", "remaining", "reset"}
    assert limited == len(OPERATIONS)
