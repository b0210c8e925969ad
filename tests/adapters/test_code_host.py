"""The code host's API over a real connection: the requests in both dialects, and every kind of fault."""

import asyncio
import json
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from attrs import evolve
from httpx._config import create_ssl_context
from tests.adapters.internet import certified
from tests.code_host_server import READER, REPOSITORY, REPOSITORY_ID, TOKEN, CodeHostServer, Fault, limits_end

from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core.code_hosts import Hook, HostAnswer, HostFault, HostRefusal, RemoteRepository

HOOK = Hook(url="https://contentsvc.example/api/webhooks/github/org_1/int_1/4242", secret="whsec_first")


@pytest.fixture(params=["github", "forge"])
def server(request: pytest.FixtureRequest) -> Generator[CodeHostServer]:
    with CodeHostServer(forge=request.param == "forge") as serving:
        yield serving


def value_of(answered: HostAnswer[str] | HostRefusal) -> str:
    assert isinstance(answered, HostAnswer), answered
    return answered.value


def refused(answered: object) -> HostRefusal:
    assert isinstance(answered, HostRefusal), answered
    assert TOKEN not in repr(answered)
    assert "\n" not in answered.reason
    return answered


async def test_a_repository_is_read_with_and_without_a_token(server: CodeHostServer, host: RestCodeHost) -> None:
    known = RemoteRepository(id=REPOSITORY_ID, full_name=REPOSITORY, default_branch="trunk")

    # With any spelling of its name.
    assert await host.repository("ACME/Lighthouse", token=None) == HostAnswer(value=known, status=200)
    assert await host.repository(REPOSITORY, token=TOKEN) == HostAnswer(value=known, status=200)

    bare, bearing = server.requests
    assert "authorization" not in bare.headers
    assert bearing.headers["authorization"] == f"{'token' if server.forge else 'Bearer'} {TOKEN}"
    assert bearing.headers["user-agent"].startswith("contentsvc/")
    assert server.connections == 1


async def test_a_hook_is_created_changed_found_and_removed(server: CodeHostServer, host: RestCodeHost) -> None:
    created = value_of(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))
    assert server.hook.body == {
        **({"type": "gitea"} if server.forge else {"name": "web"}),
        "active": True,
        "events": ["push", "release"],
        "config": {
            "url": HOOK.url,
            "content_type": "json",
            "secret": HOOK.secret,
            **({} if server.forge else {"insecure_ssl": "0"}),
        },
    }

    path = HOOK.url.removeprefix("https://contentsvc.example")
    assert await host.find_hook(REPOSITORY, path, token=TOKEN) == HostAnswer(value=created, status=200)
    assert await host.find_hook(REPOSITORY, f"{path}1", token=TOKEN) == HostAnswer(value=None, status=200)
    changed = await host.change_secret(REPOSITORY, created, "whsec_second", token=TOKEN)
    assert changed == HostAnswer(value=None, status=200)
    # The events are repeated: one dialect resets omitted fields.
    assert server.hook.body["events"] == ["push", "release"]
    assert server.hook.body["active"] is True
    assert (server.hook.url, server.hook.secret) == (HOOK.url, "whsec_second")

    assert await host.remove_hook(REPOSITORY, created, token=TOKEN) == HostAnswer(value=None, status=204)
    assert server.hooks == {}
    gone = refused(await host.remove_hook(REPOSITORY, created, token=TOKEN))
    assert (gone.fault, gone.status) == (HostFault.NO_ACCESS, 404)


async def test_a_hook_is_found_behind_many_others(server: CodeHostServer, host: RestCodeHost) -> None:
    for number in range(60):
        await host.create_hook(REPOSITORY, evolve(HOOK, url=f"https://elsewhere.example/{number}"), token=TOKEN)
    created = value_of(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))

    assert await host.find_hook(REPOSITORY, HOOK.url, token=TOKEN) == HostAnswer(value=created, status=200)


