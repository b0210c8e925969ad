"""The APIs of GitLab and Bitbucket over a real connection: requests and answers."""

from collections.abc import AsyncGenerator, Generator
from datetime import UTC, datetime

import pytest
from attrs import evolve
from tests.scripted_api import ScriptedApi

from contentsvc_adapters.codehosts.bitbucket import BitbucketClient
from contentsvc_adapters.codehosts.clients import HostClient, client_of
from contentsvc_adapters.codehosts.gitlab import GitlabClient
from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core import PROVIDERS
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostAnswer,
    HostDeliveries,
    HostDelivery,
    HostFault,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests

TOKEN = "glpat-secret-token"
HOOK = Hook(url="https://contentsvc.example/api/webhooks/gitlab/org_1/int_1/4242", secret="whsec_first")
PROJECT = "/projects/acme%2Fharbour%2Flighthouse"
UUID = "{6f1c2f3e-5d4b-4a39-9c58-7d6e5f4a3b2c}"
NUMBER = 5835474751540815
REPOSITORY = "/repositories/acme/lighthouse"
SINCE = datetime(2026, 3, 1, tzinfo=UTC)
ALL_COMMITS = CommitRange(head="b" * 40, before="", limit=500)


@pytest.fixture
def api() -> Generator[ScriptedApi]:
    with ScriptedApi() as created:
        yield created


@pytest.fixture
async def gitlab(api: ScriptedApi) -> AsyncGenerator[HostClient]:
    created = GitlabClient(f"{api.url}/", timeout_s=5.0)
    yield created
    await created.close()


@pytest.fixture
async def bitbucket(api: ScriptedApi) -> AsyncGenerator[HostClient]:
    created = BitbucketClient(api.url, timeout_s=5.0)
    yield created
    await created.close()


def test_each_provider_has_its_client() -> None:
    clients = {each.slug: client_of(each.slug) for each in PROVIDERS}

    assert clients == {
        "codehost": RestCodeHost,
        "github": RestCodeHost,
        "gitlab": GitlabClient,
        "bitbucket": BitbucketClient,
    }


def refused(answered: object) -> HostRefusal:
    assert isinstance(answered, HostRefusal), answered
    assert TOKEN not in repr(answered)
    assert "whsec" not in repr(answered)
    return answered


