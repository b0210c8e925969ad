"""A monorepo's releases through real webhooks: a real server, whose clock is stepped past the wait for others."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from tests import postgres
from tests.server_process import PATIENCE_S, PLAIN, REPOSITORY_ID, Prepared, prepare, serving
from tests.stepped_clock import SteppedClock

from contentsvc_core.testing import push_body, release_body
from contentsvc_core.workflows.packages import PACKAGE_DELAY

pytestmark = pytest.mark.slow("starts a server")
PACKAGES: Final = tuple(f"part{number}" for number in range(20))
PUBLISHED: Final = "2026-01-02T12:00:00Z"


@pytest.fixture(params=["sqlite", "postgresql"])
def prepared(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Prepared]:
    if request.param == "sqlite":
        yield prepare(tmp_path)
        return
    with postgres.database(migrated=False) as url:
        yield prepare(tmp_path, database_url=url)


def test_twenty_tags_of_one_commit_are_one_post_that_names_all_packages(prepared: Prepared, tmp_path: Path) -> None:
    clock = SteppedClock(tmp_path)
    installation = prepared.installation
    with serving(installation, program=clock.program, environment=clock.environment) as server:

        def send(event: str, body: dict[str, Any], delivery: str) -> None:
            raw = json.dumps(body).encode()
            headers = prepared.hook.headers(raw, delivery, event)
            url = f"{server.url}{prepared.hook.path}"
            answered = httpx.post(url, content=raw, headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S)
            assert answered.status_code == 200, answered.text

        pushed = push_body(*(f"feat: draw lamp {name}" for name in PACKAGES), repository_id=REPOSITORY_ID)
        for name, commit in zip(PACKAGES, pushed["commits"], strict=True):
            commit["added"] = [f"packages/{name}/lamp.ts"]
        send("push", pushed, "p-1")
        # The last one twice, as the code host does when an answer was late.
        for name in (*PACKAGES, PACKAGES[-1]):
            body = release_body(f"@acme/{name}@2.0.0", repository_id=REPOSITORY_ID, published_at=PUBLISHED)
            send("release", body, f"d-{name}")
        clock.step_to(PACKAGE_DELAY.total_seconds())
        installation.until_runs_ended()

    posts = installation.rows("SELECT id, title, markdown, source_metadata, release_tag FROM posts")
    (post,) = [row for row in posts if row["release_tag"] is not None]
    assert post["title"].startswith("part0 2.0.0, part1 2.0.0, part10 2.0.0 and 17 more packages: ")
    for name in PACKAGES:
        assert f"## [{name} 2.0.0](" in post["markdown"]
        assert f"Draw lamp {name}" in post["markdown"]
    assert len(json.loads(post["source_metadata"])["releaseTags"]) == len(PACKAGES)
    # The run is found by its post: a run of the push that is tried again has a later due time as well.
    runs = installation.rows("SELECT id, post_id FROM workflow_runs WHERE post_id IS NOT NULL")
    (reporting,) = [run["id"] for run in runs if run["post_id"] == post["id"]]
    reasons = {row["error"] for row in installation.rows("SELECT error FROM workflow_runs WHERE status = 'skipped'")}
    assert reasons == {f"reported together with @acme/part19@2.0.0 by run {reporting}"}