@pytest.mark.parametrize(
    ("token", "private", "status", "advice"),
    [
        ("ghp_wrong", False, 401, None),
        (READER, False, 403, None),
        (TOKEN, False, 404, None),
        (None, True, 404, "give a token that may read it, or the repository's id"),
    ],
)
async def test_missing_rights_are_refused_with_the_rights_to_grant(
    server: CodeHostServer, host: RestCodeHost, token: str | None, private: bool, status: int, advice: str | None
) -> None:
    server.private = private
    name = REPOSITORY if status != 404 else "acme/unknown"

    found = refused(
        await host.repository(name, token=None) if token is None else await host.create_hook(name, HOOK, token=token)
    )

    assert (found.fault, found.status) == (HostFault.NO_ACCESS, status)
    grants = (
        ("write:repository",) if server.forge else ("Webhooks: read and write", "Metadata: read", "admin:repo_hook")
    )
    for words in grants if advice is None else (advice,):
        assert words in found.reason
    assert token is None or token not in found.reason


async def test_an_existing_hook_has_a_fault_of_its_own(github: CodeHostServer, host: RestCodeHost) -> None:
    await host.create_hook(REPOSITORY, HOOK, token=TOKEN)

    exists = refused(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))
    github.fault = Fault(status=422, body=b'{"message": "Validation Failed", "errors": ["url is not public"]}')
    other = refused(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))

    assert exists.fault is HostFault.HOOK_EXISTS
    assert "Hook already exists on this repository" in exists.reason
    assert (other.fault, other.status) == (HostFault.REFUSED, 422)
    assert other.reason == "the code host answered 422 (Validation Failed: url is not public)"


@pytest.mark.parametrize(
    ("status", "headers", "body", "least", "most"),
    [
        (429, {"Retry-After": "17"}, b"", 17, 17),
        (403, {"Retry-After": "17"}, b'{"message": "slow down"}', 17, 17),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "SOON"}, b"{}", 80, 90),
        (403, {}, b'{"message": "You have exceeded a secondary rate limit"}', 60, 60),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b"no json", 60, 60),
        (429, {"Retry-After": "9" * 5000}, b"", 60, 60),
        (429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, b"", 1, 1),
        # In milliseconds.
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1764286260000"}, b"", 60, 60),
    ],
)
async def test_a_rate_limit_names_its_end(
    github: CodeHostServer,
    host: RestCodeHost,
    *,
    status: int,
    headers: dict[str, str],
    body: bytes,
    least: int,
    most: int,
) -> None:
    headers = {name: limits_end() if value == "SOON" else value for name, value in headers.items()}
    github.fault = Fault(status=status, headers=headers, body=body)

    found = refused(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))

    assert (found.fault, found.status) == (HostFault.RATE_LIMITED, status)
    assert found.retry_after_s is not None
    assert least <= found.retry_after_s <= most
    assert f"try again in {found.retry_after_s} s" in found.reason


