"""``post``, ``trigger edit`` and ``log replay``: commands on the results of a delivery."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.drivers.commands import command, error, perform, receive

from contentsvc_cli.main import main

POST = {"id", "title", "content", "markdown", "contentType", "sourceMetadata", "status", "createdAt", "updatedAt"}


@pytest.fixture(autouse=True)
def trigger(acme: dict[str, Any]) -> str:
    """An organization that has received a push, and the trigger that it started."""
    assert acme
    created = command("integration", "connect", "acme/lighthouse", "--organization", "acme", "--repository-id", "4242")
    trigger = command("trigger", "create", "--every-event", "--organization", "acme", "--repository-id", "4242")
    receive(created["integrationId"], "feat: a lamp")
    return trigger["id"]


def test_context_records_are_searched_and_shown() -> None:
    (found,) = command("context", "search", "LAMP", "feat", "--organization", "acme", "--event-type", "push")
    assert found["deliveryId"] == "d-1"
    assert found["excerpts"][0]["text"] == "feat: a lamp (ada)"
    without = CliRunner().invoke(main, ["context", "search", "--organization", "acme", "--json", "--", "-lamp"])
    assert json.loads(without.stdout) == []
    assert command("context", "search", "--organization", "acme", "--since", "2099-01-01") == []

    shown = CliRunner().invoke(main, ["context", "show", found["customId"], "--organization", "acme"])
    assert shown.stdout.startswith("Codehost push event for acme/lighthouse (pushed).\n")
    table = CliRunner().invoke(main, ["context", "search", "lamp", "--organization", "acme"])
    assert "feat: a lamp (ada)" in table.stdout

    assert (
        error("context", "show", "codehost:1:x", "--organization", "acme")
        == "there is no context record 'codehost:1:x'"
    )
    assert (
        error("context", "search", "!", "--organization", "acme", code=2) == "Invalid query: it has no word, only signs"
    )
    assert error("context", "search", "x", "--organization", "acme", "--event-type", "ping", code=2).startswith(
        "Invalid --event-type: 'ping'"
    )


def test_of_many_hits_the_newest_are_shown_with_a_note() -> None:
    (integration,) = command("integration", "list", "--organization", "acme")
    receive(integration["id"], "feat: 2", "feat: 3", first=2)

    done = CliRunner().invoke(main, ["context", "search", "feat", "--organization", "acme", "--limit", "1", "--json"])

    assert [each["deliveryId"] for each in json.loads(done.stdout)] == ["d-3"]
    assert done.stderr == "There are more results: raise --limit, or add words.\n"


@pytest.fixture
def post() -> dict[str, Any]:
    """Return the results of the push."""
    perform("sqlite:///contentsvc.db")
    (created,) = command("post", "list", "--organization", "acme")
    return created


class Terminal(io.BytesIO):
    """A terminal's input."""

    def isatty(self) -> bool:
        return True


def test_publishing_a_changelog_lists_the_posts_and_asks(post: dict[str, Any]) -> None:
    own = ("--organization", "acme")
    publish = ("changelog", "publish", *own)
    command("post", "edit", post["id"], "--title", "A lamp with a bell")
    command("post", "publish", post["id"])

    # Scripts must pass ``--yes``.
    refused = CliRunner().invoke(main, publish, input="y\n")
    assert (refused.exit_code, "add --yes" in refused.stderr) == (2, True)
    declined = CliRunner().invoke(main, publish, input=Terminal(b"n\n"))
    assert (declined.exit_code, "Make 1 post public? [y/N]" in declined.stderr) == (1, True)
    for shown in (refused, declined):
        first, *rest = shown.stderr.splitlines()
        assert first.startswith("1 post will be public at http://127.0.0.1:8000/changelog/acme")
        assert "1  acme/lighthouse" in rest[0]
        assert rest[2].endswith("A lamp with a bell")
    assert not command("changelog", "show", *own)["isPublic"]

    done = CliRunner().invoke(main, [*publish, "--json"], input=Terminal(b"y\n"))
    assert json.loads(done.stdout)["isPublic"]
    # It is public already, so there is no question.
    again = CliRunner().invoke(main, [*publish, "--json"])
    assert (again.exit_code, again.stderr, json.loads(again.stdout)["isPublic"]) == (0, "", True)
    command("changelog", "hide", *own)
    assert command("changelog", "publish", *own, "--yes")["isPublic"]


