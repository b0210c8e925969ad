"""An agent that needs no model: it finds the commit that changed something, and publishes a post about it.

``python examples/agent.py WORDS`` starts ``contentsvc mcp`` and speaks to it over standard input and output;
``python examples/agent.py WORDS URL`` calls a server, such as http://127.0.0.1:8000/mcp. The variable
CONTENTSVC_API_KEY holds the key.
"""

import asyncio
import json
import os
import sys
from typing import Any

from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent


class Ended(Exception):
    """Why the agent stops before it has published anything."""


async def call(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool, print the question and the answer, and return the structured answer."""
    print(f"\n> {tool} {json.dumps(arguments)}")
    result = await client.call_tool(tool, arguments)
    for part in result.content:
        # What a model reads: the first 1,500 characters of it.
        print(part.text[:1500] if isinstance(part, TextContent) else part.type)
    if result.is_error:
        message = f"the tool {tool} has refused"
        raise Ended(message)
    return result.structured_content


async def work(client: Client, words: str) -> None:
    """Search, have a post written, make it one about the commit that was found, publish it."""
    tools = (await client.list_tools()).tools
    print("tools:", ", ".join(tool.name for tool in tools))

    found = await call(client, "search_context", query=words, eventTypes=["push"], limit=1)
    hits = found["untrusted"]["context"]
    commit = next((excerpt for hit in hits for excerpt in hit["excerpts"] if excerpt.get("ref")), None)
    if commit is None:
        message = f"nothing was found: no commit has the words '{words}'"
        raise Ended(message)

    repository = hits[0]["metadata"]["repository"]
    job = await call(client, "generate_post", contentType="changelog", repositories=[repository])
    job = await call(client, "read_job", jobId=job["jobId"], waitSeconds=20)
    if job["postId"] is None:
        message = f"the job is {job['status']}: is there a server that performs runs?"
        raise Ended(message)
    draft = await call(client, "read_post", postId=job["postId"])

    edited = await call(
        client,
        "edit_post",
        postId=draft["id"],
        version=draft["version"],
        title=f"What changed: {words}",
        markdown=f"> {commit['text']}\n\nThat is [{commit['ref'][:7]}]({commit['url']}).\n",
    )
    await call(client, "publish_post", postId=draft["id"], version=edited["version"])


async def done(client: Client, words: str) -> str | None:
    """Do the work; return why it ended early."""
    try:
        await work(client, words)
    except Ended as exc:
        return str(exc)
    return None


async def main(words: str, url: str | None = None) -> str | None:
    """Connect, and do the work; return why it ended early."""
    key = os.environ["CONTENTSVC_API_KEY"]
    if url is None:
        settings = {name: value for name, value in os.environ.items() if name.startswith("CONTENTSVC_")}
        async with Client(StdioServerParameters(command="contentsvc", args=["mcp"], env=settings)) as client:
            return await done(client, words)
    else:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await done(client, words)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