@pytest.mark.parametrize(
    ("fault", "expected", "message"),
    [
        (Fault(status=500, body=b'{"message": "oops"}'), HostFault.UNREACHABLE, "answered 500 (oops)"),
        (Fault(status=503, body=b"<html>away</html>"), HostFault.UNREACHABLE, "answered 503"),
        (Fault(status=410), HostFault.REFUSED, "answered 410"),
        (Fault(status=304), HostFault.STRANGE, "answered 304"),
        (Fault(status=200, body=b"<html>a login page</html>"), HostFault.STRANGE, "is the API's address right?"),
        (Fault(status=200, body=b"[]"), HostFault.STRANGE, "not its API's"),
        (Fault(status=200, body=b'{"id": 0, "full_name": "a/b"}'), HostFault.STRANGE, "not its API's"),
        (Fault(status=200, body=b'{"id": "7", "full_name": "a/b"}'), HostFault.STRANGE, "not its API's"),
        (Fault(status=200, body=b'{"id": 7, "full_name": "../.."}'), HostFault.STRANGE, "full_name"),
        (Fault(status=200, body=b"[" * 100_000), HostFault.STRANGE, "not its API's"),
        (Fault(status=200, body=b'{"x": ' + b"[" * 100_000), HostFault.STRANGE, "not its API's"),
        (Fault(status=200, body=b'{"id": 7, "full_name": "\xff"}'), HostFault.STRANGE, "not its API's"),
        (Fault(status=500, body=b'{"message": "\xff"}'), HostFault.UNREACHABLE, "answered 500"),
        (Fault(status=500, body=b'{"errors": ' + b"[" * 100_000), HostFault.UNREACHABLE, "answered 500"),
        (Fault(status=302, headers={"Location": "//xn--/"}), HostFault.UNREACHABLE, "what is no address"),
        (Fault(status=302, headers={"Location": f"http://a:{TOKEN}/"}), HostFault.UNREACHABLE, "***"),
        (Fault(status=200, body=b'"' + b"x" * (4 * 1024**2) + b'"'), HostFault.STRANGE, "more than 4 MiB"),
        (Fault(status=200, headers={"Content-Encoding": "gzip"}), HostFault.STRANGE, "sent a compressed answer"),
        (Fault(status=301, headers={"Location": "/repos/acme/lighthouse"}), HostFault.STRANGE, "again and again"),
        (Fault(status=500, body=json.dumps({"message": f"\x1b[31m{TOKEN}\n"}).encode()), HostFault.UNREACHABLE, "***"),
    ],
    ids=lambda value: "" if isinstance(value, str) else None,
)
async def test_any_other_answer_is_a_refusal(
    github: CodeHostServer, host: RestCodeHost, fault: Fault, expected: HostFault, message: str
) -> None:
    github.fault = fault

    found = refused(await host.repository(REPOSITORY, token=TOKEN))

    assert found.fault is expected
    assert message in found.reason


