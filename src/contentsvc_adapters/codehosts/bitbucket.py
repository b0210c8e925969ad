"""Bitbucket Cloud over its REST API, version 2.0 (port :class:`~contentsvc_core.ports.CodeHost`)."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.host import FullUpdateHost, HookPage, PullRequestLookup
from contentsvc_adapters.codehosts.rest_client import read_answer
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostAnswer,
    HostCommits,
    HostDeliveries,
    HostFault,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, described_pull_request
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers.bitbucket import BitbucketCommit, bitbucket_commit, repository_number

if TYPE_CHECKING:
    from contentsvc_core.events.normalized import Commit

_PAGE: Final = 100
#: A repository has at most 50 webhooks.
_HOOK_PAGES: Final = 5
_MERGED: Final = "MERGED"
_API: Final = ApiConventions(
    scheme="Bearer",
    headers={"Accept": "application/json"},
    grant="an access token of the repository needs the permissions 'Repositories: Read' and 'Webhooks: Read and write'",
    reading_grant="an access token of the repository needs 'Repositories: Read' and 'Pull requests: Read'",
    # Public, unlike the root.
    probe="/hook_events",
)
_NO_DELIVERIES: Final = HostRefusal(
    fault=HostFault.UNSUPPORTED,
    reason=(
        "Bitbucket's API does not list deliveries: open the webhook under Repository settings, Webhooks, "
        "View requests, and use 'Resend request' on each that failed"
    ),
)


class _Branch(msgspec.Struct):
    name: str


class _Repository(msgspec.Struct):
    uuid: str
    full_name: str
    mainbranch: _Branch | None = None


class _Hook(msgspec.Struct):
    uuid: str
    url: str = ""


class _Hooks(msgspec.Struct):
    values: list[_Hook]
    next: str | None = None


class _Commits(msgspec.Struct):
    values: list[BitbucketCommit]
    next: str | None = None


class _User(msgspec.Struct):
    nickname: str | None = None


class _Merge(msgspec.Struct):
    hash: str


class _End(msgspec.Struct):
    repository: _Repository | None = None


class _PullRequest(msgspec.Struct):
    id: int
    title: str
    destination: _End
    description: str | None = None
    author: _User | None = None
    merge_commit: _Merge | None = None
    state: str = ""


class _PullRequests(msgspec.Struct):
    values: list[_PullRequest]


@final
class BitbucketClient(FullUpdateHost):
    api = _API
    root = "repositories"
    hook_pages = _HOOK_PAGES
    lists_deliveries = False

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        return read_answer(await self._client.request("GET", self._at(full_name), token=token), _Repository, _hosted)

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        path = self._at(full_name, "hooks")
        body = self._hook_body(hook.url, hook.secret)
        answered = await self._client.request("POST", path, token=token, body=body, secrets=[hook.secret])
        return read_answer(answered, _Hook, lambda made: made.uuid)

    async def _hook_page(self, full_name: str, number: int, token: str) -> HostAnswer[HookPage] | HostRefusal:
        query = {"page": str(number), "pagelen": str(_PAGE)}
        answered = await self._client.request("GET", self._at(full_name, "hooks"), token=token, query=query)
        return read_answer(answered, _Hooks, _hooks)

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        del full_name, hook_id, since, token
        return _NO_DELIVERIES

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        del full_name, hook_id, attempt_id, token
        return _NO_DELIVERIES

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        client = self._client.granted(_API.reading_grant)
        commits: list[Commit] = []
        query = {"pagelen": str(_PAGE), "page": "1"}
        if commit_range.before:
            query["exclude"] = commit_range.before
        while len(commits) <= commit_range.limit:
            answered = await client.request(
                "GET", self._at(full_name, "commits", commit_range.head), token=token, query=query
            )
            listed = read_answer(answered, _Commits, lambda each: each)
            if isinstance(listed, HostRefusal):
                return HostCommits(refusal=listed)
            commits += map(bitbucket_commit, listed.value.values)
            following = dict(parse_qsl(urlsplit(listed.value.next or "").query))
            if "page" not in following or not listed.value.values:
                break
            # Without "ctx", the page of a list that changes may be that of another list.
            query |= {name: following[name] for name in ("page", "ctx") if name in following}
        return HostCommits(found=reversed(commits[: commit_range.limit]), is_cut=len(commits) > commit_range.limit)

    def _lookups(self, full_name: str, repository_id: int, named: NamedPullRequests) -> Iterator[PullRequestLookup]:
        for number in named.numbers:
            path = self._at(full_name, "pullrequests", str(number))
            yield path, _PullRequest, partial(_described, repository_id, None)
        for commit in named.commits:
            path = self._at(full_name, "commit", commit, "pullrequests")
            yield path, _PullRequests, partial(_merged, repository_id, commit)

    def _hook_body(self, url: str, secret: str) -> dict[str, Any]:
        return {"description": "contentsvc", "url": url, "active": True, "secret": secret, "events": ["repo:push"]}


def _hooks(page: _Hooks) -> HookPage:
    return [(hook.uuid, hook.url) for hook in page.values], page.next is None


def _merged(repository_id: int, commit: str, page: _PullRequests) -> PullRequest | None:
    # Open requests contain the commit, too: take the one that merged it.
    merged = next((each for each in page.values if each.state == _MERGED), None)
    return None if merged is None else _described(repository_id, commit, merged)


def _hosted(repository: _Repository) -> RemoteRepository:
    number = repository_number(repository.uuid)
    if number is None or not is_full_name(repository.full_name):
        message = "uuid or full_name is not that of a repository"
        raise ValueError(message)
    branch = repository.mainbranch
    return RemoteRepository(
        id=number, full_name=repository.full_name, default_branch=branch and (one_line(branch.name, 255) or None)
    )


def _described(repository_id: int, commit: str | None, pull_request: _PullRequest) -> PullRequest | None:
    here = pull_request.destination.repository
    if here is None or repository_number(here.uuid) != repository_id:
        return None
    merged = pull_request.merge_commit.hash if pull_request.merge_commit and pull_request.state == _MERGED else None
    return described_pull_request(
        pull_request.id,
        title=pull_request.title,
        body=pull_request.description,
        labels=(),
        author=None if pull_request.author is None else pull_request.author.nickname,
        merged_sha=commit or merged,
    )
