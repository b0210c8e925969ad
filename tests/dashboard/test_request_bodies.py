"""Bodies of forms and of other routes: their limits, and senders that disconnect."""

import io
import json
import logging
import sys
from collections.abc import Generator
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing

from contentsvc_core.content.editing import MARKDOWN_LIMIT
from contentsvc_http.body_budget import MAX_POST_BODY
from contentsvc_http.dashboard.session import SIGN_IN
from contentsvc_http.logs import configure_logging

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Generator[io.StringIO]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logging(level="info", style="json")
    yield written
    root.handlers, root.level = before


async def test_the_form_that_strangers_send_has_4_kib(world: ApiWorld) -> None:
    async def status(size: int) -> int:
        return (await world.send("POST", SIGN_IN, content=b"key=".ljust(size, b"x"), headers=FORM)).status_code

    assert [await status(4 * 1024), await status(4 * 1024 + 1)] == [401, 413]


async def test_forms_without_a_post_have_64_kib(browsing: Browsing) -> None:
    assert (await browsing.post("/dashboard/keys", {"name": "x" * 65_536})).status == 413
    # It arrives, but is not a form of the dashboard.
    assert (await browsing.post("/dashboard/keys", {"name": "x" * 65_000})).status == 403


async def test_an_upload_has_as_many_fields_as_a_form(browsing: Browsing) -> None:
    async def status(fields: int) -> int:
        fields_by_name = {f"f{number}": "" for number in range(fields)}
        return (await browsing.upload("/dashboard/changelog/images", fields_by_name, None)).status

    # The first is read, and only refused because it has no token.
    assert [await status(4000), await status(4001)] == [403, 400]


async def test_the_fault_of_a_form_is_named(world: ApiWorld, browsing: Browsing) -> None:
    path = "/dashboard/changelog/images"
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in browsing.cookies.items())}
    unnamed = b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"

    for at, content_type, body, fault in (
        (SIGN_IN, FORM["Content-Type"], b"key=\xff", "it is not UTF-8"),
        (SIGN_IN, FORM["Content-Type"], b"key=%ff", "it is not UTF-8"),
        (SIGN_IN, FORM["Content-Type"], b"&" * 4000, "it has more than 4,000 fields. Choose fewer items at once"),
        (path, "multipart/form-data", b"", "its content type has no boundary"),
        (path, "multipart/form-data; boundary=b", unnamed, "a part has no name"),
        (path, "multipart/form-data; boundary=b", b"\r\n--b" * 4003, "it has more than 4,000 fields. Choose"),
    ):
        answer = await world.send("POST", at, content=body, headers={"Content-Type": content_type} | cookie)
        assert (answer.status_code, f"Invalid form: {fault}" in answer.text) == (400, True), answer.text


@pytest.mark.parametrize("character", ["\U0001f4a1", "\n"])
async def test_the_largest_post_fits_into_its_form(browsing: Browsing, acme: Caller, character: str) -> None:
    await acme.push("d-1", "feat: lamp")
    markdown = character * MARKDOWN_LIMIT
    form = urlencode({"csrf": "", "title": "t" * 120, "markdown": markdown.replace("\n", "\r\n")})
    assert len(form) < MAX_POST_BODY

    page = await browsing.post("/dashboard/posts/preview", {"markdown": markdown.replace("\n", "\r\n")})

    # Read completely, and only refused because of its token.
    assert page.status == 403


async def left(app: Any, path: str, headers: dict[str, str]) -> int:
    """Send a head and a part of a body, and disconnect; return the status that no client reads."""
    messages: list[Any] = [
        {"type": "http.request", "body": b"key=", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }
    await app(cast("Any", scope), receive, send)
    return sent[0]["status"]


async def test_a_sender_that_leaves_within_a_body_is_not_logged_as_a_fault(
    world: ApiWorld, acme: Caller, browsing: Browsing, logged: io.StringIO
) -> None:
    key = {"Authorization": f"Bearer {acme.key}", "Content-Type": "application/json"}
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in browsing.cookies.items())}
    cases = {
        SIGN_IN: FORM,
        "/dashboard/keys": FORM | cookie,
        "/v1/posts/generate": key,
        "/mcp": key,
    }
    found = {path: await left(world.app, path, headers) for path, headers in cases.items()}

    assert found == dict.fromkeys(cases, 400)
    levels = [json.loads(line)["level"] for line in logged.getvalue().splitlines()]
    assert set(levels) == {"info"}
    assert "Traceback" not in logged.getvalue()
