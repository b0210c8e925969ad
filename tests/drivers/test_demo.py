"""The demo, as a user runs it: with the sample, and with the history of a repository."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import httpx
import pytest
from tests.server_process import COMMAND, PATIENCE_S, until

pytestmark = pytest.mark.slow("runs the demo")


#: What a terminal shows at once.
LINES = 25


def demo(command: list[str], folder: Path, **environment: str) -> str:
    """Run it, with its temporary files in a folder of the test's."""
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
    for answer in ("processed", "filtered", "ignored", "pong", "duplicate", "1 refused (401)", "completed"):
        assert answer in shown


def test_installed_the_demo_shows_every_answer_and_a_changelog_and_ends(tmp_path: Path) -> None:
    # Copies of the packages alone, as a wheel brings them, found before the checkout is; as old as those, so that
    # what was compiled of them is taken along.
    packages = tmp_path / "site"
    source = Path(__file__).parents[2] / "src"
    subprocess.run(["cp", "-r", "--preserve=timestamps", str(source), str(packages)], check=True)
    command = [sys.executable, "-m", "contentsvc_cli", "demo"]
    shown = demo(command, tmp_path, PYTHONPATH=f"{packages}{os.pathsep}{sysconfig.get_path('purelib')}")
    assert_complete(shown)
    assert "acme/lighthouse" in shown
    assert "refuse tokens that have expired" in shown.casefold()
    assert len(shown.splitlines()) <= LINES
    assert not list(tmp_path.glob("contentsvc-demo-*"))


def test_kept_the_server_is_up_where_the_demo_says_until_it_is_killed(tmp_path: Path) -> None:
    shown = demo([COMMAND, "demo", "--keep"], tmp_path)
    assert_complete(shown)

    said = re.search(r"up at (?P<url>\S+) \(process (?P<pid>\d+)\)", shown)
    assert said is not None
    pid = int(said["pid"])
    (folder,) = tmp_path.glob("contentsvc-demo-*")
    try:
        assert httpx.get(f"{said['url']}/v1/status", trust_env=False).json()["status"] == "ok"
        key = re.search(r"^\s+(csk_\S+)$", shown, re.MULTILINE)
        assert key is not None
        with httpx.Client(base_url=said["url"], trust_env=False, follow_redirects=True) as browser:
            overview = browser.post("/dashboard/sign-in", data={"key": key[1]})
        assert overview.is_success
        assert "Newest deliveries" in overview.text
        # In a new shell, the printed lines are all that the commands need.
        lines = shown[shown.index("source its settings first:") :].splitlines()[1:4]
        done = subprocess.run(
            ["sh", "-ec", "\n".join([lines[0], lines[1].replace("log", "integration"), lines[2]])],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if not name.startswith("CONTENTSVC_")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{said['url']}/api/webhooks/codehost/" in done.stdout
        assert re.search(r"ok +server ", done.stdout), done.stdout
        assert oct((folder / "env").stat().st_mode & 0o777) == "0o600"
    finally:
        os.kill(pid, signal.SIGTERM)
    until(lambda: not folder.exists(), "its files are removed")


def test_the_history_of_a_repository_is_sent_instead(tmp_path: Path) -> None:
    repository = tmp_path / "kettle"
    author = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@kettle.example", "GIT_CONFIG_GLOBAL": os.devnull}
    committer = {name.replace("AUTHOR", "COMMITTER"): value for name, value in author.items()}
    repository.mkdir()
    for step in (
        ["init", "--quiet", "--initial-branch", "main", "."],
        *(
            ["commit", "--quiet", "--allow-empty", "--message", said]
            for said in ("Initial commit", "feat: ring at noon")
        ),
    ):
        subprocess.run(["git", *step], cwd=repository, check=True, env=os.environ | author | committer)
    shown = demo([COMMAND, "demo", "--repository", str(repository)], tmp_path)
    assert_complete(shown)
    assert "kettle" in shown
    assert "Ring at noon" in shown


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [COMMAND, "demo", "--repository", str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "not a git repository" in done.stderr
    assert not list(tmp_path.glob("contentsvc-demo-*"))
