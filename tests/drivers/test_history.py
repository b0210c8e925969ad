"""The command ``history`` with real repositories, created by git."""

import io
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checkouts import Work
from tests.terminal import on_terminal

from contentsvc_cli.develop import git
from contentsvc_cli.develop.git import Checkout, Tag, username
from contentsvc_cli.develop.history import history, hosted_repository, notes
from contentsvc_cli.develop.native_bodies import is_prerelease, stable_id
from contentsvc_cli.develop.recordings import RecordedDelivery, read_lines
from contentsvc_cli.start.sample import other_kinds, sample_history
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.webhooks.decision import why_filtered
from contentsvc_core.webhooks.providers.native import MAX_COMMITS, Reading, read_push, read_release

pytestmark = pytest.mark.usefixtures("git_configuration")


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "light house!")


def _run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(history, [str(path), *options])


def _exported(path: Path, *options: str) -> list[RecordedDelivery]:
    result = _run(path, *options)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return list(read_lines(io.BytesIO(result.stdout_bytes), "history"))


def _read(delivery: RecordedDelivery) -> Reading:
    return {"push": read_push, "release": read_release}[delivery.event](delivery.body)


def _body(delivery: RecordedDelivery) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(delivery.body)
    return body


def _pushed(deliveries: Sequence[RecordedDelivery]) -> list[list[str]]:
    """Return the commits of each push, and the tag of each release."""
    pushed: list[list[str]] = []
    for event in (_read(delivery).event for delivery in deliveries):
        match event:
            case Push():
                pushed.append([commit.id for commit in event.commits])
            case Release():
                pushed.append([event.tag_name])
    return pushed


def test_each_commit_of_the_first_parent_line_is_a_push_and_each_tag_a_release_after_it(work: Work) -> None:
    first = work.commit("one")
    work.git("tag", "v1.0.0")
    second = work.commit("two")
    work.git("tag", "--annotate", "--message=Two is better.", "v1.1.0")
    third = work.commit("three")
    exported = _exported(work.path)
    assert _pushed(exported) == [[first], ["v1.0.0"], [second], ["v1.1.0"], [third]]


def test_a_merge_brings_its_commits_once_and_oldest_first(work: Work) -> None:
    base = work.commit("base")
    work.git("switch", "--quiet", "--create=side")
    side = [work.commit("side 1")]
    work.git("tag", "on-the-side")
    work.git("switch", "--quiet", "main")
    between = work.commit("between")
    work.git("switch", "--quiet", "side")
    # Commits that the side branch merged from the main line were pushed before.
    side += [work.merge("main"), work.commit("side 2")]
    work.git("switch", "--quiet", "main")
    merge = work.merge("side")
    last = work.commit("last")
    assert _pushed(_exported(work.path)) == [[base], [between], [*side, merge], ["on-the-side"], [last]]


def test_an_octopus_merge_and_an_unrelated_root_are_brought_whole(work: Work) -> None:
    root = work.commit("root")
    work.git("switch", "--quiet", "--create=a")
    a = work.commit("a")
    work.git("switch", "--quiet", "main")
    between = work.commit("between")
    work.git("switch", "--quiet", "--create=b")
    b = work.commit("b")
    work.git("switch", "--quiet", "--orphan", "other")
    other = work.commit("another root")
    work.git("switch", "--quiet", "main")
    unrelated = work.commit("main goes on")
    tree = work.git("rev-parse", "HEAD^{tree}")
    octopus = work.git("commit-tree", tree, "-p", unrelated, "-p", a, "-p", b, "-p", other, "-m", "octopus")
    work.git("reset", "--quiet", "--hard", octopus)
    assert _pushed(_exported(work.path)) == [[root], [between], [unrelated], [a, b, other, octopus]]


