"""The loading of the application while the server already answers deliveries."""

import asyncio
import threading
from pathlib import Path

import pytest
from tests.core.writing.writing_samples import brief, push

from contentsvc_adapters.writers import deterministic
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Draft, Silence
from contentsvc_core.testing import PlainSteps
from contentsvc_http.app import Services, create_application
from contentsvc_http.asgi import ASGIApp
from contentsvc_http.logs import Requests
from contentsvc_http.roles import Role
from contentsvc_http.settings import Settings
from contentsvc_http.wiring import process
from contentsvc_http.wiring.receiving import open_reception
from contentsvc_http.wiring.stores import migrate


async def test_no_run_is_taken_before_the_application_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    names: set[str] = set()

    def create(services: Services, requests: Requests) -> ASGIApp:
        names.update(task.get_name() for task in asyncio.all_tasks(loop))
        return create_application(services, requests)

    monkeypatch.setattr(process, "create_application", create)
    settings = Settings(database_url=f"sqlite+aiosqlite:///{tmp_path}/contentsvc.db")
    await migrate(settings)

    async with open_reception(settings) as reception, process.open_application(settings, Role.ALL, reception):
        after = {task.get_name() for task in asyncio.all_tasks()}

    assert names
    assert {"start runs", "search", "sweep"} & names == set()
    assert {"start runs", "search", "sweep"} <= after


async def test_the_first_post_is_written_in_a_thread_which_compiles_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    write = deterministic.write_content
    on_the_loop: list[bool] = []

    def written(brief: Brief) -> Draft | Silence:
        on_the_loop.append(threading.current_thread() is threading.main_thread())
        return write(brief)

    monkeypatch.setattr(deterministic, "write_content", written)
    writer = deterministic.DeterministicWriter()
    for _ in range(2):
        assert isinstance(await writer.write(brief(ContentType.CHANGELOG, push("feat: a lamp")), PlainSteps()), Draft)

    assert on_the_loop == [False, True]
