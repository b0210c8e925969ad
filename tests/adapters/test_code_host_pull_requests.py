"""Pull requests over a real connection: by GraphQL, one by one, and with each kind of fault."""

import json
from collections.abc import Generator
from typing import Any

import pytest
from attrs import evolve
from tests.code_host_server import READER, REPOSITORY, REPOSITORY_ID, TOKEN, CodeHostServer, Fault, HostPull, limits_end

from contentsvc_adapters.codehosts.host import ONE_BY_ONE
from contentsvc_adapters.codehosts.pull_requests import AUTHORS, BATCH
from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core.code_hosts import HostFault, HostPullRequests, HostRefusal
from contentsvc_core.content.pull_requests import BODY_LENGTH, NamedPullRequests, PullRequest

_SHA = "b" * 40
_LAMP = HostPull(
    number=12, title="Add a lamp", body="It shines.", labels=("bug", "C-lamp"), author="ada", association="MEMBER"
)


@pytest.fixture(params=["graphql", "rest", "forge"])
def server(request: pytest.FixtureRequest) -> Generator[CodeHostServer]:
    with CodeHostServer(forge=request.param == "forge") as serving:
        serving.graphql = request.param == "graphql"
        yield serving


async def read(
    host: RestCodeHost, *numbers: int, commits: tuple[str, ...] = (), name: str = REPOSITORY, token: str = TOKEN
) -> HostPullRequests:
    named = NamedPullRequests(numbers=numbers, commits=commits)
    return await host.pull_requests(name, REPOSITORY_ID, named, token=token)


def refused(answered: HostPullRequests) -> HostRefusal:
    assert answered.refusal is not None, answered
    assert TOKEN not in repr(answered)
    assert "\n" not in answered.refusal.reason
    return answered.refusal


async def test_pull_requests_are_described_and_other_numbers_are_absent(
    server: CodeHostServer, host: RestCodeHost
) -> None:
    server.add(_LAMP, HostPull(number=14, author=None, merged=False, body=None))

    answered = await read(host, 14, 13, 12, token=READER)

    lamp = PullRequest(
        number=12, title="Add a lamp", body="It shines.", labels=("bug", "C-lamp"), author="ada", merged_sha="a" * 40
    )
    open_one = PullRequest(number=14, title="Add a lamp", author=None, merged_sha=None)
    assert answered == HostPullRequests(found=(open_one, lamp))