def test_a_post_is_shown_changed_published_and_deleted(post: dict[str, Any], tmp_path: Path) -> None:
    id_ = post["id"]
    assert set(post) == POST
    assert command("post", "show", id_) == post
    assert CliRunner().invoke(main, ["post", "show", id_]).stdout == post["markdown"] + "\n"

    published = command("post", "publish", id_)
    assert published == {**post, "status": "published", "updatedAt": published["updatedAt"]}
    assert command("post", "unpublish", id_)["status"] == "draft"
    (tmp_path / "post.md").write_text("# Lamps ⚓", "utf-8")
    changed = command("post", "edit", id_, "--title", "Lamps", "--markdown", "post.md")
    assert (changed["title"], changed["content"]) == ("Lamps", "<h1>Lamps ⚓</h1>\n")
    assert command("post", "edit", id_, "--markdown", "-", input="New\0")["markdown"] == "New\ufffd"
    assert "nothing to change" in error("post", "edit", id_, code=2)
    assert error("post", "edit", id_, "--title", "x" * 121, code=2) == "--title must have at most 120 characters"
    (tmp_path / "post.md").write_bytes(b"\xff")
    assert error("post", "edit", id_, "--markdown", "post.md") == "the Markdown is not valid UTF-8"

    assert command("post", "delete", id_) == {"postId": id_, "deleted": True}
    assert command("post", "list", "--organization", "acme") == []
    for verb in ("show", "publish", "unpublish", "delete"):
        assert error("post", verb, id_) == f"there is no post '{id_}'"
    # The run keeps its history.
    (run,) = command("run", "list", "--organization", "acme")
    assert (run["status"], run["postId"]) == ("completed", id_)


def test_a_trigger_is_changed_and_deleted(trigger: str) -> None:
    changed = command("trigger", "edit", trigger, "--name", "posts", "--event", "push", "--output", "blog_post")
    assert (changed["name"], changed["sourceConfig"], changed["outputType"]) == (
        "posts",
        {"eventTypes": ["push"]},
        "blog_post",
    )
    kept = command("trigger", "edit", trigger, "--every-event", "--auto-publish", "--brand", "default")
    assert kept == {**changed, "sourceConfig": {"eventTypes": []}, "autoPublish": True}
    assert command("trigger", "list", "--organization", "acme") == [kept]

    assert "nothing to change" in error("trigger", "edit", trigger, code=2)
    assert "use either --event or --every-event" in error(
        "trigger", "edit", trigger, "--event", "push", "--every-event", code=2
    )
    assert command("trigger", "delete", trigger) == {"triggerId": trigger, "deleted": True}
    for arguments in (("edit", trigger, "--name", "x"), ("delete", trigger)):
        assert error("trigger", *arguments) == f"there is no trigger '{trigger}'"


def test_a_delivery_is_replayed() -> None:
    (entry,) = command("log", "list", "--organization", "acme")

    replayed = command("log", "replay", entry["id"])

    newest, first = command("log", "list", "--organization", "acme")
    assert first == entry
    assert replayed == {"logId": entry["id"], "deliveryId": newest["referenceId"], "runs": 1}
    assert newest["reason"] == f"1 workflow run started; replay of {entry['id']}"
    assert len(command("run", "list", "--organization", "acme")) == 2
    assert error("log", "replay", "log_x") == "there is no log entry 'log_x'"
    (integration,) = command("integration", "list", "--organization", "acme")
    command("integration", "disable", integration["id"])
    assert error("log", "replay", entry["id"]) == "Integration is disabled"


