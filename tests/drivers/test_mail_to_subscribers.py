"""Mails of a real server over a real SMTP server, on both databases, and with a kill between sending and recording."""

import json
import re
import uuid
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import httpx
import pytest
from tests import postgres
from tests.mail_server import MailServer, in_a_thread
from tests.server_process import PATIENCE_S, Hook, Installation, ServerProcess, serving, until
from tests.stepped_clock import SteppedClock

from contentsvc_cli.start.sample import REPOSITORY, REPOSITORY_ID, sample_history

pytestmark = pytest.mark.slow("kills servers")

_HOME: Final = "/changelog/acme"
_LINK: Final = re.compile(r"/changelog/\S+token=[A-Za-z0-9]+")
#: Longer than the lease of a mail, in seconds.
_LEASE_S: Final = 360.0


@pytest.fixture
def mail() -> Generator[MailServer]:
    with in_a_thread() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(tmp_path: Path, mail: MailServer, request: pytest.FixtureRequest) -> Generator[Installation]:
    settings = {"smtp_url": mail.url, "mail_from": "log@acme.example", "mail_every_minutes": "0"}
    if request.param == "sqlite":
        yield Installation(tmp_path, **settings)
        return
    with postgres.database(migrated=False) as url:
        made = Installation(tmp_path, database_url=url, **settings)
        made.command("migrate")
        yield made


def _seed(installation: Installation) -> Hook:
    installation.command("organization", "create", "Acme", "--slug", "acme")
    hook = installation.connect("acme", REPOSITORY, REPOSITORY_ID)
    installation.trigger("acme", "releases", REPOSITORY_ID, "release")
    installation.command("changelog", "publish", "--organization", "acme", "--yes")
    return hook


def _release(server: ServerProcess, hook: Hook, tag: str) -> None:
    release = next(each for each in sample_history() if each.event == "release")
    body = json.loads(release.body)
    # A recent release, because that of the sample is old.
    now = datetime.now(UTC).isoformat()
    body["release"] |= {"tag_name": tag, "published_at": now, "created_at": now}
    content = json.dumps(body).encode()
    headers = hook.headers(content, str(uuid.uuid4()), "release")
    answer = httpx.post(f"{server.url}{hook.path}", content=content, headers=headers, trust_env=False)
    assert answer.status_code == 200, answer.text


def _post(server: ServerProcess, path: str, **form: str) -> None:
    answer = httpx.post(f"{server.url}{path}", data=form, trust_env=False, timeout=PATIENCE_S)
    assert answer.status_code == 200, answer.text


def _link(mail: MailServer) -> str:
    found = _LINK.search(mail.mails[-1].text)
    assert found is not None
    return found[0]


def test_a_reader_gets_each_post_once_again_after_a_kill_and_none_after_leaving(
    installation: Installation, mail: MailServer, tmp_path: Path
) -> None:
    hook, clock = _seed(installation), SteppedClock(tmp_path, databases=True)

    def sent() -> int:
        return installation.count("SELECT count(*) FROM mails WHERE status = 'delivered'")

    with serving(installation, program=clock.program, environment=clock.environment) as server:
        _post(server, f"{_HOME}/subscribe", address="ann@example.org")
        until(lambda: len(mail.mails) == 1, "a confirmation mail")
        _post(server, _link(mail))
        _release(server, hook, "v91.0.0")
        until(lambda: len(mail.mails) == 2, "a mail with the post")
        until(lambda: sent() == 2, "both mails are recorded")
        metrics = httpx.get(f"{server.url}/metrics", trust_env=False, timeout=PATIENCE_S).text
        assert 'contentsvc_mail_attempts_total{outcome="sent"} 2.0' in metrics

        # The SMTP server accepts the mail, and the sender is killed before it reads the answer.
        mail.on_taken = server.process.kill
        _release(server, hook, "v92.0.0")
        until(lambda: len(mail.mails) == 3, "a mail with the second post")
        until(lambda: not server.is_alive, "the server is killed")
        mail.on_taken = None
        server.kill()
        assert sent() == 2
        clock.step_to(_LEASE_S)
        server.start()
        server.until_ready()
        until(lambda: sent() == 3, "the mail is recorded")
        assert [each.message["Message-ID"] for each in mail.mails[2:]] == [mail.mails[2].message["Message-ID"]] * 2

        message = mail.mails[-1].message
        assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        leaving = str(message["List-Unsubscribe"]).strip("<>").removeprefix(server.url)
        _post(server, leaving, **{"List-Unsubscribe": "One-Click"})
        assert installation.count("SELECT count(*) FROM subscribers") == 0
        _release(server, hook, "v93.0.0")
        installation.until_runs_ended()
        # The third post is not announced, and no mail waits.
        assert installation.count("SELECT count(*) FROM announced_posts") == 2
        assert installation.count("SELECT count(*) FROM mails") == 0
        assert len(mail.mails) == 4
