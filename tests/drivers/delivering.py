"""Pushes to a real server."""

import json

import httpx
from attrs import evolve
from tests.server_process import PATIENCE_S, PLAIN, Prepared, ServerProcess

from contentsvc_core.testing import push_body


def deliver(
    prepared: Prepared,
    server: ServerProcess,
    delivery: str,
    message: str = "feat: add a lamp",
    *,
    secret: str = "",
    **headers: str,
) -> httpx.Response:
    """Send a push of one commit, on a connection of its own."""
    hook = evolve(prepared.hook, secret=secret or prepared.hook.secret)
    body = json.dumps(push_body(message, repository_id=hook.repository_id)).encode()
    url, sent = f"{server.url}{hook.path}", hook.headers(body, delivery) | headers
    return httpx.post(url, content=body, headers=sent, trust_env=False, verify=PLAIN, timeout=PATIENCE_S)
