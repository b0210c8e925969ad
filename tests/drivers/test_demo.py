"""The demo with the sample, and with the history of a repository."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import click
import httpx
import pytest
from tests.server_process import COMMAND, PATIENCE_S, until
from tests.terminal import on_terminal

from contentsvc_cli.start.local_server import until_ready

pytestmark = pytest.mark.slow("runs the demo")


#: The expected output.
LINES = 25


def demo(command: list[str], folder: Path, **environment: str) -> str:
    """Run the demo, with its temporary files in a folder of the test."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_complete(shown: str) -> None:
    for answer in ("processed", "filtered", "ignored", "pong", "duplicate", "1 forged and refused", "completed"):
        assert answer in shown
    assert len(shown.splitlines()) <= LINES
    section, entry = shown.partition("The changelog of the newest release:\n")[2].splitlines()[:2]
    assert re.fullmatch("  [A-Z][a-z]+", section)
    assert entry.startswith("    - ")
    assert [line.partition("  ")[0] for line in shown.splitlines() if "http://" in line] == [
        "Public changelog",
        "Dashboard",
        "Feed",
    ]


def link(shown: str, name: str) -> str:
    found = re.search(rf"^{name} +(http://127\.0\.0\.1:\d+/\S+)$", shown, re.MULTILINE)
    assert found is not None, shown
    return found[1]


def test_installed_the_demo_shows_every_answer_and_a_changelog_and_ends(tmp_path: Path) -> None:
    # Copies of the packages alone, as a wheel has them, before the checkout on the path. They keep their times, so that
    # their compiled files are valid.
    packages = tmp_path / "site"
    source = Path(__file__).parents[2] / "src"
    subprocess.run(["cp", "-r", "--preserve=timestamps", str(source), str(packages)], check=True)
    command = [sys.executable, "-m", "contentsvc_cli", "demo"]
    shown = demo(command, tmp_path, PYTHONPATH=f"{packages}{os.pathsep}{sysconfig.get_path('purelib')}")
    assert_complete(shown)
    assert "acme/lighthouse" in shown
    assert "refuse tokens that have expired" in shown.casefold()
    assert len(re.findall(r"^  \d{4}-\d\d-\d\d  lighthouse v\d", shown, re.MULTILINE)) == 3
    assert not list(tmp_path.glob("contentsvc-demo-*"))


def in_a_new_shell(commands: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-ec", commands],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_with_keep_the_server_runs_at_the_printed_address_until_it_is_killed(tmp_path: Path) -> None:
    shown = demo([COMMAND, "demo", "--keep"], tmp_path)
    assert_complete(shown)

    match = re.search(r"with: kill (\d+)$", shown, re.MULTILINE)
    assert match is not None
    pid = int(match[1])
    url = link(shown, "Public changelog").removesuffix("/changelog/acme")
    (folder,) = tmp_path.glob("contentsvc-demo-*")
    try:
        assert httpx.get(f"{url}/v1/status", trust_env=False).json()["status"] == "ok"
        with httpx.Client(trust_env=False, follow_redirects=True) as browser:
            changelog, feed = (browser.get(link(shown, name)) for name in ("Public changelog", "Feed"))
            overview = browser.get(link(shown, "Dashboard"))
            brands = browser.get(f"{url}/dashboard/brands")
            schedules = browser.get(f"{url}/dashboard/schedules")
            failed = browser.get(f"{url}/dashboard/integrations/logs", params={"status": "failed"})
        assert "v2.1.0" in changelog.text
        assert "v1.0.0" in changelog.text
        assert 'class="logo"' in changelog.text
        assert "<feed" in feed.text
        assert overview.is_success
        assert "3 drafts wait for you." in overview.text
        assert "Acme Lighthouses" in brands.text
        assert "What was new this week" in schedules.text
        assert "Invalid webhook signature" in failed.text
        # The link signs in once.
        assert httpx.get(link(shown, "Dashboard"), trust_env=False).status_code == 401
        # In a new shell, the commands only need the printed line.
        source = re.search(r"first: (\. \S+)$", shown, re.MULTILINE)
        assert source is not None
        commands = f"contentsvc integration list --organization acme\ncontentsvc doctor --port {url.rpartition(':')[2]}"
        done = in_a_new_shell(f"{source[1]}\n{commands}", tmp_path)
        for _ in range(9):
            if "no answer within" in done.stdout:
                # On a busy machine, a check of the doctor may time out.
                done = in_a_new_shell(f"{source[1]}\n{commands}", tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{url}/api/webhooks/codehost/" in done.stdout
        assert re.search(r"ok +server ", done.stdout), done.stdout
        assert oct((folder / "env").stat().st_mode & 0o777) == "0o600"
    finally:
        os.kill(pid, signal.SIGTERM)
    until(lambda: not folder.exists(), "its files are removed")


def test_an_interrupted_demo_leaves_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([COMMAND, "demo"], env=environment, stdout=subprocess.DEVNULL) as running:
        until(lambda: any(tmp_path.glob("contentsvc-demo-*/contentsvc.db")), "its server has started")
        running.terminate()

    assert running.returncode == 1
    assert not list(tmp_path.glob("contentsvc-demo-*"))


def test_the_history_of_a_repository_is_sent_instead(tmp_path: Path) -> None:
    repository = tmp_path / "kettle"
    author = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@kettle.example", "GIT_CONFIG_GLOBAL": os.devnull}
    committer = {name.replace("AUTHOR", "COMMITTER"): value for name, value in author.items()}
    repository.mkdir()
    for step in (
        ["init", "--quiet", "--initial-branch", "main", "."],
        *(
            ["commit", "--quiet", "--allow-empty", "--message", message]
            for message in ("Initial commit", "feat: ring at noon")
        ),
    ):
        subprocess.run(["git", *step], cwd=repository, check=True, env=os.environ | author | committer)
    shown = demo([COMMAND, "demo", "--repository", str(repository)], tmp_path)
    assert_complete(shown)
    assert "kettle" in shown
    assert "ring at noon" in shown.casefold()


def test_on_a_terminal_the_server_is_kept_and_links_stay_whole(tmp_path: Path) -> None:
    shown = on_terminal(60, "demo", environment=os.environ | {"TMPDIR": str(tmp_path)})

    match = re.search(r"kill (\d+)$", shown, re.MULTILINE)
    assert match is not None
    try:
        assert httpx.get(link(shown, "Public changelog"), trust_env=False).is_success
        assert "1 forged and refused" in shown
    finally:
        os.kill(int(match[1]), signal.SIGTERM)
    until(lambda: not list(tmp_path.glob("contentsvc-demo-*")), "its files are removed")


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [COMMAND, "demo", "--repository", str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "not a git repository" in done.stderr
    assert not list(tmp_path.glob("contentsvc-demo-*"))


def test_a_server_that_stops_is_reported_with_its_log(tmp_path: Path) -> None:
    with (tmp_path / "serve.log").open("wb") as log:
        server = subprocess.Popen(["sh", "-c", "echo 'the disk is full'; exit 3"], stdout=log)
    with pytest.raises(click.ClickException, match=r"stopped with exit code 3\. Its log:\nthe disk is full"):
        asyncio.run(until_ready(server, "http://127.0.0.1:1", tmp_path))
