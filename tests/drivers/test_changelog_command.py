"""``contentsvc changelog``: the public changelog, from a terminal."""

from pathlib import Path
from typing import Any

import pytest
from tests.core.test_changelog_facets import png
from tests.drivers.commands import command, invoke

pytestmark = pytest.mark.usefixtures("acme")

_BARE: dict[str, Any] = {
    "repositories": [],
    "scopes": [],
    "accent": None,
    "headerLinks": [],
    "images": {},
    "showDetails": False,
}


def test_it_is_shown_set_published_and_hidden() -> None:
    own = ("--organization", "acme")
    first = command("changelog", "show", *own)
    assert (first["slug"], first["isPublic"]) == ("acme", False)
    assert command("changelog", "publish", *own, "--yes") == first | {"isPublic": True}
    named = command(
        *("changelog", "set", *own, "--slug", "lamps", "--title", "Lamps", "--description", "What shines"),
        *("--product-url", "https://acme.example/", "--type", "blog_post", "--type", "twitter_post"),
    )
    assert named == first | {
        "slug": "lamps",
        "title": "Lamps",
        "description": "What shines",
        "productUrl": "https://acme.example/",
        "contentTypes": ["blog_post", "twitter_post"],
        "isPublic": True,
        "url": "http://127.0.0.1:8000/changelog/lamps",
    }
    bare = command("changelog", "set", *own, "--description", "", "--product-url", "")
    assert bare == named | {"description": "", "productUrl": None}
    assert command("changelog", "hide", *own) == bare | {"isPublic": False}
    assert command("changelog", "show", *own) == bare | {"isPublic": False}
    # Without --json, a table.
    assert "Lamps" in invoke("changelog", "show", *own).output


def test_invalid_values_are_refused() -> None:
    own = ("--organization", "acme")
    nothing = invoke("changelog", "set", *own)
    assert (nothing.exit_code, "name at least one option" in nothing.output) == (2, True)
    command("organization", "create", "Zenith")
    command("changelog", "publish", *own, "--yes")
    taken = invoke("changelog", "set", "--organization", "zenith", "--slug", "acme")
    assert (taken.exit_code, "slug is not available: choose another one" in taken.output) == (1, True)


def test_one_more_is_created_furnished_published_and_deleted(tmp_path: Path) -> None:
    own = ("--organization", "acme")
    lens = (*own, "--changelog", "lens")
    created = command(
        *("changelog", "create", *own, "--slug", "lens", "--title", "Lens", "--repository", "acme/lens"),
        *("--scope", "Beam", "--accent", "#0B6B63", "--link", "Docs", "https://docs.example/", "--details"),
    )
    assert (created["repositories"], created["scopes"], created["accent"]) == (["acme/lens"], ["beam"], "#0b6b63")
    assert (created["headerLinks"], created["showDetails"]) == (
        [{"label": "Docs", "url": "https://docs.example/"}],
        True,
    )
    assert created["isPublic"] is False
    picture = tmp_path / "logo.png"
    picture.write_bytes(png(64, 32))
    assert command("changelog", "image", *lens, "logo", str(picture))["images"].keys() == {"logo"}
    assert command("changelog", "image", *lens, "logo", "--delete")["images"] == {}
    bare = command(
        *("changelog", "set", *lens, "--repository", "", "--scope", "", "--accent", "", "--link", "", ""),
        "--no-details",
    )
    assert {name: bare[name] for name in _BARE} == _BARE
    assert command("changelog", "publish", *lens, "--yes")["isPublic"] is True
    listed = command("changelog", "list", *own)
    assert [(each["slug"], each["isPublic"]) for each in listed] == [("acme", False), ("lens", True)]
    assert command("changelog", "delete", *lens) == {"id": created["id"]}
    assert len(command("changelog", "list", *own)) == 1


def test_faults_of_further_changelogs_are_named(tmp_path: Path) -> None:
    own = ("--organization", "acme")
    text = tmp_path / "logo.svg"
    text.write_text("<svg/>")
    for arguments, status, fault in (
        (
            ("changelog", "show", *own, "--changelog", "no"),
            1,
            "acme has no changelog 'no': see 'contentsvc changelog list'",
        ),
        (("changelog", "create", *own, "--slug", "lens"), 2, "Missing option '--title'"),
        (("changelog", "image", *own, "logo"), 2, "name a file, or add --delete"),
        (("changelog", "image", *own, "logo", str(text)), 2, "logo must be a PNG, JPEG or WebP picture"),
        (("changelog", "delete", *own, "--changelog", "acme"), 1, "The first changelog cannot be deleted: hide it"),
        (("changelog", "set", *own, "--accent", "teal"), 2, "accent must be a colour"),
    ):
        done = invoke(*arguments)
        assert (done.exit_code, fault in done.output) == (status, True), done.output