@pytest.mark.slow("a short campaign over generated examples")
@settings(max_examples=25, deadline=None)
@given(shape=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3, unique=True), min_size=1, max_size=14))
def test_pushes_equal_the_history_of_git_for_any_shape(
    shape: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = Work(tmp_path_factory.mktemp("shape") / "work")
    tree = work.git("mktree")
    ids: list[str] = []
    for number, choices in enumerate(shape):
        parents = list(dict.fromkeys(ids[choice % len(ids)] for choice in choices)) if ids else []
        named = [option for parent in parents for option in ("-p", parent)]
        # All in the same second, so that dates cannot show the order.
        ids.append(work.git("commit-tree", tree, *named, "-m", str(number)))
    work.git("update-ref", "refs/heads/main", ids[-1])

    pushes = Checkout(work.path).pushes(ids[-1])

    line = work.git("rev-list", "--first-parent", "--reverse", ids[-1]).split()
    assert [push[-1] for push in pushes] == line
    for before, push in zip([None, *line], pushes, strict=False):
        excluded = [f"^{before}"] if before else []
        assert sorted(push) == sorted(work.git("rev-list", push[-1], *excluded).split())
        for index, commit in enumerate(push):
            parents = work.git("rev-parse", f"{commit}^@").split()
            assert not set(parents) & set(push[index:])


def test_a_push_has_all_fields_that_are_read(work: Work) -> None:
    work.git("remote", "add", "origin", "git@code.example:acme/lighthouse.git")
    work.commit("one")
    second = work.commit("feat: two\n\nLonger.\n")
    body = _body(_exported(work.path)[1])
    url = "https://code.example/acme/lighthouse"
    commit: dict[str, Any] = {
        "id": second,
        "distinct": True,
        "message": "feat: two\n\nLonger.",
        "timestamp": "2025-03-10T10:02:00+01:00",
        "url": f"{url}/commit/{second}",
        "author": {"name": "Ada", "email": "12+ada-l@users.noreply.codehost.example", "username": "ada-l"},
        "added": [],
        "removed": [],
        "modified": [],
    }
    assert body == {
        "ref": "refs/heads/main",
        "commits": [commit],
        "head_commit": {"id": second, "message": "feat: two\n\nLonger."},
        "repository": {
            "id": stable_id("acme/lighthouse"),
            "full_name": "acme/lighthouse",
            "default_branch": "main",
        },
    }


def test_a_release_has_the_annotation_without_its_signature(work: Work) -> None:
    work.commit("one")
    signed = "Bright.\n\n- brighter\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n"
    work.git("tag", "--annotate", "--cleanup=verbatim", "--file=-", "v2.0.0-rc1", stdin=signed.encode())
    work.git("tag", "light")
    work.git("tag", "--annotate", "--message=Release v2.0.0", "v2.0.0")
    releases = {_body(delivery)["release"]["tag_name"]: _body(delivery) for delivery in _exported(work.path)[1:]}
    release = releases["v2.0.0-rc1"]["release"]
    assert release == {
        "tag_name": "v2.0.0-rc1",
        "target_commitish": "",
        "name": "v2.0.0-rc1",
        "body": "Bright.\n\n- brighter",
        "draft": False,
        "prerelease": True,
        "published_at": "2025-03-10T10:01:00+01:00",
        "html_url": "https://codehost.example/local/light-house/releases/tag/v2.0.0-rc1",
    }
    assert releases["v2.0.0-rc1"]["action"] == "published"
    assert (releases["light"]["release"]["body"], releases["v2.0.0"]["release"]["body"]) == (None, None)
    assert releases["light"]["release"]["published_at"] == "2025-03-10T10:01:00+01:00"


def test_tags_of_tags_are_releases_and_tags_of_other_things_or_unrelated_commits_are_not(work: Work) -> None:
    first = work.commit("one")
    work.git("tag", "--annotate", "--message=inner", "inner")
    work.git("tag", "--annotate", "--message=outer", "outer", "inner")
    work.git("tag", "a-tree", "HEAD^{tree}")
    work.git("tag", "--annotate", "--message=x", "an-annotated-tree", "HEAD^{tree}")
    work.git("switch", "--quiet", "--orphan", "other")
    work.commit("elsewhere")
    work.git("tag", "unrelated")
    assert sorted(_pushed(_exported(work.path, "--branch", "main"))) == sorted([[first], ["inner"], ["outer"]])


def test_tags_of_the_same_second_come_by_version(work: Work) -> None:
    work.commit("one")
    for name in ("v6.10", "v6.9"):
        work.git("tag", "--annotate", "--message=x", name)
    assert [tag.name for tag in Checkout(work.path).tags()] == ["v6.9", "v6.10"]


def test_messages_in_other_encodings_and_in_none_become_utf8(work: Work) -> None:
    work.commit("grün".encode("latin-1"), "-c", "i18n.commitEncoding=ISO-8859-1")
    # Git would correct this one before a commit.
    head = f"tree {work.git('mktree')}\nparent {work.git('rev-parse', 'HEAD')}\n"
    raw = head.encode() + b"author \xff <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nbroken \xff\xfe \x1b[31m\r\nend\n"
    broken = work.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    work.git("update-ref", "refs/heads/main", broken)
    work.commit("日本語 \N{LINE SEPARATOR} 🕯", GIT_AUTHOR_NAME="Zoë \N{RIGHT-TO-LEFT OVERRIDE}")
    events = [_read(delivery).event for delivery in _exported(work.path)]
    messages = [event.commits[0].message for event in events if isinstance(event, Push)]
    assert messages == ["grün", "broken \ufffd\ufffd \x1b[31m\r\nend", "日本語 \u2028 🕯"]


def test_a_barely_valid_commit_is_exported(work: Work) -> None:
    tree = work.git("mktree")
    # No name, no address, and only a NUL as the message.
    raw = f"tree {tree}\nauthor  <> 0 +0000\ncommitter  <> 0 +0000\n\nbefore\0after\n".encode()
    commit = work.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    work.git("update-ref", "refs/heads/main", commit)
    last = work.commit("after it")
    assert _pushed(_exported(work.path)) == [[commit], [last]]


def test_configuration_and_environment_change_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.commit("one")
    work.git("tag", "--annotate", "--message=x", "v1")
    expected = _exported(work.path)
    for name, value in {
        "log.showSignature": "true",
        "gpg.program": "/nonexistent",
        "color.ui": "always",
        "format.pretty": "oneline",
        "i18n.logOutputEncoding": "UTF-16",
        "log.date": "relative",
        "core.pager": "/nonexistent",
        "core.abbrev": "4",
        "tag.sort": "-refname",
    }.items():
        work.git("config", name, value)
    # As inside a hook of another repository.
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_WORK_TREE", "/nonexistent")
    assert _exported(work.path) == expected


def test_a_repository_with_missing_objects_runs_no_command_also_with_an_older_git(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.write("lamp.txt", "bright")
    work.commit("one")
    tree = work.git("rev-parse", "HEAD^{tree}")
    (work.path / ".git/objects" / tree[:2] / tree[2:]).unlink()
    ran = work.path / "ran"
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {str(ran).replace(' ', '% ')}",
        "protocol.ext.allow": "always",
    }.items():
        work.git("config", name, value)
    # Git before 2.45 does not know the variable.
    monkeypatch.delitem(git._ENVIRONMENT, "GIT_NO_LAZY_FETCH")  # pyright: ignore[reportPrivateUsage]

    assert _run(work.path).exit_code == 1

    assert not ran.exists()


def test_the_same_history_has_the_same_delivery_ids_and_another_name_has_others(work: Work, tmp_path: Path) -> None:
    work.commit("one")
    work.git("tag", "v1.0.0")
    exported = _exported(work.path, "--repository", "acme/lighthouse")
    work.git("clone", "--quiet", str(work.path), str(tmp_path / "copy"))
    assert _exported(tmp_path / "copy", "--repository", "acme/lighthouse") == exported
    other = _exported(work.path, "--repository", "acme/other")
    ids = {delivery.delivery for delivery in exported + other}
    assert len(ids) == 4


def test_options_name_repository_and_id(work: Work) -> None:
    work.git("remote", "add", "origin", "https://code.example/acme/lighthouse")
    work.commit("one")
    body = _body(_exported(work.path, "--repository", "o/n", "--repository-id", "7")[0])
    assert (body["repository"]["id"], body["repository"]["full_name"]) == (7, "o/n")
    assert body["commits"][0]["url"].startswith("https://codehost.example/o/n/commit/")
    assert _run(work.path, "--repository", "no name").exit_code == 2
    assert _run(work.path, "--repository-id", "0").exit_code == 2
    assert _run(work.path, "--repository-id", str(2**63)).exit_code == 2


def test_a_chosen_branch_is_exported_as_the_default_branch(work: Work, tmp_path: Path) -> None:
    base = work.commit("base")
    work.git("switch", "--quiet", "--create=feature/x")
    feature = work.commit("feature")
    work.git("switch", "--quiet", "main")
    work.git("clone", "--quiet", str(work.path), str(tmp_path / "copy"))
    for path in (work.path, tmp_path / "copy"):
        exported = _exported(path, "--branch", "feature/x")
        assert _pushed(exported) == [[base], [feature]]
        reading = _read(exported[0])
        assert why_filtered(reading.event, reading.default_branch) is None
        assert _body(exported[0])["ref"] == "refs/heads/feature/x"


@pytest.mark.parametrize("branch", ["none", "main~0", "--all", "HEAD", "main^{commit}", "../../HEAD", "", "-"])
def test_an_unknown_branch_is_refused(work: Work, branch: str) -> None:
    work.commit("one")
    result = _run(work.path, f"--branch={branch}")
    assert result.exit_code == 1
    assert "has no branch" in result.stderr
    assert result.stdout == ""


def test_a_detached_head_a_bare_repository_a_worktree_and_a_subfolder_are_read(work: Work, tmp_path: Path) -> None:
    commit = work.commit("one")
    work.git("clone", "--quiet", "--bare", str(work.path), str(tmp_path / "bare.git"))
    work.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "in-tree")
    (work.path / "folder").mkdir()
    work.git("checkout", "--quiet", "--detach")
    refs = {
        path: _body(_exported(path)[0])["ref"]
        for path in (work.path, tmp_path / "bare.git", tmp_path / "tree", work.path / "folder")
    }
    assert list(refs.values()) == ["refs/heads/main", "refs/heads/main", "refs/heads/in-tree", "refs/heads/main"]
    assert _pushed(_exported(tmp_path / "bare.git")) == [[commit]]


