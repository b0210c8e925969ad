"""The OpenAPI document is true: each answer to generated requests is in it. Its page loads nothing from elsewhere."""

import re
from typing import Final

import pytest
from tests.api.described import subject, try_operation
from tests.api.furnished import operations
from tests.api.world import ApiWorld

#: A campaign sends many more (``make fuzz``).
EXAMPLES: Final = 4


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
        assert ("requestBody" in operation) == ({"413", "415"} <= documented), f"{method} {path}"
        assert ("{" in path) == ("404" in documented), f"{method} {path}"
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
