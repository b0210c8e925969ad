"""The command ``preview`` with real repositories, created by git."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.checkouts import Work
from tests.elements import Elements
from tests.server_process import COMMAND, PATIENCE_S
from tests.terminal import on_terminal

from contentsvc_cli.main import main
from contentsvc_core.content.posts import ContentType

pytestmark = pytest.mark.usefixtures("git_configuration")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Two releases, a pre-release, and a commit that is not released."""
    work = Work(tmp_path_factory.mktemp("original") / "lamp")
    work.commit("feat: turn the lamp (#1)")
    work.git("tag", "v1.0.0")
    work.commit("feat: dim the lamp (#2)")
    work.git("tag", "v1.1.0-rc.1")
    work.commit("fix: keep the lamp from flickering (#3)")
    work.git("tag", "--annotate", "--message=The lamp is dim.", "v1.1.0")
    work.commit("feat: colour the lamp (#4)")
    return work


@pytest.fixture
def work(tmp_path: Path, original: Work) -> Work:
    return original.copied(tmp_path / "lamp")


def ran(work: Work | Path, *arguments: str) -> Result:
    path = work.path if isinstance(work, Work) else work
    return CliRunner().invoke(main, ["preview", str(path), *arguments])


def posts(work: Work, *arguments: str) -> list[dict[str, Any]]:
    result = ran(work, *arguments, "--json")
    assert result.exit_code == 0, result.output
    shown: dict[str, Any] = json.loads(result.stdout)
    assert shown["repository"] == "local/lamp"
    return shown["posts"]


def ranges(work: Work, *arguments: str) -> list[tuple[str, str | None, int]]:
    return [(post["range"], post["tag"], post["commits"]) for post in posts(work, *arguments)]


def test_unreleased_commits_come_first_and_the_last_two_releases_follow(work: Work) -> None:
    work.git("tag", "v0.1.0", "HEAD~3")

    assert ranges(work) == [("v1.1.0..HEAD", None, 1), ("v1.0.0..v1.1.0", "v1.1.0", 2), ("v1.0.0", "v1.0.0", 1)]
    assert [each[1] for each in ranges(work, "--releases", "1")] == [None, "v1.1.0"]


def test_at_a_release_there_are_no_unreleased_commits(work: Work) -> None:
    work.git("tag", "v1.2.0")

    assert [each[:2] for each in ranges(work)] == [("v1.1.0..v1.2.0", "v1.2.0"), ("v1.0.0..v1.1.0", "v1.1.0")]


def test_releases_are_in_the_order_of_history_whenever_they_were_tagged(work: Work) -> None:
    work.commit("feat: sound the horn (#5)")
    work.git("tag", "v1.2.0")
    # The order of creation: the newest tag is on the oldest commit.
    for minute, (tag, commit) in enumerate([("v1.1.1", "v1.2.0~1"), ("v0.9.0", "v1.0.0")], start=30):
        work.git("tag", "--annotate", "--message=Late.", tag, commit, GIT_COMMITTER_DATE=f"2025-03-10T10:{minute}:00Z")
    work.git("tag", "--delete", "v1.0.0")
    work.commit("feat: test the horn (#6)")

    assert ranges(work, "--releases", "9") == [
        ("v1.2.0..HEAD", None, 1),
        ("v1.1.1..v1.2.0", "v1.2.0", 1),
        ("v1.1.0..v1.1.1", "v1.1.1", 1),
        ("v0.9.0..v1.1.0", "v1.1.0", 2),
        ("v0.9.0", "v0.9.0", 1),
    ]
    assert ranges(work, "v0.9.0..v1.2.0") == ranges(work, "--releases", "3")[1:]


