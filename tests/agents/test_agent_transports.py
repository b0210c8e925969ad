"""Agents over both transports, by the SDK's client: real processes, a real SQLite file, and refusals."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from attrs import evolve
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.agents.agent import Agent, text_of
from tests.docs.agent_transcript import PAGE, PreparedServer, masked, prepared_server, transcript
from tests.docs.pages import fences
from tests.server_process import COMMAND, PLAIN, Installation

pytestmark = pytest.mark.slow("starts agents over standard input, and servers")

#: The earlier protocol, with sessions.
MODES: Final = ("auto", "legacy")


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Generator[PreparedServer]:
    with prepared_server(tmp_path_factory.mktemp("agents")) as found:
        yield found


@contextlib.asynccontextmanager
async def over_http(at: PreparedServer, mode: str) -> AsyncGenerator[Agent]:
    headers = {"Authorization": f"Bearer {at.key}"}
    async with (
        AsyncClient(headers=headers, timeout=60, trust_env=False, verify=PLAIN) as http,
        Client(streamable_http_client(f"{at.server.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield Agent(client)


@contextlib.asynccontextmanager
async def over_stdio(at: PreparedServer, mode: str) -> AsyncGenerator[Agent]:
    environment = at.installation.environment | {"CONTENTSVC_API_KEY": at.key}
    async with Client(StdioServerParameters(command=COMMAND, args=["mcp"], env=environment), mode=mode) as client:
        yield Agent(client)


@pytest.mark.parametrize("mode", MODES)
async def test_several_agents_at_once_over_http(at: PreparedServer, mode: str) -> None:
    async def found() -> list[str]:
        async with over_http(at, mode) as agent:
            assert len(await agent.tools()) == 14
            answers = await asyncio.gather(*(agent("search_context", query="lamp") for _ in range(4)))
        return [hit["deliveryId"] for answer in answers for hit in answer["untrusted"]["context"]]

    assert await asyncio.gather(*(found() for _ in range(3))) == 3 * [4 * ["d-3", "d-1"]]


async def test_an_agent_that_starts_the_command(at: PreparedServer) -> None:
    async with over_stdio(at, "legacy") as agent:
        assert len(await agent.tools()) == 14
        hits = (await agent("search_context", query="dusk"))["untrusted"]["context"]
        assert [hit["deliveryId"] for hit in hits] == ["d-1"]
        assert await agent.refusal("read_post", postId="x" * 65) == (
            "Invalid arguments of read_post: postId must have at most 64 characters"
        )
        # The key was revoked, and is refused now.
        key = at.installation.command("key", "issue", "--organization", "acme", "--scope", "read")
    async with over_stdio(evolve(at, key=key["key"]), "auto") as agent:
        await agent("list_posts")
        assert text_of(await agent.result("unpublish_post", postId="x")).startswith("This API key may only read")
        at.installation.command("key", "revoke", key["prefix"])
        assert "was revoked" in await agent.refusal("list_posts")


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_transcript_on_the_page_equals_the_output_of_the_agent(at: PreparedServer, transport: str) -> None:
    (shown,) = [fence for fence in fences(PAGE.read_text("utf-8"), "text") if fence.rest == "transcript"]

    text = transcript(at, *([f"{at.server.url}/mcp"] if transport == "http" else []))

    assert masked(text.strip()) == masked(shown.text.strip())


def test_only_keys_that_open_and_our_own_pages_are_answered(at: PreparedServer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    def sent(**headers: str) -> tuple[int, Any, str | None]:
        answer = httpx.post(f"{at.server.url}/mcp", json=message, headers=headers, trust_env=False, verify=PLAIN)
        return answer.status_code, answer.json().get("error"), answer.headers.get("WWW-Authenticate")

    right = f"Bearer {at.key}"
    assert sent() == (401, "Missing API key", "Bearer")
    assert sent(Authorization="Bearer csk_wrong") == (401, "Invalid API key", "Bearer")
    assert sent(Authorization=right, Origin="http://evil.example")[:2] == (
        403,
        "Requests of other sites' pages are not answered",
    )
    assert sent(Authorization=right, Origin=at.server.url, Accept="application/json")[:2] == (200, None)


def test_there_are_no_streams_and_no_sessions(at: PreparedServer) -> None:
    for method in ("GET", "DELETE"):
        answer = httpx.request(
            method, f"{at.server.url}/mcp", headers={"Authorization": f"Bearer {at.key}"}, trust_env=False, verify=PLAIN
        )
        assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})


def test_an_invalid_message_is_refused_and_logged_without_its_text(at: PreparedServer) -> None:
    headers = {"Authorization": f"Bearer {at.key}", "Accept": "application/json", "Content-Type": "application/json"}
    secret = "nobody's business"
    for content, status in (
        ("{", 400),
        ("[]", 400),
        (f'{{"jsonrpc": "2.0", "id": 1, "method": "{secret}"}}', 200),
        (f'{{"jsonrpc": "2.0", "id": {{}}, "method": "tools/call", "params": "{secret}"}}', 400),
        (f'"{"x" * 1_300_000}"', 413),
    ):
        answer = httpx.post(f"{at.server.url}/mcp", content=content, headers=headers, trust_env=False, verify=PLAIN)
        assert answer.status_code == status, (content[:80], answer.text)
        assert "error" in answer.json()
    log = at.server.log()
    assert secret not in log
    assert at.key not in log
    assert "Traceback" not in log


def test_a_message_of_very_many_values_is_refused_before_any_is_built(at: PreparedServer) -> None:
    headers = {"Authorization": f"Bearer {at.key}", "Accept": "application/json", "Content-Type": "application/json"}

    def error_of(value: object, encoding: str = "utf-8", version: str = "2025-11-25") -> Any:
        headers["MCP-Protocol-Version"] = version
        message = {"jsonrpc": "2.0", "id": 1, "method": "no such", "params": {"a": value}}
        content = json.dumps(message, ensure_ascii=False).encode(encoding)
        answer = httpx.post(f"{at.server.url}/mcp", content=content, headers=headers, trust_env=False, verify=PLAIN)
        return answer.json()["error"]

    refused = "A message must have at most 10,000 values"
    assert error_of([0] * 10_001) == refused
    assert error_of({str(n): 1 for n in range(10_001)}) == refused
    assert error_of([""] * 30_000) == refused
    # The UTF-16 bytes of U+2200 contain a quotation mark.
    for encoding in ("utf-16", "utf-16-le", "utf-32-be"):
        assert error_of(["\u2200", *[0] * 30_000], encoding, "2026-06-30") == "A message must be JSON in UTF-8"
    # Texts may have any number of commas and brackets.
    assert error_of('[{,"' * 10_000)["message"] == "Method not found"


_NO_KEY: Final = (
    "CONTENTSVC_API_KEY is not set: it has to hold an API key, which 'contentsvc key issue' makes; the agent may do "
    "what the key may"
)
_WITHOUT: Final = """
import sys
sys.modules["mcp"] = None
from contentsvc_cli.main import main
main(["mcp"])
"""


@pytest.mark.parametrize(
    ("arguments", "key", "message"),
    [
        (["-c", _WITHOUT], "", "'contentsvc mcp' needs packages that are not installed: pip install 'contentsvc[mcp]'"),
        ([COMMAND, "mcp"], "", _NO_KEY),
        (
            [COMMAND, "mcp"],
            "csk_wrong",
            "CONTENTSVC_API_KEY holds no API key that opens: it is unknown here, was revoked, or has expired",
        ),
    ],
    ids=["without the extra", "without a key", "with a wrong key"],
)
def test_missing_requirements_of_the_command_are_one_line(
    at: PreparedServer, arguments: list[str], key: str, message: str
) -> None:
    environment = at.installation.environment | {"CONTENTSVC_API_KEY": key}

    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {message}\n")


def test_a_line_that_is_no_message_is_answered(at: PreparedServer) -> None:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "\ud800"}}),
        "lamp",
        "",
        json.dumps({"jsonrpc": "2.0", "id": "three"}),
        json.dumps({"jsonrpc": "2.0", "id": True}),
        "[" * 100_000,
        json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping"}),
    ]
    command = subprocess.Popen(
        [COMMAND, "mcp"],
        env=at.installation.environment | {"CONTENTSVC_API_KEY": at.key},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with command:
        assert command.stdin is not None
        assert command.stdout is not None
        command.stdin.write("".join(f"{line}\n" for line in lines))
        command.stdin.flush()
        answers = [json.loads(command.stdout.readline()) for _ in range(7)]
        command.stdin.close()

    # Lines are answered when they are read, and requests when they are done.
    assert Counter((answer["id"], answer.get("error", {}).get("code")) for answer in answers) == Counter(
        [(1, None), (2, -32700), (None, -32700), (None, -32700), ("three", -32600), (None, -32600), (9, None)]
    )
    (half,) = (answer["error"]["message"] for answer in answers if answer["id"] == 2)
    assert half.startswith("Invalid JSON: unexpected end of hex escape")
    assert command.returncode == 0


def test_without_a_database_the_command_is_refused(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("mcp", CONTENTSVC_API_KEY="csk_wrong")

    assert done.returncode == 1
    assert done.stderr.startswith("Error: there is no database at")
