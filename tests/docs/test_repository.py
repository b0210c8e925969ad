"""The way of a real repository is gone, command by command, as it stands on its page."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.code_host_server import REPOSITORY_ID, TOKEN, CodeHostServer
from tests.docs.pages import fences, read, shell_lines
from tests.server_process import Installation, serving, until

from contentsvc_cli.main import main
from contentsvc_core.testing import push_body

pytestmark = pytest.mark.slow("starts the command for each step of a guide")


def invoke(words: list[str], given: str | None = None) -> str:
    done = CliRunner().invoke(main, words, input=given)
    assert done.exit_code == 0, (words, done.output)
    return done.stdout


def listed(*words: str) -> Any:
    return json.loads(invoke([*words, "--organization", "acme", "--json"]))


def test_the_page_leads_from_a_connected_repository_to_a_post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [words for fence in fences(read("docs/repository.md"), "sh") for words in shell_lines(fence.text)]
    commands = [words[1:] for words in lines if words[0] == "contentsvc" and words[1] != "serve"]
    with CodeHostServer() as host:
        installation = Installation(tmp_path, github_api_url=host.api_url)
        with serving(installation) as server:
            for name, value in (installation.environment | {"CONTENTSVC_BASE_URL": server.url}).items():
                monkeypatch.setenv(name, value)
            done: list[str] = []
            for words in commands:
                if words[:2] == ["log", "list"]:
                    # What the code host does meanwhile: it pings a new webhook, and somebody pushes.
                    assert host.deliver("ping", {"zen": "Keep it lit."}, "d-ping") == 200
                    assert (
                        host.deliver("push", push_body("feat: turn the beam", repository_id=REPOSITORY_ID), "d-1")
                        == 200
                    )
                    until(lambda: listed("run", "list")[0]["status"] == "completed", "the run is completed")
                made = {"$INTEGRATION": listed("integration", "list")[0]["id"]} if "connect" in done else {}
                invoke([made.get(word, word) for word in words], TOKEN)
                done.append(words[1])

        assert [entry["title"] for entry in listed("log", "list")][:2] == [
            "Processed push event",
            "Webhook ping received",
        ]
        assert listed("log", "list")[0]["reason"] == "1 workflow run started"
        assert [post["status"] for post in listed("post", "list")] == ["draft"]
        assert done == ["create", "connect", "create", "list", "list", "list", "reconcile"]
