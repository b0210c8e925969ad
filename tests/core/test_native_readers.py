"""The readers of native bodies."""

import json
from typing import Any, Final

import pytest
from tests.builders import TOO_DEEP

from contentsvc_core import Push, Release
from contentsvc_core.events.normalized import MAX_PUSH_PATHS, HeadCommit
from contentsvc_core.events.wire import event_body, event_from_json, event_to_json
from contentsvc_core.webhooks.providers.bitbucket import BITBUCKET
from contentsvc_core.webhooks.providers.decoding import Malformed
from contentsvc_core.webhooks.providers.gitlab import GITLAB
from contentsvc_core.webhooks.providers.native import read_push

_COMMIT: Final[dict[str, Any]] = {
    "id": "a\0",
    "message": "feat: \0x",
    "author": {"name": "A\0da", "email": None},
    "timestamp": "2030\0",
    "url": "https://x\0",
}
_PUSHED: Final[dict[str, Any]] = {
    "ref": "refs/heads/ma\0in",
    "commits": [
        _COMMIT,
        _COMMIT | {"author": {"name": "Bob", "email": "b\0@x.example", "username": "b\0"}, "distinct": False},
        _COMMIT | {"distinct": "false"},
    ],
    "head_commit": {"id": "h\0", "message": "m\0"},
    "repository": {"id": 7, "full_name": f"acme/\n{'x' * 300}", "default_branch": "ma\0in"},
}


def _paths_of(**lists: Any) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], int]:
    read = read_push(json.dumps(_PUSHED | {"commits": [_COMMIT | lists]}).encode()).event
    assert isinstance(read, Push)
    (commit,) = read.commits
    return commit.added, commit.modified, commit.removed, commit.paths_cut


def test_the_paths_of_a_commit_are_stored_and_are_not_in_the_wire_form() -> None:
    body = json.dumps(_PUSHED | {"commits": [_COMMIT | {"added": ['a"b.py', "c\0é"], "removed": ["old"]}]})
    event = read_push(body.encode()).event
    assert isinstance(event, Push)
    assert event.commits[0].added == ('a"b.py', "c\ufffdé")
    assert event.commits[0].removed == ("old",)
    assert event_from_json("push", event_to_json(event)) == event
    plain = read_push(json.dumps(_PUSHED | {"commits": [_COMMIT]}).encode()).event
    assert event_body(event) == event_body(plain)
    # An event that was stored by an earlier version has no lists.
    assert event_from_json("push", event_to_json(plain)) == plain
    assert "added" not in event_to_json(plain)


def test_the_paths_of_a_push_are_bounded_and_the_rest_is_counted() -> None:
    many = [f"{n}.py" for n in range(60)]
    assert _paths_of(added=many[:30], modified=many[30:]) == (tuple(many[:30]), tuple(many[30:50]), (), 10)
    assert _paths_of(added=["x" * 250, "x" * 251, ""]) == (("x" * 250,), (), (), 2)
    commits = [_COMMIT | {"modified": ["x" * 250] * 50}] * 22
    event = read_push(json.dumps(_PUSHED | {"commits": commits}).encode()).event
    assert isinstance(event, Push)
    kept = [len(commit.modified) for commit in event.commits]
    assert sum(kept) * 250 <= MAX_PUSH_PATHS < (sum(kept) + 1) * 250
    assert sum(kept) + sum(commit.paths_cut for commit in event.commits) == 22 * 50


@pytest.mark.parametrize("wrong", [None, "src/a.py", {"src": "a.py"}, 7, [1, None, {}], []])
def test_malformed_lists_of_paths_are_read_as_empty(wrong: object) -> None:
    assert _paths_of(added=wrong, modified=["a"]) == ((), ("a",), (), 0)


def test_a_push_of_gitlab_whose_list_is_cut_names_its_range() -> None:
    commit = {**_COMMIT, "id": "b" * 40}
    body = {
        "ref": "refs/heads/main",
        "before": "a" * 40,
        "after": "b" * 40,
        "total_commits_count": 21,
        "commits": [commit],
        "project": {"id": 7, "path_with_namespace": "acme/lamp", "default_branch": "main"},
    }
    read = GITLAB.readers["Push Hook"]

    cut, whole = (read(json.dumps(body | {"total_commits_count": total}).encode()).event for total in (21, 1))

    assert isinstance(cut, Push)
    assert isinstance(whole, Push)
    assert (cut.is_cut, cut.before) == (True, "a" * 40)
    assert (whole.is_cut, whole.before) == (False, "")
    assert cut.head_commit == whole.head_commit == HeadCommit(id="b" * 40, message="feat: \ufffdx")


@pytest.mark.parametrize(("change", "kind"), [({"type": "tag"}, Release), ({"type": "branch"}, Push)])
def test_only_a_tag_of_bitbucket_is_a_version(change: dict[str, str], kind: type[object]) -> None:
    new = {**change, "name": "v1.0.0", "target": {"hash": "a" * 40, "message": "m"}, "links": {"html": {"href": "u"}}}
    assert isinstance(_of_bitbucket({"new": new, "old": None}), kind)
    with pytest.raises(Malformed, match=r"^push\.changes\[\]\.new or push\.changes\[\]\.old must be an object$"):
        _of_bitbucket({"new": None, "old": None})


def _of_bitbucket(change: dict[str, Any]) -> object:
    repository = {"uuid": "{5f1d1f2e-1111-4222-8333-444455556666}", "full_name": "acme/lamp"}
    return BITBUCKET.readers["repo:push"](
        json.dumps({"push": {"changes": [change]}, "repository": repository}).encode()
    ).event


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "the body is not valid JSON (Input data was truncated)"),
        (b"{", "the body is not valid JSON (Input data was truncated)"),
        (b"[]", "the body must be an object"),
        (b"{}", "ref is missing"),
        (b'{"ref": 1}', "ref must be a string"),
        (b'{"ref": "x", "commits": [{"id": 1}]}', "commits[0].id must be a string"),
        (b'{"ref": "x", "commits": [{}]}', "commits[0].id is missing"),
        (b'{"ref": "x", "head_commit": 1}', "head_commit must be an object or null"),
        (b'{"ref": "\xff"}', "the body is not UTF-8 (byte 9)"),
        (b'{"commits": [' + b"{}," * 3_000 + b"{}]}", "commits[0].id is missing"),
        (b"[" * 100_000, "the body must be an object"),
        (b'{"x": ' + b"[" * TOO_DEEP, "the body is nested too deep"),
    ],
)
def test_the_first_fault_of_a_body_is_named_by_its_place(body: bytes, fault: str) -> None:
    with pytest.raises(Malformed) as raised:
        read_push(body)
    assert str(raised.value) == fault


def test_a_push_of_forgejo_or_gitea_lists_the_newest_commits_newest_first() -> None:
    listed = [_COMMIT | {"id": each * 40} for each in "cb"]
    body = _PUSHED | {"commits": listed, "before": "a" * 40, "total_commits": 7}

    def read(**fields: Any) -> Push:
        event = read_push(json.dumps(body | fields).encode()).event
        assert isinstance(event, Push)
        return event

    cut, whole, created, unread = (
        read(),
        read(total_commits=2),
        read(before="0" * 40),
        read(total_commits=None, before=None),
    )
    assert [each.id[0] for each in cut.commits] == ["b", "c"]
    assert (cut.is_cut, cut.before) == (True, "a" * 40)
    assert (whole.commits, whole.is_cut, whole.before) == (cut.commits, False, "")
    assert (created.is_cut, created.before) == (True, "")
    assert (unread.commits, unread.is_cut) == (cut.commits[::-1], False)