class TestGitlab:
    NAME = "acme/harbour/lighthouse"

    async def test_a_project_of_a_subgroup_is_read(self, api: ScriptedApi, gitlab: HostClient) -> None:
        api.prepare(
            f"GET {PROJECT}", {"id": 4242, "path_with_namespace": "Acme/harbour/lighthouse", "default_branch": "trunk"}
        )

        assert await gitlab.repository(self.NAME, token=TOKEN) == HostAnswer(
            value=RemoteRepository(id=4242, full_name="Acme/harbour/lighthouse", default_branch="trunk"), status=200
        )
        assert [each.headers.get("authorization") for each in api.requests] == [f"Bearer {TOKEN}"]

    async def test_a_hook_is_created_found_changed_and_removed(self, api: ScriptedApi, gitlab: HostClient) -> None:
        hooks = f"{PROJECT}/hooks"
        api.prepare(f"POST {hooks}", {"id": 9, "url": HOOK.url}, status=201)
        api.prepare(f"GET {hooks}", [{"id": 8, "url": "https://other.example"}, {"id": 9, "url": HOOK.url}])
        api.prepare(f"GET {hooks}/9", {"id": 9, "url": HOOK.url})
        api.prepare(f"PUT {hooks}/9", {"id": 9, "url": HOOK.url})
        api.prepare(f"DELETE {hooks}/9", None, status=204)

        assert await gitlab.create_hook(self.NAME, HOOK, token=TOKEN) == HostAnswer(value="9", status=201)
        path = "/api/webhooks/gitlab/org_1/int_1/4242"
        assert await gitlab.find_hook(self.NAME, path, token=TOKEN) == HostAnswer(value="9", status=200)
        assert await gitlab.find_hook(self.NAME, "/nowhere", token=TOKEN) == HostAnswer(value=None, status=200)
        assert isinstance(await gitlab.change_secret(self.NAME, "9", "whsec_second", token=TOKEN), HostAnswer)
        assert isinstance(await gitlab.remove_hook(self.NAME, "9", token=TOKEN), HostAnswer)

        (created,) = (each.body for each in api.requests if each.method == "POST")
        (changed,) = (each.body for each in api.requests if each.method == "PUT")
        events = {"push_events": True, "releases_events": True, "enable_ssl_verification": True}
        assert created == {"url": HOOK.url, "token": "whsec_first", **events, "name": "contentsvc"}
        assert changed == {"url": HOOK.url, "token": "whsec_second", **events}

    async def test_deliveries_are_listed_and_requested_again(self, api: ScriptedApi, gitlab: HostClient) -> None:
        def event(number: int, status: object, at: str) -> dict[str, object]:
            headers = {"X-Gitlab-Event": "Push Hook", "Idempotency-Key": f"id-{number}", "X-Gitlab-Token": "[REDACTED]"}
            return {"id": number, "request_headers": headers, "response_status": status, "created_at": at}

        page = [event(number, "200", "2026-03-04T06:00:00Z") for number in range(3, 23)]
        last = [event(2, "internal error", "2026-03-04T05:00:00Z"), event(1, "503", "2026-02-04T05:00:00Z")]
        api.prepare(f"GET {PROJECT}/hooks/9/events", page, last)
        api.prepare(f"POST {PROJECT}/hooks/9/events/2/resend", {"response_status": 200}, status=201)

        listed = await gitlab.deliveries(self.NAME, "9", since=SINCE, token=TOKEN)

        assert isinstance(listed, HostAnswer)
        assert isinstance(listed.value, HostDeliveries)
        assert listed.value.complete
        assert len(listed.value.attempts) == 21
        assert listed.value.attempts[-1] == HostDelivery(
            id="2",
            delivery_id="id-2",
            event="Push Hook",
            action=None,
            status_code=0,
            delivered_at=datetime(2026, 3, 4, 5, tzinfo=UTC),
        )
        assert isinstance(await gitlab.redeliver(self.NAME, "9", "2", token=TOKEN), HostAnswer)

    async def test_a_gitlab_older_than_17_4_is_refused_with_the_required_version(
        self, api: ScriptedApi, gitlab: HostClient
    ) -> None:
        old: dict[str, object] = {
            "id": 1,
            "request_headers": dict[str, str](),
            "response_status": "200",
            "created_at": "2026-03-04T06:00:00Z",
        }
        api.prepare(f"GET {PROJECT}/hooks/9/events", [old])

        refusal = refused(await gitlab.deliveries(self.NAME, "9", since=SINCE, token=TOKEN))

        assert refusal.fault is HostFault.STRANGE
        assert "GitLab must be 17.4 or newer" in refusal.reason

    async def test_commits_are_read_oldest_first_up_to_a_limit(self, api: ScriptedApi, gitlab: HostClient) -> None:
        def commit(number: int) -> dict[str, object]:
            return {
                "id": f"{number:040x}",
                "message": f"feat: {number}",
                "author_name": "Grace",
                "author_email": "grace@example.com",
                "authored_date": "2026-03-04T05:06:07.000+01:00",
                "web_url": f"https://gitlab.example/-/commit/{number}",
            }

        newest_first = [commit(number) for number in range(120, 0, -1)]
        api.prepare(f"GET {PROJECT}/repository/commits", newest_first[:100], newest_first[100:])
        all_commits = CommitRange(head="b" * 40, before="a" * 40, limit=500)

        read = await gitlab.commits(self.NAME, all_commits, token=TOKEN)

        assert [each.message for each in read.found] == [f"feat: {number}" for number in range(1, 121)]
        assert (read.is_cut, read.refusal) == (False, None)
        assert [each.query["ref_name"] for each in api.requests] == [f"{'a' * 40}..{'b' * 40}"] * 2
        api.prepare(f"GET {PROJECT}/repository/commits", newest_first[:100], newest_first[100:])
        cut = await gitlab.commits(self.NAME, CommitRange(head="b" * 40, before="a" * 40, limit=50), token=TOKEN)
        assert ([each.message for each in cut.found][::49], cut.is_cut) == (["feat: 71", "feat: 120"], True)
        api.prepare(f"GET {PROJECT}/repository/commits", [])
        await gitlab.commits(self.NAME, ALL_COMMITS, token=TOKEN)
        assert api.requests[-1].query["ref_name"] == ALL_COMMITS.head

    async def test_merge_requests_are_read_by_number_and_by_commit(self, api: ScriptedApi, gitlab: HostClient) -> None:
        def merge(number: int, **more: object) -> dict[str, object]:
            known = {"iid": number, "title": f"Lamp {number}", "project_id": 4242, "labels": ["feature"]}
            return {**known, "state": "merged", "author": {"username": "grace"}, "description": "Bright.", **more}

        head = "c" * 40
        api.prepare(f"GET {PROJECT}/merge_requests/7", merge(7, merge_commit_sha="d" * 40))
        api.prepare(f"GET {PROJECT}/merge_requests/9", merge(9, project_id=1))
        api.prepare(f"GET {PROJECT}/repository/commits/{head}/merge_requests", [merge(5, state="opened"), merge(6)])

        read = await gitlab.pull_requests(
            self.NAME, 4242, NamedPullRequests(numbers=[7, 8, 9], commits=[head]), token=TOKEN
        )

        assert read.refusal is None
        assert [(each.number, each.merged_sha) for each in read.found] == [(7, "d" * 40), (6, head)]
        assert read.found[0].labels == ("feature",)
        assert read.found[0].author == "grace"

    @pytest.mark.parametrize(
        ("status", "body", "fault", "message"),
        [
            (401, {"message": "401 Unauthorized"}, HostFault.NO_ACCESS, "the scope 'api'"),
            (403, {"error": "insufficient_scope"}, HostFault.NO_ACCESS, "insufficient_scope"),
            (400, {"message": {"url": ["is blocked"]}}, HostFault.REFUSED, "url: is blocked"),
            (422, {"message": ["Url is blocked"]}, HostFault.REFUSED, "Url is blocked"),
            (429, {"message": "Retry later"}, HostFault.RATE_LIMITED, "too many requests"),
            (502, {}, HostFault.UNREACHABLE, "502"),
            (200, {"id": "x"}, HostFault.STRANGE, "not its API's"),
        ],
    )
    async def test_a_refusal_has_its_reason(
        self, api: ScriptedApi, gitlab: HostClient, status: int, body: object, fault: HostFault, message: str
    ) -> None:
        api.prepare(f"POST {PROJECT}/hooks", body, status=status)

        found = refused(await gitlab.create_hook(self.NAME, HOOK, token=TOKEN))

        assert found.fault is fault
        assert message in found.reason