async def test_other_tasks_run_between_the_pieces_of_an_answer() -> None:
    pieces = 3_000
    turns = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n[\r\n" * pieces + b"0\r\n\r\n")
        writer.close()

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        host = RestCodeHost(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        counting = asyncio.create_task(count())
        found = refused(await host.repository(REPOSITORY, token=None))
        counting.cancel()
        await host.close()

    assert "not its API's" in found.reason
    assert turns >= pieces


async def test_a_hooks_secret_is_not_repeated(github: CodeHostServer, host: RestCodeHost) -> None:
    github.fault = Fault(status=422, body=json.dumps({"message": f"bad secret {HOOK.secret}"}).encode())

    for answered in (
        await host.create_hook(REPOSITORY, HOOK, token=TOKEN),
        await host.change_secret(REPOSITORY, "1", HOOK.secret, token=TOKEN),
    ):
        assert refused(answered).reason == "the code host answered 422 (bad secret ***)"


async def test_nothing_is_changed_by_a_page_of_another_program(github: CodeHostServer, host: RestCodeHost) -> None:
    github.fault = Fault(status=200, body=b"<html>Sign in</html>")

    for answered in (
        await host.change_secret(REPOSITORY, "1", HOOK.secret, token=TOKEN),
        await host.remove_hook(REPOSITORY, "1", token=TOKEN),
    ):
        assert refused(answered).fault is HostFault.STRANGE


async def test_a_point_in_time_before_all_others_is_a_refusal(github: CodeHostServer, host: RestCodeHost) -> None:
    attempt = {"id": 1, "guid": "g", "event": "push", "delivered_at": "0001-01-01T00:00:00+14:00", "status_code": 0}
    github.fault = Fault(status=200, body=json.dumps([attempt]).encode())

    listed = refused(await host.deliveries(REPOSITORY, "1", since=datetime.now(UTC), token=TOKEN))

    assert listed.fault is HostFault.STRANGE


async def test_a_limit_in_time_is_that_of_all_calls_together(github: CodeHostServer, host: RestCodeHost) -> None:
    limited = host.within(0.2)
    github.fault = Fault(silent=True)

    late = refused(await limited.repository(REPOSITORY, token=TOKEN))
    too_late = refused(await limited.repository(REPOSITORY, token=TOKEN))

    assert (late, late.fault) == (too_late, HostFault.UNREACHABLE)
    assert "in time" in late.reason
    # On a busy machine, the time may be over before the first call arrives.
    assert len(github.requests) <= 1
    github.fault = None
    for again in (host, limited.within(5.0)):
        assert isinstance(await again.repository(REPOSITORY, token=TOKEN), HostAnswer)


async def test_a_branch_need_not_be_there_yet(github: CodeHostServer, host: RestCodeHost) -> None:
    for body in (b'{"id": 7, "full_name": "a/b"}', b'{"id": 7, "full_name": "a/b", "default_branch": ""}'):
        github.fault = Fault(status=200, body=body)
        found = await host.repository(REPOSITORY, token=None)

        assert found == HostAnswer(value=RemoteRepository(id=7, full_name="a/b", default_branch=None), status=200)


async def test_a_renamed_repository_is_followed_and_its_request_is_sent_again_whole(
    server: CodeHostServer, host: RestCodeHost
) -> None:
    server.renamed["acme/beacon"] = REPOSITORY_ID

    found = await host.repository("acme/beacon", token=TOKEN)
    value_of(await host.create_hook("acme/beacon", HOOK, token=TOKEN))

    assert isinstance(found, HostAnswer)
    assert found.value.full_name == REPOSITORY
    assert server.hook.secret == HOOK.secret


async def test_a_token_is_not_sent_on_to_another_host(github: CodeHostServer, host: RestCodeHost) -> None:
    with CodeHostServer() as other:
        github.fault = Fault(status=307, headers={"Location": f"{other.url}/repos/{REPOSITORY}/hooks"})

        found = refused(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))

        assert (found.fault, found.status) == (HostFault.STRANGE, 307)
        assert "another host" in found.reason
        assert other.requests == []


async def test_a_cookie_of_one_request_is_not_sent_with_another(github: CodeHostServer, host: RestCodeHost) -> None:
    # One client serves all organizations: a session of one token would open private repositories to requests without.
    body = b'{"id": 4242, "full_name": "acme/lighthouse"}'
    github.fault = Fault(status=200, headers={"Set-Cookie": "session=of-this-token; Path=/"}, body=body)

    await host.repository(REPOSITORY, token=TOKEN)
    await host.repository(REPOSITORY, token=None)

    assert [request.headers.get("cookie") for request in github.requests] == [None, None]


async def test_an_authority_of_ones_own_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    # This run shares one context between all clients: the client's own function reads the variable.
    monkeypatch.setattr(httpx, "create_ssl_context", create_ssl_context)
    tls, _ = certified(tmp_path, "localhost")
    faults: list[HostRefusal] = []
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls) as server:
        monkeypatch.delenv("SSL_CERT_DIR", raising=False)
        for file in ("", "missing.pem", "server.pem"):
            monkeypatch.setenv("SSL_CERT_FILE", file and str(tmp_path / file))
            host = RestCodeHost(f"https://localhost:{server.sockets[0].getsockname()[1]}")
            faults.append(refused(await host.repository(REPOSITORY, token=None)))
            await host.close()

    untrusted, unloaded, answered = faults
    assert untrusted.fault is HostFault.UNREACHABLE
    assert untrusted.reason.endswith("if your own authority issued its certificate, set SSL_CERT_FILE to its file")
    assert unloaded.reason.endswith("check that SSL_CERT_FILE or SSL_CERT_DIR names the authority of its certificate")
    assert answered.status == 404


