"""The descriptions of tools: complete for a model, and changed only on purpose."""

import json
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from tests.agents.snapshot import SNAPSHOT, tools_now

from contentsvc_core import Scope
from contentsvc_core.access.rates import SEARCHING
from contentsvc_mcp.tools import TOOLS


def test_the_tools_equal_the_snapshot() -> None:
    """Changed on purpose? ``python -m tests.agents.snapshot`` writes the current tools."""
    assert tools_now() == json.loads(SNAPSHOT.read_text("utf-8"))


@pytest.mark.parametrize("tool", tools_now(), ids=lambda tool: tool["name"])
def test_every_argument_is_described_and_bounded(tool: dict[str, Any]) -> None:
    assert len(tool["description"]) > 60
    # A model cannot look up what this project's documents call so.
    assert "(specification" not in json.dumps(tool)
    for schema in (tool["inputSchema"], tool["outputSchema"]):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)
    assert tool["inputSchema"]["additionalProperties"] is False
    for name, argument in tool["inputSchema"]["properties"].items():
        assert argument["description"], name
        assert _is_bounded(argument), name


def test_the_hints_match_the_scopes() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools_now()}
    for tool in TOOLS:
        assert hints[tool.name]["readOnlyHint"] is (tool.scope is Scope.READ)
        assert tool.rate is not None or tool.scope is Scope.READ
    assert {tool.name for tool in TOOLS if tool.rate is SEARCHING} == {"search_context", "search_posts"}
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {
        "edit_post",
        "publish_post",
        "unpublish_post",
    }
    assert {name for name, hint in hints.items() if not hint["idempotentHint"]} == {"generate_post", "create_post"}


def _is_bounded(schema: dict[str, Any]) -> bool:
    if "anyOf" in schema:
        return all(_is_bounded(each) for each in cast("list[dict[str, Any]]", schema["anyOf"]))
    match schema.get("type"):
        case "integer":
            return {"minimum", "maximum"} <= schema.keys()
        case "string":
            return "maxLength" in schema or "enum" in schema
        case "array":
            return "maxItems" in schema and _is_bounded(schema["items"])
        case _:
            return "enum" in schema or schema.get("type") in {"boolean", "null"}