class TestBitbucket:
    NAME = "acme/lighthouse"

    async def test_a_repository_has_the_number_of_its_uuid(self, api: ScriptedApi, bitbucket: HostClient) -> None:
        body = {"uuid": UUID, "full_name": "acme/lighthouse", "mainbranch": {"name": "trunk"}}
        api.prepare(f"GET {REPOSITORY}", body, {**body, "mainbranch": None})

        assert await bitbucket.repository(self.NAME, token=None) == HostAnswer(
            value=RemoteRepository(id=NUMBER, full_name="acme/lighthouse", default_branch="trunk"), status=200
        )
        empty = await bitbucket.repository(self.NAME, token=TOKEN)
        assert isinstance(empty, HostAnswer)
        assert empty.value.default_branch is None
        assert [each.headers.get("authorization") for each in api.requests] == [None, f"Bearer {TOKEN}"]

    async def test_a_hook_is_created_found_changed_and_removed(self, api: ScriptedApi, bitbucket: HostClient) -> None:
        hooks, hook = f"{REPOSITORY}/hooks", {"uuid": "{9}", "url": HOOK.url}
        api.prepare(f"POST {hooks}", hook, status=201)
        other = {"uuid": "{8}", "url": "https://other.example"}
        api.prepare(f"GET {hooks}", {"values": [other], "next": f"{api.url}?page=2"}, {"values": [hook]})
        api.prepare(f"GET {hooks}/%7B9%7D", hook)
        api.prepare(f"PUT {hooks}/%7B9%7D", hook)
        api.prepare(f"DELETE {hooks}/%7B9%7D", None, status=204)

        assert await bitbucket.create_hook(self.NAME, HOOK, token=TOKEN) == HostAnswer(value="{9}", status=201)
        found = await bitbucket.find_hook(self.NAME, "/api/webhooks/gitlab/org_1/int_1/4242", token=TOKEN)
        assert found == HostAnswer(value="{9}", status=200)
        assert isinstance(await bitbucket.change_secret(self.NAME, "{9}", "whsec_second", token=TOKEN), HostAnswer)
        assert isinstance(await bitbucket.remove_hook(self.NAME, "{9}", token=TOKEN), HostAnswer)

        (created,) = (each.body for each in api.requests if each.method == "POST")
        (changed,) = (each.body for each in api.requests if each.method == "PUT")
        rest = {"description": "contentsvc", "url": HOOK.url, "active": True, "events": ["repo:push"]}
        assert created == {**rest, "secret": "whsec_first"}
        assert changed == {**rest, "secret": "whsec_second"}

    async def test_unsupported_calls_are_refused(self, api: ScriptedApi, bitbucket: HostClient) -> None:
        for answered in (
            await bitbucket.deliveries(self.NAME, "{9}", since=SINCE, token=TOKEN),
            await bitbucket.redeliver(self.NAME, "{9}", "1", token=TOKEN),
        ):
            refusal = refused(answered)
            assert refusal.fault is HostFault.UNSUPPORTED
            assert "use 'Resend request'" in refusal.reason
        assert api.requests == []

    async def test_commits_are_read_oldest_first_over_pages(self, api: ScriptedApi, bitbucket: HostClient) -> None:
        def commit(number: int) -> dict[str, object]:
            return {
                "hash": f"{number:040x}",
                "message": f"feat: {number}",
                "date": "2026-03-04T05:06:07+01:00",
                "author": {"raw": "Grace Example <grace@example.com>"},
                "links": {"html": {"href": f"https://bitbucket.example/{number}"}},
            }

        listing = f"GET {REPOSITORY}/commits/{'b' * 40}"
        api.prepare(
            listing,
            {"values": [commit(3), commit(2)], "next": f"{api.url}/x?ctx=d0e&page=aBc&exclude=y"},
            {"values": [commit(1)]},
        )

        read = await bitbucket.commits(self.NAME, CommitRange(head="b" * 40, before="a" * 40, limit=500), token=TOKEN)

        assert [each.message for each in read.found] == ["feat: 1", "feat: 2", "feat: 3"]
        assert [(each.query["page"], each.query.get("ctx")) for each in api.requests] == [("1", None), ("aBc", "d0e")]
        assert {each.query["exclude"] for each in api.requests} == {"a" * 40}
        api.prepare(listing, {"values": []})
        await bitbucket.commits(self.NAME, ALL_COMMITS, token=TOKEN)
        assert "exclude" not in api.requests[-1].query
        assert read.found[0].author.name == "Grace Example"

    async def test_pull_requests_are_read_by_number_and_by_commit(
        self, api: ScriptedApi, bitbucket: HostClient
    ) -> None:
        def pull(number: int, **more: object) -> dict[str, object]:
            here = {"repository": {"uuid": UUID, "full_name": "acme/lighthouse"}}
            known = {"id": number, "title": f"Lamp {number}", "destination": here, "state": "MERGED"}
            return {**known, "author": {"nickname": "grace"}, "description": "Bright.", **more}

        head = "c" * 40
        api.prepare(f"GET {REPOSITORY}/pullrequests/7", pull(7))
        api.prepare(f"GET {REPOSITORY}/commit/{head}/pullrequests", {"values": [pull(5, state="OPEN"), pull(6)]})

        read = await bitbucket.pull_requests(
            self.NAME, NUMBER, NamedPullRequests(numbers=[7, 8], commits=[head]), token=TOKEN
        )
        elsewhere = await bitbucket.pull_requests(self.NAME, 1, NamedPullRequests(numbers=[7]), token=TOKEN)

        assert read.refusal is None
        assert [(each.number, each.author, each.merged_sha) for each in read.found] == [
            (7, "grace", None),
            (6, "grace", head),
        ]
        assert elsewhere.found == ()

    async def test_a_refusal_names_the_rights_of_the_token(self, api: ScriptedApi, bitbucket: HostClient) -> None:
        api.prepare(f"POST {REPOSITORY}/hooks", {"type": "error", "error": {"message": "No access"}}, status=403)

        refusal = refused(await bitbucket.create_hook(self.NAME, HOOK, token=TOKEN))

        assert refusal.fault is HostFault.NO_ACCESS
        assert "(No access)" in refusal.reason
        assert "Webhooks: Read and write" in refusal.reason


