"""``contentsvc changelog``: the public changelog, from a terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contentsvc_cli.main import main


@pytest.fixture(autouse=True)
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "BASE_URL", "SECRET_KEY"):
        monkeypatch.delenv(f"CONTENTSVC_{name}", raising=False)
    command("organization", "create", "Acme")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def command(*arguments: str) -> Any:
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_it_is_shown_set_published_and_hidden() -> None:
    mine = ("--organization", "acme")
    first = {
        "slug": "acme",
        "title": "Acme",
        "description": "",
        "productUrl": None,
        "contentTypes": ["changelog", "blog_post"],
        "isPublic": False,
        "url": "http://127.0.0.1:8000/changelog/acme",
    }
    assert command("changelog", "show", *mine) == first
    assert command("changelog", "publish", *mine, "--yes") == first | {"isPublic": True}
    named = command(
        *("changelog", "set", *mine, "--slug", "lamps", "--title", "Lamps", "--description", "What shines"),
        *("--product-url", "https://acme.example/", "--type", "blog_post", "--type", "twitter_post"),
    )
    assert named == {
        "slug": "lamps",
        "title": "Lamps",
        "description": "What shines",
        "productUrl": "https://acme.example/",
        "contentTypes": ["blog_post", "twitter_post"],
        "isPublic": True,
        "url": "http://127.0.0.1:8000/changelog/lamps",
    }
    bare = command("changelog", "set", *mine, "--description", "", "--product-url", "")
    assert bare == named | {"description": "", "productUrl": None}
    assert command("changelog", "hide", *mine) == bare | {"isPublic": False}
    assert command("changelog", "show", *mine) == bare | {"isPublic": False}
    # Without --json, for people.
    assert "Lamps" in invoke("changelog", "show", *mine).output


def test_what_cannot_be_is_refused() -> None:
    mine = ("--organization", "acme")
    nothing = invoke("changelog", "set", *mine)
    assert (nothing.exit_code, "name at least one option" in nothing.output) == (2, True)
    refused = invoke("changelog", "set", *mine, "--slug", "A")
    assert (refused.exit_code, "slug must be 1 to 63 of a-z" in refused.output) == (1, True)
    unknown = invoke("changelog", "publish", "--organization", "nobody")
    assert (unknown.exit_code, "there is no organization 'nobody'" in unknown.output) == (1, True)
    command("organization", "create", "Zenith")
    command("changelog", "publish", *mine, "--yes")
    taken = invoke("changelog", "set", "--organization", "zenith", "--slug", "acme")
    assert (taken.exit_code, "slug is not available: choose another one" in taken.output) == (1, True)