async def test_a_query_asks_for_many_and_a_request_for_one(server: CodeHostServer, host: RestCodeHost) -> None:
    server.add(*(evolve(_LAMP, number=number) for number in range(1, 51)))

    answered = await read(host, *range(50, 0, -1))

    most = 50 if server.graphql else ONE_BY_ONE
    assert [each.number for each in answered.found] == list(range(50, 50 - most, -1))
    assert answered.refusal is None
    queries = [
        each.path for each in server.requests if "/pulls/" in each.path or not server.graphql or "graphql" in each.path
    ]
    # A server like GitHub's without GraphQL is first asked for it.
    assert len(queries) == (-(-50 // BATCH) if server.graphql else ONE_BY_ONE + (not server.forge))
    assert server.connections == 1


@pytest.mark.parametrize(
    ("url", "path"),
    [("", "/graphql"), ("/api/v3", "/api/graphql"), ("/code/api/v3/", "/code/api/graphql"), ("/api", "/api/graphql")],
)
async def test_graphql_has_its_path_beside_the_rest_api(github: CodeHostServer, url: str, path: str) -> None:
    host = RestCodeHost(f"{github.url}{url}")
    await read(host, 12)
    await host.close()

    assert github.requests[0].path == path


@pytest.mark.parametrize("server", ["graphql", "forge"], indirect=True)
async def test_a_commit_leads_to_the_pull_request_that_was_merged_with_it(
    server: CodeHostServer, host: RestCodeHost
) -> None:
    server.add(evolve(_LAMP, number=12, sha=_SHA), evolve(_LAMP, number=13, sha="c" * 40, merged=False))

    answered = await read(host, commits=(_SHA, "c" * 40, "d" * 40))

    assert [(each.number, each.merged_sha) for each in answered.found] == [(12, _SHA)]
    assert answered.refusal is None


async def test_another_repositorys_pull_requests_are_not_taken(server: CodeHostServer, host: RestCodeHost) -> None:
    server.add(_LAMP, HostPull(number=13, repository_id=REPOSITORY_ID + 1))

    assert [each.number for each in (await read(host, 12, 13)).found] == [12]


async def test_a_renamed_repository_is_followed(server: CodeHostServer, host: RestCodeHost) -> None:
    server.renamed["acme/beacon"] = REPOSITORY_ID
    server.add(evolve(_LAMP, author="new", association="CONTRIBUTOR"))

    (lamp,) = (await read(host, 12, name="acme/beacon")).found

    assert lamp.first_contribution is server.graphql


async def test_the_first_merged_pull_request_of_an_author_is_a_first_contribution(
    github: CodeHostServer, host: RestCodeHost
) -> None:
    # After the merge, the author counts as a contributor: only the search shows a first contribution.
    github.add(
        HostPull(number=1, author="old"),
        HostPull(number=2, author="new", merged=False),
        HostPull(number=3, author="new"),
        HostPull(number=4, author="new"),
        HostPull(number=5, author="old"),
        HostPull(number=6, author="boss", association="OWNER"),
        HostPull(number=7, author="renovate", bot=True),
        HostPull(number=8, author="fresh", association="FIRST_TIMER"),
        HostPull(number=9, author="x user:evil", association="NONE"),
    )

    answered = await read(host, 9, 8, 7, 6, 5, 4, 3)

    assert {each.number for each in answered.found if each.first_contribution} == {3, 8}
    assert {each.number: each.author for each in answered.found}[7] == "renovate[bot]"
    queries = [each.body["variables"] for each in github.requests]
    assert queries[1:] == [
        {
            "a0": f"repo:{REPOSITORY} is:pr author:old sort:created-asc",
            "a1": f"repo:{REPOSITORY} is:pr author:new sort:created-asc",
        }
    ]


async def test_first_contributions_of_a_bounded_number_of_authors_are_looked_for(
    github: CodeHostServer, host: RestCodeHost
) -> None:
    github.add(*(HostPull(number=number, author=f"new{number}") for number in range(1, 31)))

    answered = await read(host, *range(30, 0, -1))

    assert sum(each.first_contribution for each in answered.found) == AUTHORS
    assert len(github.requests) == 2 + 1


async def test_a_rate_limit_ends_the_reading_and_keeps_the_results_before_it(
    server: CodeHostServer, host: RestCodeHost
) -> None:
    server.add(*(evolve(_LAMP, number=number) for number in range(1, 31)))
    limit = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": limits_end()}
    if server.graphql:
        # The first query succeeds, and the second one fails.
        answer = server.answer
        server.answer = lambda request: (
            answer(request) if len(server.requests) == 1 else (403, {"message": "API rate limit exceeded"}, limit)
        )
    else:
        server.fault = Fault(status=403, headers=limit, path="/pulls/15")

    answered = await read(host, *range(30, 0, -1))

    assert [each.number for each in answered.found] == list(range(30, 15, -1))
    found = refused(answered)
    assert found.fault is HostFault.RATE_LIMITED
    assert found.retry_after_s is not None
    assert 80 <= found.retry_after_s <= 90
    assert len([each for each in server.requests if "15" in json.dumps(each.body) or "/pulls/15" in each.path]) == 1


async def test_a_rate_limit_in_the_body_of_graphql_is_recognized(github: CodeHostServer, host: RestCodeHost) -> None:
    errors = [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 7."}]
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": limits_end()}
    github.fault = Fault(status=200, headers=headers, body=json.dumps({"data": None, "errors": errors}).encode())

    found = refused(await read(host, 12))

    assert found.fault is HostFault.RATE_LIMITED
    assert found.retry_after_s is not None
    assert 80 <= found.retry_after_s <= 90


async def test_missing_rights_are_refused_with_the_rights_to_grant(server: CodeHostServer, host: RestCodeHost) -> None:
    server.add(_LAMP)
    server.reads_pulls = False

    missing = refused(await read(host, 12))
    server.reads_pulls = True
    wrong = refused(await read(host, 12, token="ghp_wrong"))

    grant = "'read:repository'" if server.forge else "'Pull requests: read'"
    for each in (missing, wrong):
        assert each.fault is HostFault.NO_ACCESS
        assert grant in each.reason
        assert "Webhooks" not in each.reason


async def test_an_unknown_repository_is_a_refusal(github: CodeHostServer, host: RestCodeHost) -> None:
    assert refused(await read(host, 12, name="acme/unknown")).fault is HostFault.NO_ACCESS


async def test_hostile_texts_are_bounded(server: CodeHostServer, host: RestCodeHost) -> None:
    server.add(
        HostPull(
            number=12,
            title="Lamp\n\x1b[31m\u202e<script>\x00 " + "x" * 1000,
            body="<!-- \n template <b> -->One.\r\n<!-- two -->Two.\x00" + "y" * 100_000 + "<!--" * 10_000,
            labels=("", " a\nlabel ", "l" * 80, *(f"label {number}" for number in range(90))),
            author="ada\n\u202e" + "z" * 200,
            sha="no hash",
        )
    )

    (lamp,) = (await read(host, 12)).found

    assert lamp.title.startswith("Lamp [31m <script>")
    assert len(lamp.title) == 256
    assert lamp.body.startswith("One.\nTwo.\ufffdyyy")
    assert len(lamp.body) == BODY_LENGTH
    assert lamp.labels[:3] == ("a label", "l" * 49 + "…", "label 0")
    assert len(lamp.labels) <= 20
    assert lamp.author is not None
    assert lamp.author.startswith("ada z")
    assert len(lamp.author) == 100
    assert lamp.merged_sha is None


@pytest.mark.parametrize(
    ("body", "expected", "message"),
    [
        (b"<html>a login page</html>", HostFault.STRANGE, "not its API's"),
        (b"[]", HostFault.STRANGE, "not its API's"),
        (b'{"data": {"repository": {"n12": {"number": "12"}}}}', HostFault.STRANGE, "not its API's"),
        (b'{"data": {"repository": {"n12": ' + b"[" * 100_000, HostFault.STRANGE, "not its API's"),
        (b'{"data": null, "errors": [{"message": "a timeout\\n"}]}', HostFault.REFUSED, "answered: a timeout"),
        (b"{}", HostFault.NO_ACCESS, "no such repository"),
        (b'"' + b"x" * (4 * 1024**2) + b'"', HostFault.STRANGE, "more than 4 MiB"),
    ],
    ids=["html", "list", "shape", "nested", "error", "empty", "oversized"],
)
async def test_any_other_answer_is_a_refusal(
    github: CodeHostServer, host: RestCodeHost, body: bytes, expected: HostFault, message: str
) -> None:
    github.fault = Fault(status=200, body=body)

    found = refused(await read(host, 12))

    assert found.fault is expected
    assert message in found.reason


async def test_a_failed_search_leaves_the_pull_requests(github: CodeHostServer, host: RestCodeHost) -> None:
    github.add(HostPull(number=12))
    answer = github.answer
    github.answer = lambda request: answer(request) if "search(" not in request.body["query"] else (502, {}, {})

    answered = await read(host, 12)

    assert [each.first_contribution for each in answered.found] == [False]
    assert refused(answered).fault is HostFault.UNREACHABLE


@pytest.mark.parametrize("data", [None, {"a0": None}])
async def test_a_limit_in_the_body_of_a_search_is_no_answer_to_it(
    github: CodeHostServer, host: RestCodeHost, data: object
) -> None:
    github.add(HostPull(number=12))
    answer, errors = github.answer, [{"type": "RATE_LIMITED", "message": "too many"}]
    limited: tuple[int, Any, dict[str, str]] = (200, {"data": data, "errors": errors}, {})
    github.answer = lambda request: answer(request) if "search(" not in request.body["query"] else limited

    answered = await read(host, 12)

    assert [each.number for each in answered.found] == [12]
    assert refused(answered).fault is HostFault.RATE_LIMITED


async def test_silence_ends_within_the_limit_of_all_calls(server: CodeHostServer, host: RestCodeHost) -> None:
    server.fault = Fault(silent=True)

    answered = await read(host.within(0.2), 12, 13)

    assert answered.found == ()
    assert refused(answered).fault is HostFault.UNREACHABLE
    # On a busy machine, the time may be over before the first call arrives.
    assert len(server.requests) <= 1
