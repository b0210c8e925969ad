"""A server wired by its settings: the configured model writes the posts."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.model_server import model_server, streamed

from contentsvc_core import Connection, Operator, Organization, Trigger, TriggerEditor
from contentsvc_core.content.posts import Post
from contentsvc_core.testing import CountingIds, ManualClock, address, push_body, signed
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.process import open_application
from contentsvc_http.wiring.receiving import open_reception
from contentsvc_http.wiring.stores import migrate, open_stores


async def post_of(settings: Settings) -> Post:
    """Serve with these settings, and return the post of a push."""
    await migrate(settings)
    async with open_stores(settings) as stores:
        clock, ids = ManualClock(), CountingIds()
        operator = Operator(stores.directory, stores.keys, clock, ids)
        acme = await operator.create_organization("Acme")
        assert isinstance(acme, Organization)
        hook = await operator.connect(acme, full_name="acme/lamp", repository_id=1, provider="codehost", branch=None)
        assert isinstance(hook, Connection)
        editor = TriggerEditor(stores.triggers, stores.directory, clock, ids)
        assert isinstance(await editor.create(acme.id, CreateTrigger(repository_ids=[1])), Trigger)
        async with open_reception(settings) as reception, open_application(settings, Role.ALL, reception):
            at = address(organization_id=acme.id, integration_id=hook.integration.id)
            await reception.receiver.receive(signed(push_body("feat: turn the beam"), at=at, secret=hook.secret))
            async with asyncio.timeout(60):
                while not (posts := await stores.posts.posts(acme.id)):
                    await asyncio.sleep(0.02)
        return posts[0]


async def test_the_model_that_the_settings_name_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the environment's proxy, which would get key and prompt.
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    async with model_server(streamed(json.dumps({"title": "Light", "markdown": "It turns."}))) as server:
        settings = Settings(
            database_url=f"sqlite+aiosqlite:///{tmp_path}/contentsvc.db",
            writer_url=server.url,
            writer_model="lamp-1",
            writer_key="sk-hunter2",
            writer_max_tokens=700,
        )
        post = await post_of(settings)

    assert (post.title, post.content) == ("Light", "<p>It turns.</p>\n")
    assert (post.source_metadata or {})["writer"] == "openai-compatible:lamp-1"
    assert server.requests[0].headers["authorization"] == "Bearer sk-hunter2"
    assert server.requests[0].question["max_tokens"] == 700