def test_without_releases_it_is_the_last_days_until_the_newest_commit(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    work.git("tag", "nightly", work.commit("feat: build the tower", GIT_COMMITTER_DATE="2025-01-02T10:00:00Z"))
    work.commit("feat: turn the lamp")
    old = work.git("rev-parse", "--short=10", "HEAD~1")

    assert ranges(work) == [(f"{old}..HEAD, the last 30 days", None, 1)]
    assert ranges(work, "--days", "300") == [("HEAD, the last 300 days", None, 2)]


def test_pre_releases_count_where_there_is_nothing_else_and_where_they_are_asked_for(
    work: Work, tmp_path: Path
) -> None:
    early = Work(tmp_path / "early" / "lamp")
    early.commit("feat: turn the lamp")
    early.git("tag", "v1.0.0-rc.1")

    assert ranges(early) == [("v1.0.0-rc.1", "v1.0.0-rc.1", 1)]
    assert ranges(work, "v1.1.0-rc.1") == [("v1.0.0..v1.1.0-rc.1", "v1.1.0-rc.1", 1)]


def test_a_range_has_a_post_for_each_release_inside_it(work: Work) -> None:
    assert ranges(work, "v1.0.0..") == [("v1.1.0..HEAD", None, 1), ("v1.0.0..v1.1.0", "v1.1.0", 2)]
    assert ranges(work, "v1.0.0..v1.1.0") == [("v1.0.0..v1.1.0", "v1.1.0", 2)]
    assert ranges(work, "HEAD~3..HEAD~2") == [("HEAD~3..HEAD~2", None, 1)]
    assert ranges(work, "v1.1.0") == [("v1.0.0..v1.1.0", "v1.1.0", 2)]
    assert ranges(work, "HEAD~1") == [("v1.0.0..v1.1.0", "v1.1.0", 2)]


def test_a_monorepo_shows_the_series_of_its_newest_release(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    for index, tags in enumerate((("lamp@1.0.0",), ("horn@4.0.0",), ("lamp@1.1.0", "latest"))):
        work.commit(f"feat: step {index}")
        for tag in tags:
            work.git("tag", tag)

    assert ranges(work) == [("lamp@1.0.0..lamp@1.1.0", "lamp@1.1.0", 2), ("lamp@1.0.0", "lamp@1.0.0", 1)]


def test_the_posts_equal_those_of_the_service(work: Work) -> None:
    (release,) = posts(work, "v1.1.0")

    assert release["title"] == "lamp v1.1.0: dim the lamp, keep the lamp from flickering"
    assert "## Added\n\n- Dim the lamp (#2)\n\n## Fixed\n\n- Keep the lamp from flickering (#3)" in release["markdown"]
    # An annotation is not a release note, and a repository without a remote has no pages for links.
    assert "The lamp is dim" not in release["markdown"]
    assert "](" not in release["markdown"]


def test_the_files_of_a_commit_count(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    work.commit("Start")
    work.git("tag", "v1.0.0")
    work.write("docs/guide.md", "Turn it.")
    work.commit("Explain how the lamp turns")
    work.write("lamp.py", "turn()")
    work.commit("Turn the lamp faster")
    work.git("rm", "--quiet", "lamp.py")
    work.write("new\nline.py", "turn()")
    work.commit("Turn the lamp slower")

    (post,) = posts(work, "v1.0.0..")

    assert "Turn the lamp faster" in post["markdown"]
    assert "Turn the lamp slower" in post["markdown"]
    # A commit that only touches documentation is counted, not listed.
    assert "Explain how" not in post["markdown"]
    (team,) = posts(work, "v1.0.0..", "--team")
    assert "## Documentation\n\n- Explain how the lamp turns" in team["markdown"]


def test_the_audience_and_a_house_style_set_how_it_looks(work: Work, tmp_path: Path) -> None:
    style = tmp_path / "style.json"
    style.write_text('{"headings": {"added": "What is new"}}')

    assert "## Contributors" not in ran(work, "v1.1.0").stdout
    assert "## Contributors" in ran(work, "v1.1.0", "--team").stdout
    assert "## What is new" in ran(work, "v1.1.0", "--style", str(style)).stdout
    style.write_text('{"heading": 1}')
    refused = ran(work, "--style", str(style))
    assert (refused.exit_code, refused.stderr) == (1, "Error: heading is not a field of the house style\n")
    style.write_text("{")
    assert "the house style is not valid JSON" in ran(work, "--style", str(style)).stderr


@pytest.mark.parametrize("content_type", ContentType)
def test_each_content_type_has_a_preview(work: Work, content_type: ContentType) -> None:
    (post,) = posts(work, "v1.1.0", "--type", content_type.value)

    assert "the lamp from flickering" in post["markdown"]
    assert ("## Fixed" in post["markdown"]) == (content_type is ContentType.CHANGELOG)


def test_a_pipe_gets_markdown(work: Work) -> None:
    shown = ran(work, "v1.1.0").stdout

    assert shown.startswith(
        "# lamp v1.1.0: dim the lamp, keep the lamp from flickering\n\n_v1.0.0..v1.1.0 · 2 commits_\n\n"
    )
    assert shown.endswith("\n")


def test_a_range_alone_is_about_the_current_folder(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work.path)

    for arguments in (["v1.0.0..v1.1.0"], ["v1.1.0"]):
        shown = CliRunner().invoke(main, ["preview", *arguments])
        assert shown.exit_code == 0, shown.output
        assert "_v1.0.0..v1.1.0 · 2 commits_" in shown.stdout


def test_upkeep_alone_is_no_news(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    work.commit("feat: turn the lamp")
    work.git("tag", "v1.0.0")
    work.commit("ci: cache the charts")

    assert "1 change to build and tools: nothing a reader notices. " in ran(work, "v1.0.0..").stdout
    assert "nothing a reader of a post for X notices" in ran(work, "v1.0.0..", "--type", "twitter_post").stdout
    (post,) = posts(work, "v1.0.0..")
    assert (post["title"], post["markdown"], post["commits"]) == (None, None, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["v9..HEAD"], 1, "there is no revision 'v9' here: name a tag, a branch or a commit"),
        (["v1.0.0..v9"], 1, "there is no revision 'v9' here"),
        (["--all..HEAD"], 2, ""),
        (["v1.1.0..v1.0.0"], 1, "there are no commits in v1.1.0..v1.0.0"),
        (["v1.0.0..v1.0.0"], 1, "there are no commits in v1.0.0..v1.0.0"),
        (["v1.0.0...HEAD"], 2, "write a range with two dots"),
        (["..v1.0.0"], 2, "needs a start, such as v1.0.0..v1.0.0"),
        ([""], 1, "there is no revision ''"),
    ],
)
def test_a_range_that_cannot_be_is_refused(work: Work, arguments: list[str], code: int, message: str) -> None:
    result = ran(work, *arguments)

    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_a_name_that_is_no_utf_8_is_shown_without_its_bytes(work: Work, tmp_path: Path) -> None:
    name = os.fsdecode(b"v3.0-\xe9")
    work.git("tag", name, "HEAD~1")

    shown = ran(work, f"{name}..HEAD")

    assert (shown.exit_code, ran(work, f"{name}..HEAD", "--html", str(tmp_path / "page.html")).exit_code) == (0, 0)
    assert "v3.0-\ufffd..HEAD" in shown.stdout


@pytest.mark.parametrize(("option", "shown"), [("--json", "Lamp caf\\u00e9 \\u2026"), ("--html", "lamp \\u2026")])
def test_a_locale_without_utf_8_has_escapes(tmp_path: Path, option: str, shown: str) -> None:
    work = Work(tmp_path / "lamp \u2026")
    work.commit("feat: lamp caf\xe9 \u2026")
    more = (option, str(work.path / "page.html")) if option == "--html" else (option,)

    done = subprocess.run(
        [COMMAND, "preview", work.path, *more],
        env=os.environ | {"PYTHONIOENCODING": "latin-1:strict", "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
    )

    assert shown in done.stdout.decode("ascii")


def test_a_commit_whose_time_cannot_be_read_has_a_preview(tmp_path: Path) -> None:
    work = Work(tmp_path / "lamp")
    parent = work.commit("feat: turn the lamp")
    tree = work.git("rev-parse", "HEAD^{tree}")
    body = f"tree {tree}\nparent {parent}\nauthor A <a@b>\ncommitter A <a@b>\n\nfix: light the lamp\n"
    made = work.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=body.encode())
    work.git("update-ref", "HEAD", made)

    assert posts(work)[0]["date"] == "1970-01-01T00:00:00+00:00"
    assert "Light the lamp" in ran(work).stdout


def test_a_folder_without_commits_is_refused(tmp_path: Path) -> None:
    empty = Work(tmp_path / "empty")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()

    assert "not a git repository" in ran(tmp_path / "folder").stderr
    assert "has no commits yet" in ran(empty).stderr
    assert "is not a folder" in ran(tmp_path / "file").stderr
    assert "is not a folder" in ran(tmp_path / ("d" * 300), "v1..HEAD").stderr
    for name in ("v1.0.0", "v" * 300):
        assert "there is no revision" in CliRunner().invoke(main, ["preview", name]).stderr


def test_a_mistyped_folder_is_named_as_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")

    def error_of(*arguments: str) -> str:
        return CliRunner().invoke(main, ["preview", *arguments]).stderr

    for path in (f"{tmp_path}/nope", "./nope", "../nope"):
        assert "nope is not a folder" in error_of(path)
    assert error_of("nope").endswith("the current folder is not a git repository, and 'nope' is no folder\n")
    assert error_of().endswith("is not a git repository: name a checkout as in 'contentsvc preview PATH'\n")


def test_a_shallow_clone_without_the_commits_is_refused_with_the_command_to_fetch(work: Work, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    work.git("clone", "--quiet", "--depth=2", work.path.as_uri(), str(clone))

    lacking = ran(clone)
    unknown = ran(clone, "v1.0.0..HEAD")
    all_commits = ran(clone, "HEAD~1..HEAD")

    assert (lacking.exit_code, lacking.stdout) == (1, "")
    assert "this clone is shallow: its history ends inside" in lacking.stderr
    assert "git fetch --unshallow --tags" in lacking.stderr
    assert "there is no revision 'v1.0.0' here, and this clone is shallow" in unknown.stderr
    # The commits of the clone are shown.
    assert "Colour the lamp" in all_commits.stdout


def test_another_work_tree_of_a_repository_is_one(work: Work, tmp_path: Path) -> None:
    work.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "beside"), "v1.1.0")

    assert ran(tmp_path / "beside", "v1.1.0").stdout.replace("beside", "lamp") == ran(work, "v1.1.0").stdout


@pytest.mark.slow("starts a command on a terminal")
def test_a_terminal_shows_it_within_its_width_without_control_characters(work: Work) -> None:
    work.commit("feat: show \x9b31m on the lamp that has a name which is longer than any line of it is (#5)")
    work.git("branch", "a\u202eb")

    shown = on_terminal(60, "preview", str(work.path), "v1.1.0..a\u202eb", environment=dict(os.environ))

    assert r"v1.1.0..a\u202eb · 2 commits" in shown
    assert not set(shown) & {"\x9b", "\u202e"}
    assert max(map(len, shown.splitlines()[:-2])) <= 60
    assert "\nAdded\n" in re.sub(r" +\n", "\n", shown)


def test_the_page_is_one_file_that_asks_for_nothing(work: Work, tmp_path: Path) -> None:
    work.git("remote", "add", "origin", "https://code.example/acme/lamp")
    work.commit("feat: show <img src=https://evil.example/x onerror=alert(1)> & co (#6)")
    page = tmp_path / "page.html"

    result = ran(work, "--html", str(page))

    assert result.exit_code == 0, result.output
    assert result.stdout == f"{page}\n"
    html = page.read_text("utf-8")
    read = Elements(html)
    assert read.values("src", "srcset", "data", "action", "poster") == []
    assert not {"script", "img", "link", "iframe", "object"} & read.tags
    assert [html.count(f"<h2>{title}") for title in ("lamp v1.1.0", "lamp v1.0.0")] == [1, 1]
    assert "&lt;img src=" in html


def test_a_page_that_cannot_be_written_is_an_error(work: Work, tmp_path: Path) -> None:
    result = ran(work, "--html", str(tmp_path / "no" / "page.html"))

    assert (result.exit_code, result.stdout) == (1, "")
    assert "cannot write" in result.stderr


@pytest.mark.slow("starts the command")
def test_open_hands_a_file_of_ones_own_to_the_browser(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "xdg-open"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    done = subprocess.run(
        [COMMAND, "preview", str(work.path), "--open"], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )

    assert done.returncode == 0, done.stderr
    written = Path(done.stdout.strip())
    assert written.parent == tmp_path
    assert "<h1>" in written.read_text("utf-8")
    assert written.stat().st_mode & 0o077 == 0
    assert (tmp_path / "opened").read_text().strip() in {str(written), written.as_uri()}


@pytest.mark.slow("starts the command")
def test_neither_a_database_nor_a_server_nor_a_renderer_is_imported(work: Work, tmp_path: Path) -> None:
    done = subprocess.run(
        [COMMAND, "preview", str(work.path)],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )

    imported = set(re.findall(r"^import time: +\d+ \| +\d+ \| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "contentsvc_core.content.changelog.writer" in imported
    packages = {name.partition(".")[0] for name in imported}
    assert not packages & {"sqlalchemy", "litestar", "httpx", "rich", "comrak", "nh3", "contentsvc_http"}
    assert [path.name for path in tmp_path.iterdir()] == ["lamp"]