async def test_silence_and_absence_end_in_time(github: CodeHostServer) -> None:
    hasty = RestCodeHost(github.api_url, timeout_s=0.2)
    github.fault = Fault(silent=True)
    silent = refused(await hasty.repository(REPOSITORY, token=TOKEN))
    await hasty.close()
    with CodeHostServer() as gone:
        address = gone.api_url
    away = RestCodeHost(address)
    absent = refused(await away.repository(REPOSITORY, token=None))
    await away.close()
    unnamed = RestCodeHost("http://no-such-host.invalid")
    unknown = refused(await unnamed.repository(REPOSITORY, token=None))
    await unnamed.close()

    assert {silent.fault, absent.fault, unknown.fault} == {HostFault.UNREACHABLE}
    assert "Errno" not in unknown.reason
    assert "did not answer within 0.2 s" in silent.reason
    assert "cannot be reached" in absent.reason


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ghp_é", "x" * 1001])
async def test_an_invalid_token_is_never_sent(github: CodeHostServer, host: RestCodeHost, token: str) -> None:
    found = refused(await host.create_hook(REPOSITORY, HOOK, token=token))

    assert found.fault is HostFault.NO_ACCESS
    assert not token or token not in found.reason
    assert github.requests == []


async def test_attempts_are_read_page_after_page_as_far_back_as_is_asked(
    github: CodeHostServer, host: RestCodeHost
) -> None:
    created = value_of(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))
    now = datetime.now(UTC).replace(microsecond=0)
    for minutes in range(25):
        github.note(github.hook, f"guid-{minutes}", status=503, event="release", at=now - timedelta(minutes=minutes))
    github.page_size = 10

    listed = await host.deliveries(REPOSITORY, created, since=now - timedelta(minutes=14), token=TOKEN)

    assert isinstance(listed, HostAnswer)
    assert listed.value.complete
    assert [attempt.delivery_id for attempt in listed.value.attempts] == [f"guid-{number}" for number in range(15)]
    first = listed.value.attempts[0]
    assert (first.event, first.action, first.status_code, first.delivered_at) == ("release", "published", 503, now)
    assert len(github.did("GET", "/deliveries")) == 2


async def test_another_attempt_is_requested_by_its_id(github: CodeHostServer, host: RestCodeHost) -> None:
    created = value_of(await host.create_hook(REPOSITORY, HOOK, token=TOKEN))
    github.note(github.hook, "guid-1", status=503)
    (attempt,) = github.hook.deliveries

    assert await host.redeliver(REPOSITORY, created, str(attempt["id"]), token=TOKEN) == HostAnswer(
        value=None, status=202
    )
    (answer,) = github.did("POST", "/attempts")
    assert answer.path == f"/repos/{REPOSITORY}/hooks/{created}/deliveries/{attempt['id']}/attempts"
    assert refused(await host.redeliver(REPOSITORY, created, "1", token=TOKEN)).status == 404


async def test_a_foreign_id_is_no_part_of_a_path(github: CodeHostServer, host: RestCodeHost) -> None:
    await host.remove_hook(REPOSITORY, "../../x?y#z", token=TOKEN)

    assert github.requests[0].path == f"/repos/{REPOSITORY}/hooks/..%2F..%2Fx%3Fy%23z"


async def test_a_host_without_a_list_of_deliveries_is_reported() -> None:
    with CodeHostServer(forge=True) as server:
        host = RestCodeHost(f"{server.api_url}/")
        listed = refused(await host.deliveries(REPOSITORY, "1", since=datetime.now(UTC), token=TOKEN))
        answer = refused(await host.redeliver(REPOSITORY, "1", "2", token=TOKEN))
        await host.close()

        assert (listed.fault, answer.fault) == (HostFault.UNSUPPORTED, HostFault.UNSUPPORTED)
        assert "redeliver" in listed.reason
        assert server.requests == []