class TestForgejoAndGitea:
    NAME = "acme/lighthouse"
    COMMITS = "/api/v1/repos/acme/lighthouse/commits"
    RANGE = CommitRange(head="b" * 40, before="a" * 40, limit=500)

    @pytest.fixture
    async def forge(self, api: ScriptedApi) -> AsyncGenerator[HostClient]:
        created = RestCodeHost(f"{api.url}/api/v1", timeout_s=5.0)
        yield created
        await created.close()

    @staticmethod
    def commit(number: int, **more: object) -> dict[str, object]:
        written = {"name": "Grace", "email": "grace@example.com", "date": "2026-03-04T05:06:07+01:00"}
        return {
            "sha": f"{number:040x}",
            "html_url": f"https://forge.example/commit/{number}",
            "commit": {"message": f"feat: {number}", "author": written, "committer": written},
            "author": {"id": 7, "login": "grace"},
            **more,
        }

    async def test_commits_are_read_oldest_first_up_to_a_limit(self, api: ScriptedApi, forge: HostClient) -> None:
        newest_first = [self.commit(9, author=None), *map(self.commit, range(8, 0, -1))]
        api.prepare(f"GET {self.COMMITS}", newest_first[:5], newest_first[5:], [])

        read = await forge.commits(self.NAME, self.RANGE, token=TOKEN)

        assert [each.message for each in read.found] == [f"feat: {number}" for number in range(1, 10)]
        assert [each.author.username for each in read.found[-2:]] == ["grace", None]
        assert (read.is_cut, read.refusal) == (False, None)
        assert {(each.query["not"], each.query["sha"]) for each in api.requests} == {("a" * 40, "b" * 40)}
        assert [each.query["page"] for each in api.requests] == ["1", "2", "3"]
        api.prepare(f"GET {self.COMMITS}", newest_first)
        cut = await forge.commits(self.NAME, CommitRange(head="b" * 40, before="a" * 40, limit=5), token=TOKEN)
        assert ([each.message for each in cut.found][::4], cut.is_cut) == (["feat: 5", "feat: 9"], True)
        api.prepare(f"GET {self.COMMITS}", [])
        await forge.commits(self.NAME, ALL_COMMITS, token=TOKEN)
        assert (api.requests[-1].query["sha"], "not" in api.requests[-1].query) == (ALL_COMMITS.head, False)

    async def test_long_messages_are_read_to_a_total_size(self, api: ScriptedApi, forge: HostClient) -> None:
        written = {"name": "Grace", "email": "", "date": ""}
        api.prepare(
            f"GET {self.COMMITS}", [self.commit(1, commit={"message": "x" * 3 * 1024 * 1024, "author": written})]
        )

        read = await forge.within(60.0, limit_bytes=32 * 1024 * 1024).commits(self.NAME, self.RANGE, token=TOKEN)

        assert "answered with more than 32 MiB" in refused(read.refusal).reason
        assert (read.found, len(api.requests)) == ((), 11)

    @pytest.mark.parametrize("limit", [500, 2, 1])
    async def test_a_version_that_ignores_the_end_of_the_range_is_refused(
        self, api: ScriptedApi, forge: HostClient, limit: int
    ) -> None:
        listed = [self.commit(10), self.commit(9), self.commit(8, sha="a" * 40), self.commit(7)]
        api.prepare(f"GET {self.COMMITS}", listed, [])

        read = await forge.commits(self.NAME, evolve(self.RANGE, limit=limit), token=TOKEN)

        assert (read.found, read.is_cut) == ((), False)
        assert "Gitea 1.20 or newer" in refused(read.refusal).reason
