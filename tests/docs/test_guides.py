"""Every shell block of the guides is run in the page's order, or has a reason."""

import contextlib
import re
import sqlite3
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests.code_host_server import REPOSITORY_ID, TOKEN, CodeHostServer
from tests.docs.agent_transcript import COMMITS
from tests.docs.guide import PUBLIC, Guide, blocks, run
from tests.docs.pages import PAGES, fences, name_of, read
from tests.server_process import PATIENCE_S, PLAIN, until

from contentsvc_core.testing import push_body

_slow: Final = pytest.mark.slow("starts the command for each step of a guide")
_ACME: Final = "contentsvc organization create Acme > organization.txt\n"
#: A checkout with a release.
_CHECKOUT: Final = """\
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
git init --quiet lighthouse
in_checkout() { git -C lighthouse -c user.name=Ada -c user.email=ada@example.com "$@"; }
in_checkout remote add origin git@github.com:acme/lighthouse.git
in_checkout commit --quiet --allow-empty --message "feat: turn the beam at a steady rate (#1)"
in_checkout tag v1.0.0
"""
_CONNECTED: Final = (
    f"{_ACME}contentsvc integration connect acme/lighthouse --organization acme --repository-id 4242 > connected.txt\n"
)
#: The guides, with the results of earlier pages that they require.
GUIDES: Final = (
    Guide(page="docs/dashboard.md", setup=_ACME),
    Guide(page="docs/operations.md", setup=_CONNECTED),
    Guide(page="docs/howto/hosted-clients.md", setup=_ACME),
    Guide(page="docs/howto/house-style.md", setup=_ACME),
    Guide(page="docs/howto/model.md", setup=_ACME, files={"model.key": "sk-model"}),
    Guide(page="docs/monorepos.md", setup=_CONNECTED),
    Guide(page="docs/howto/public-changelog.md", setup=_ACME),
    Guide(page="docs/howto/webhooks-out.md", setup=_ACME),
)
#: The guides with a test each, below.
_LONGER: Final = ("README.md", "docs/quickstart.md", "docs/repository.md", "docs/howto/agents.md", "docs/by-hand.md")
#: The blocks that no test can run, by the page and the block's first line.
NOT_RUN: Final = {
    ("README.md", "make install"),
    ("README.md", "make demo"),
    ("docs/gitlab.md", "(umask 077 && cat > token)"),
    ("docs/bitbucket.md", "(umask 077 && cat > token)"),
    (
        "docs/operations.md",
        "export CONTENTSVC_DATABASE_URL=postgresql+asyncpg://contentsvc:PASSWORD@db.example/contentsvc",
    ),
}


def test_every_block_of_the_guides_is_run_or_has_a_reason() -> None:
    guides = {name_of(page) for page in PAGES if page.parent.name == "howto"}
    guides |= {
        "README.md",
        *(f"docs/{name}.md" for name in ("quickstart", "by-hand", "repository", "gitlab", "bitbucket", "monorepos")),
    }
    guides |= {"docs/operations.md", "docs/dashboard.md"}
    found = {(page, fence.text.splitlines()[0]): fence.rest for page in guides for fence in fences(read(page), "sh")}
    skipped = {block: rest for block, rest in found.items() if rest.startswith("no-run")}

    assert {page for page in guides if blocks(page)} == {*_LONGER, *(guide.page for guide in GUIDES)}
    assert set(skipped) == NOT_RUN
    for block, rest in skipped.items():
        # A backtick would end the fence (CommonMark 4.5).
        assert re.fullmatch(r"no-run: [^`]{10,}", rest), block
        for test in re.findall(r"tests/\S+\.py", rest):
            assert Path(test).exists()
    assert {rest for rest in found.values() if rest not in skipped.values()} <= {"", "another-terminal"}


@_slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.page)
def test_the_blocks_of_a_guide_work_as_printed(guide: Guide, tmp_path: Path) -> None:
    ran = run(guide, tmp_path)

    assert ran.code == 0, ran.stderr


@_slow
def test_a_failing_command_fails_its_guide_despite_parallel_ones(tmp_path: Path) -> None:
    ran = run(Guide(page="docs/dashboard.md", setup=_ACME), tmp_path, then="sleep 3600 &\nfalse\necho never\n")

    assert ran.code == 1
    assert "never" not in ran.stdout


@_slow
def test_the_readme_leads_from_a_server_to_the_posts(tmp_path: Path) -> None:
    ran = run(Guide(page="README.md", setup=f"{_CHECKOUT}cd lighthouse\n"), tmp_path)

    assert ran.code == 0, ran.stderr
    assert "# lighthouse v1.0.0: turn the beam at a steady rate" in ran.stdout
    assert f"webhookUrl      {PUBLIC}/api/webhooks/github/" in ran.stdout
    assert '{"posts":[],"pagination"' in ran.stdout