def test_a_shallow_clone_begins_where_its_history_does(work: Work, tmp_path: Path) -> None:
    work.commit("one")
    second, third = work.commit("two"), work.commit("three")
    work.git("clone", "--quiet", "--depth=2", work.path.as_uri(), str(tmp_path / "shallow"))
    exported = _exported(tmp_path / "shallow")
    assert _pushed(exported) == [[second], [third]]


def test_a_repository_with_sha256_is_read(tmp_path: Path) -> None:
    work = Work(tmp_path / "long", "--object-format=sha256")
    commit = work.commit("one")
    exported = _exported(work.path)
    assert _pushed(exported) == [[commit]]
    assert len(commit) == 64


def test_an_unreadable_repository_is_one_line(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for path, fault in (
        (work.path, "has no commits yet"),
        (
            tmp_path / "empty",
            f"Error: {tmp_path}/empty is not a git repository: name a checkout as in 'contentsvc hist",
        ),
        (tmp_path / "missing", "is not a folder"),
        (tmp_path / "file", "is not a folder"),
    ):
        result = _run(path)
        assert result.exit_code == 1
        assert fault in result.stderr
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""


def test_git_that_is_not_installed_is_named(work: Work, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = _run(work.path)
    assert (result.exit_code, result.stderr) == (1, "Error: git is not installed, or not in PATH\n")


def test_a_damaged_history_is_an_error_not_a_shorter_history(work: Work) -> None:
    first = work.commit("one")
    work.commit("two")
    (work.path / ".git/objects" / first[:2] / first[2:]).unlink()
    result = _run(work.path)
    assert result.exit_code == 1
    assert "git cannot read" in result.stderr


def _fast_import(work: Work, count: int) -> None:
    """Create ``count`` commits: two of three on a side branch, which the third one merges."""
    lines: list[str] = []
    for mark in range(1, count + 1):
        branch = "main" if mark % 3 == 0 or mark == 1 else "side"
        lines.append(
            f"commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@b.example> {1_700_000_000 + mark} +0000\n"
            f"data 6\nc{mark:05}\n"
        )
        if branch == "main" and mark > 1:
            lines.append(f"merge :{mark - 1}\n")
        elif mark == 2:
            lines.append("from :1\n")
        lines.append("\n")
    work.git("fast-import", "--quiet", stdin="".join(lines).encode())


def _watched(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Return a list of the processes that are started from now on."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    class Watched(popen[bytes]):
        def __init__(self, command: Sequence[str], **options: Any) -> None:
            super().__init__(command, **options)
            started.append(self)

    monkeypatch.setattr("subprocess.Popen", Watched)
    return started


@pytest.mark.slow("writes or reads very large texts")
def test_ten_thousand_commits_are_streamed_by_few_processes(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    _fast_import(work, 10_000)
    started = _watched(monkeypatch)
    pushed = _pushed(_exported(work.path))
    assert sum(map(len, pushed)) == len({commit for push in pushed for commit in push})
    assert sum(map(len, pushed)) >= 9_998
    assert len(started) <= 12


def test_a_merge_of_more_commits_than_a_push_can_hold_keeps_the_newest(work: Work) -> None:
    blocks = ["commit refs/heads/main\nmark :1\ncommitter A <a@b.example> 1700000000 +0000\ndata 4\nroot\n\n"]
    blocks += [
        f"commit refs/heads/side\nmark :{mark}\ncommitter A <a@b.example> {1_700_000_000 + mark} +0000\n"
        f"data 6\nc{mark:05}\n{'from :1' if mark == 2 else ''}\n"
        for mark in range(2, MAX_COMMITS + 100)
    ]
    work.git("fast-import", "--quiet", stdin="".join(blocks).encode())
    work.git("reset", "--quiet", "--hard", "main")
    merge = work.merge("side")
    last = work.commit("last")
    pushed = _pushed(_exported(work.path))
    assert [len(push) for push in pushed] == [1, MAX_COMMITS, 1]
    assert pushed[1][-1] == merge
    assert pushed[1][-2] == work.git("rev-parse", "side")
    assert pushed[2] == [last]


def test_reading_can_be_broken_off_without_a_process_left_behind(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    _fast_import(work, 3_000)
    started = _watched(monkeypatch)
    repository = Checkout(work.path)
    pushes = repository.pushes(repository.line().tip)
    reading = repository.commits(iter([commit for push in pushes for commit in push]))
    assert isinstance(reading, Iterator)
    assert next(reading).message == "c00001"
    del reading
    assert started
    # The process has ended and was waited for.
    assert not [process.args for process in started if process.returncode is None]


@pytest.mark.parametrize(
    ("origin", "name", "html_url"),
    [
        ("https://code.example/acme/light.git", "acme/light", "https://code.example/acme/light"),
        ("https://user:token@code.example:8443/acme/light", "acme/light", "https://code.example:8443/acme/light"),
        ("https://to@ken@code.example/acme/light/", "acme/light", "https://code.example/acme/light"),
        ("http://code.example:3000/acme/light.git", "acme/light", "https://code.example/acme/light"),
        ("git@code.example:acme/light.git", "acme/light", "https://code.example/acme/light"),
        ("ssh://git@code.example:2222/acme/light.git", "acme/light", "https://code.example/acme/light"),
        ("code.example:acme/light", "acme/light", "https://code.example/acme/light"),
        ("https://code.example/group/sub/light", "sub/light", "https://code.example/group/sub/light"),
        ("work:acme/light.git", "acme/light", "https://codehost.example/acme/light"),
        ("https://code.example/light", "local/a-folder", "https://codehost.example/local/a-folder"),
        ("/srv/git/acme/light.git", "local/a-folder", "https://codehost.example/local/a-folder"),
        ("file:///srv/git/acme/light.git", "local/a-folder", "https://codehost.example/local/a-folder"),
        ("C:/git/acme/light", "local/a-folder", "https://codehost.example/local/a-folder"),
        (None, "local/a-folder", "https://codehost.example/local/a-folder"),
    ],
)
def test_name_and_page_come_from_the_remote_without_credentials(origin: str | None, name: str, html_url: str) -> None:
    hosted = hosted_repository(origin=origin, folder="a folder", branch="main")
    assert (hosted.full_name, hosted.html_url) == (name, html_url)
    assert hosted.id == stable_id(name) > 0


@given(origin=st.text() | st.from_regex(r"https?://[^/]*@[a-z.]+/.*", fullmatch=True), folder=st.text())
def test_any_remote_has_one_name_without_credentials(origin: str, folder: str) -> None:
    hosted = hosted_repository(origin=origin, folder=folder, branch="main")
    assert is_full_name(hosted.full_name)
    assert "@" not in hosted.html_url


def test_ids_are_stable_across_releases_of_this_project() -> None:
    assert stable_id("acme/lighthouse") == stable_id("Acme/Lighthouse") == 1_489_507_393


@pytest.mark.parametrize(
    ("email", "account"),
    [
        ("12+ada@users.noreply.codehost.example", "ada"),
        ("ada@users.noreply.codehost.example", "ada"),
        ("49+shelf-bot[bot]@users.noreply.codehost.example", "shelf-bot[bot]"),
        ("noreply@codehost.example", None),
        ("ada@example.org", None),
        ("", None),
        ("a b@users.noreply.codehost.example", None),
    ],
)
def test_accounts_are_read_from_noreply_addresses(email: str, account: str | None) -> None:
    assert username(email) == account


_PRE_RELEASES = (
    "v1.0.0-rc1 v1.0.0-rc.1 1.0a1 1.0b2 3.0-beta v2.0.0-alpha.1 1.0.dev3 pkg-1.0rc2 pkg@2.0.0-next.4 pkg/v1.2-pre "
    "V4.0-RC2 1.0.0-0.beta.1 2.0.0-M1 1.0.0-rc.1+build.5"
)
_FINAL = (
    "v1.0.0 1.0 v1.0.0-1 2024.05.01 1.0.post1 v1.0.0+build.7 build-1a2b3c4 pre-commit-1.0 a-1.0 4.0.0-RELEASE latest "
    "v1.0-final beta-tools-2.0 1.0-abc"
)


@pytest.mark.parametrize(("tags", "expected"), [(_PRE_RELEASES, True), (_FINAL, False)])
def test_tags_of_versions_that_are_not_final(tags: str, *, expected: bool) -> None:
    assert [tag for tag in tags.split() if is_prerelease(tag) is not expected] == []


@pytest.mark.parametrize(
    ("name", "message", "kept"),
    [
        ("v1.0", "v1.0", None),
        ("v1.0", "1.0\n", None),
        ("1.0", "Version 1.0.", None),
        ("v1.0", "release: v1.0", None),
        ("pkg/v1.0", "pkg/v1.0", None),
        ("v1.0", "", None),
        ("v1.0", "Release", None),
        ("v1.0", None, None),
        ("v1.0", "v1.0: bright", "v1.0: bright"),
        ("v1.0", "Release v1.0\n\n- bright", "Release v1.0\n\n- bright"),
        ("v1.0", "v1.1", "v1.1"),
    ],
)
def test_notes_are_the_annotation_without_the_tag(name: str, message: str | None, kept: str | None) -> None:
    assert notes(Tag(name=name, commit_id="0", message=message, created_at="")) == kept


def test_the_sample_is_a_history_that_the_core_processes() -> None:
    deliveries = list(sample_history())
    assert deliveries == list(sample_history())
    readings = [_read(delivery) for delivery in deliveries]
    assert [why_filtered(reading.event, reading.default_branch) for reading in readings] == [None] * 18
    assert {(reading.repository, reading.repository_id) for reading in readings} == {("acme/lighthouse", 4242)}
    pushes = [reading.event for reading in readings if isinstance(reading.event, Push)]
    commits = [commit for push in pushes for commit in push.commits]
    assert len({commit.id for commit in commits}) == len(commits) == 36
    assert [commit.timestamp for commit in commits] == sorted(commit.timestamp for commit in commits)
    reverts = [commit for commit in commits if "This reverts commit" in commit.message]
    assert any(commit.id in revert.message for revert in reverts for commit in commits)
    bodies = [reading.event.body for reading in readings if isinstance(reading.event, Release)]
    assert bodies[0] == ""
    assert bodies[1]


def test_other_kinds_end_as_they_are_meant_to() -> None:
    deliveries = other_kinds("o/n", 7)
    read = [_read(delivery) for delivery in deliveries if delivery.event in ("push", "release")]
    assert [why_filtered(each.event, each.default_branch) is None for each in read] == [*[False] * 6, True]
    assert {reading.repository_id for reading in read} == {7}
    assert [delivery.event for delivery in deliveries if delivery.event not in ("push", "release")] == [
        "ping",
        "issues",
        "star",
    ]
    assert all(_body(delivery)["repository"]["full_name"] == "o/n" for delivery in deliveries)
    ids = [delivery.delivery for delivery in [*deliveries, *sample_history("o/n", 7)]]
    assert len(set(ids)) == len(ids)


@pytest.mark.slow("starts a command on a terminal")
def test_a_commits_controls_are_no_escapes_on_a_terminal(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    work.commit("feat: \u202elamp \x9b31m")

    shown = on_terminal(80, "history", str(work.path), environment=dict(os.environ))

    assert r"feat: \u202elamp \x9b31m" in shown
    assert not set(shown) & {"\u202e", "\x9b"}