def test_posts_are_searched(post: dict[str, Any]) -> None:
    (found,) = command("post", "search", "lam*", "--organization", "acme", "--status", "draft", "--wide")

    assert (found["id"], found["title"]) == (post["id"], post["title"])
    assert set(found) == {"id", "title", "contentType", "status", "excerpts", "createdAt", "updatedAt"}
    assert command("post", "search", "lamp", "--organization", "acme", "--status", "published") == []
    assert command("post", "search", "lamp", "--organization", "acme", "--content-type", "blog_post") == []
    assert error("post", "search", "x", "--organization", "acme", "--status", "gone", code=2).startswith(
        "Invalid --status"
    )


def test_a_post_is_created_scheduled_and_restored(tmp_path: Path) -> None:
    (tmp_path / "post.md").write_text("Brighter.", "utf-8")
    create = ("post", "create", "--organization", "acme", "--title", "A lamp")
    created = command(*create, "--markdown", "post.md", "--summary", "Light", "--label", "new")
    assert set(created) == POST
    assert created["sourceMetadata"] == {"writer": "hand", "summary": "Light", "labels": ["new"]}
    public = command(*create, "--markdown", "-", "--publish", input="Darker.")
    assert (public["status"], public["markdown"]) == ("published", "Darker.")

    id_ = created["id"]
    scheduled = command("post", "publish", id_, "--at", "2999-01-01T08:00Z")
    assert scheduled["sourceMetadata"]["publishAt"] == "2999-01-01T08:00:00.000Z"
    assert "publishAt" in CliRunner().invoke(main, ["post", "publish", id_, "--at", "2999-01-02"]).stdout
    (line,) = [each for each in CliRunner().invoke(main, ["post", "list"]).stdout.splitlines() if id_ in each]
    assert "2999-01-02T00:00:00.000Z" in line
    shown = CliRunner().invoke(main, ["post", "show", id_])
    assert (shown.stdout, shown.stderr) == ("Brighter.\n", "Scheduled for 2999-01-02T00:00:00.000Z.\n")
    assert "publishAt" not in command("post", "edit", id_, "--publish-at", "none")["sourceMetadata"]
    assert command("post", "edit", id_, "--summary", "none", "--title", "Lamps")["sourceMetadata"].keys() == {
        "writer",
        "labels",
    }
    assert [(each["number"], each["author"]) for each in command("post", "versions", id_)] == [
        (2, "command"),
        (1, "command"),
    ]
    assert command("post", "restore", id_, "1")["title"] == "A lamp"
    assert error("post", "restore", id_, "9") == f"the post has no version 9: see 'contentsvc post versions {id_}'"
    assert error("post", "restore", "post_x", "1") == "there is no post 'post_x'"
    both = (*create, "--markdown", "post.md", "--publish", "--publish-at", "2999-01-01")
    assert error(*both, code=2) == "use either --publish or --publish-at"
    unreadable = error(*create, "--markdown", "post.md", "--publish-at", "soon", code=2)
    assert unreadable.startswith("--publish-at 'soon' is no time")
    assert error("post", "publish", id_, "--at", "soon", code=2).startswith("--at 'soon' is no time")


def test_posts_are_filtered_and_changed_together(tmp_path: Path) -> None:
    own = ("--organization", "acme")
    (tmp_path / "post.md").write_text("Brighter.", "utf-8")
    ids = [
        command("post", "create", *own, "--title", f"Lamp {n}", "--markdown", "post.md", "--label", "new")["id"]
        for n in range(2)
    ]
    assert [each["id"] for each in command("post", "list", *own, "--label", "new", "--query", "1")] == ids[1:]
    assert command("post", "list", *own, "--status", "published") == []
    assert error("post", "list", *own, "--label", "old", code=2).startswith("Invalid --label: 'old'")

    bulk = ("post", "bulk", "publish", *own, "--label", "new")
    assert "add --yes" in error(*bulk, code=2)
    assert command(*bulk, "--yes") == {"action": "publish", "done": ids[::-1], "failed": [], "remaining": 0}
    declined = CliRunner().invoke(main, bulk, input=Terminal(b"n\n"))
    assert (declined.exit_code, "Publish 2 of 2 posts?" in declined.stderr) == (1, True)
    assert "name at least one filter" in error("post", "bulk", "delete", *own, "--yes", code=2)