@_slow
def test_the_quickstart_leads_to_a_public_page_about_the_readers_repository_in_five_statements(tmp_path: Path) -> None:
    looking, *rest = [line for fence in blocks("docs/quickstart.md") for line in fence.text.splitlines()]
    assert looking.startswith("contentsvc preview")
    assert len([statement for line in rest for statement in line.split("&&")]) <= 5

    with CodeHostServer() as host:
        # The page is requested after its post is written; the shell does not wait.
        guide = Guide(
            page="docs/quickstart.md",
            setup=_CHECKOUT,
            environment={"CONTENTSVC_GITHUB_API_URL": host.api_url},
            before={"curl": lambda local, _: until(lambda: "v1.0.0" in _page(local), "the post is public")},
        )
        ran = run(guide, tmp_path)

    assert ran.code == 0, ran.stderr
    assert "# lighthouse v1.0.0: turn the beam at a steady rate" in ran.stdout
    assert "Received 2 pushes and releases of your checkout" in ran.stdout
    assert "/dashboard/sign-in/link?token=" in ran.stdout
    assert ran.stdout.rstrip().endswith("</html>")


def _page(local: str) -> str:
    return httpx.get(f"{local}/changelog/acme", trust_env=False, verify=PLAIN, timeout=PATIENCE_S).text


@_slow
def test_the_steps_by_hand_lead_to_a_post(tmp_path: Path) -> None:
    ran = run(Guide(page="docs/by-hand.md"), tmp_path)

    assert ran.code == 0, ran.stderr + (ran.folder / "serve.log").read_text("utf-8")
    assert re.search(r"^1 +200 +processed", ran.stdout, re.MULTILINE), ran.stdout
    assert re.search(r"^1 +200 +duplicate", ran.stdout, re.MULTILINE), ran.stdout
    assert re.search(r"completed +push +\S+ +1 +post_", ran.stdout), ran.stdout
    (markdown,) = fences(read("docs/by-hand.md"), "markdown")
    assert markdown.text.replace("\n", "\\n") in ran.stdout


@_slow
def test_a_real_repository_is_connected_and_leads_to_a_post(tmp_path: Path) -> None:
    def completed(work: Path) -> bool:
        with contextlib.closing(sqlite3.connect(work / "contentsvc.db")) as database:
            return database.execute("SELECT status FROM workflow_runs").fetchall() == [("completed",)]

    with CodeHostServer() as host:

        def push(local: str, work: Path) -> None:
            # Without the reverse proxy of the guide.
            host.hook.url = host.hook.url.replace(PUBLIC, local)
            assert host.deliver("ping", {"zen": "Keep it lit."}, "d-ping") == 200
            body = push_body("feat: turn the beam", repository_id=REPOSITORY_ID)
            assert host.deliver("push", body, "d-1") == 200
            until(lambda: completed(work), "the run is completed")

        guide = Guide(
            page="docs/repository.md",
            typed=f"{TOKEN}\n",
            environment={"CONTENTSVC_GITHUB_API_URL": host.api_url},
            before={"contentsvc log list": push},
        )
        ran = run(guide, tmp_path)

    assert ran.code == 0, ran.stderr
    assert "HTTP/1.1 200 OK" in ran.stdout
    assert re.search(r"200 +Processed push event +d-1 +1 workflow run started", ran.stdout), ran.stdout
    assert re.search(r"200 +Webhook ping received", ran.stdout)
    assert re.search(r"post_\S+ +changelog +draft", ran.stdout)
    assert ran.stderr.endswith("Nothing is missing.\n")
    assert not (ran.folder / "token").exists()


@_slow
def test_the_agent_publishes_its_findings_and_reports_when_it_finds_nothing(tmp_path: Path) -> None:
    seed = next(fence.text for fence in blocks("docs/howto/agents.md") if "seed.jsonl" in fence.text)
    # The transcript on the page has these commits.
    assert all(message.replace("\n", "\\n") in seed for _, message in COMMITS)
    then = 'python examples/agent.py "no such words" http://127.0.0.1:8000/mcp > nothing.txt || echo "exit code $?"\n'

    ran = run(Guide(page="docs/howto/agents.md", setup=_ACME), tmp_path, then=then)

    assert ran.code == 0, ran.stderr
    assert "> publish_post" in ran.stdout
    assert ran.stdout.endswith("exit code 1\n")
    assert ran.stderr.splitlines()[-1] == "nothing was found: no commit has the words 'no such words'"
    assert "Traceback" not in ran.stderr
