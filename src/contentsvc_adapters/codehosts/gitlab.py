"""GitLab over its REST API, version 4 (port :class:`~contentsvc_core.ports.CodeHost`)."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, final
from urllib.parse import quote

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.host import FullUpdateHost, HookPage, PullRequestLookup, done
from contentsvc_adapters.codehosts.rest_client import read_answer
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostAnswer,
    HostCommits,
    HostDeliveries,
    HostDelivery,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, described_pull_request
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_delivery_id, is_full_name
from contentsvc_core.text import one_line, storable
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.webhooks.providers.gitlab import GITLAB

_PAGE: Final = 100
#: A project has at most 100 webhooks on GitLab.com.
_HOOK_PAGES: Final = 5
#: The largest page of webhook events, and the most pages: 2,000 attempts, of at most seven days.
_EVENTS_PAGE: Final = 20
_EVENTS_PAGES: Final = 100
_TEXT_LENGTH: Final = 64
_MERGED: Final = "merged"
_ROLES: Final = "and its owner needs the role Maintainer of the project"
_API: Final = ApiConventions(
    scheme="Bearer",
    headers={"Accept": "application/json"},
    grant=f"the token needs the scope 'api', {_ROLES}",
    reading_grant="the token needs the scope 'read_api', and its owner must be able to read the project",
    probe="/version",
)


class _Project(msgspec.Struct):
    id: Annotated[int, msgspec.Meta(ge=1, le=MAX_REPOSITORY_ID)]
    path_with_namespace: str
    default_branch: str | None = None


class _Hook(msgspec.Struct):
    id: int
    url: str = ""


class _Event(msgspec.Struct):
    id: int
    request_headers: dict[str, Any]
    response_status: str | int
    created_at: Annotated[datetime, msgspec.Meta(tz=True)]


class _Commit(msgspec.Struct):
    id: str
    message: str
    author_name: str
    author_email: str | None
    authored_date: str
    web_url: str


class _User(msgspec.Struct):
    username: str


class _MergeRequest(msgspec.Struct):
    iid: int
    title: str
    project_id: int
    description: str | None = None
    labels: list[str] | None = None
    author: _User | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    sha: str | None = None
    state: str = ""
    first_contribution: bool | None = None


@final
class GitlabClient(FullUpdateHost):
    api = _API
    root = "projects"
    hook_pages = _HOOK_PAGES
    lists_deliveries = True

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        return read_answer(await self._client.request("GET", self._at(full_name), token=token), _Project, _hosted)

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        body = {**self._hook_body(hook.url, hook.secret), "name": "contentsvc"}
        path = self._at(full_name, "hooks")
        answered = await self._client.request("POST", path, token=token, body=body, secrets=[hook.secret])
        return read_answer(answered, _Hook, lambda made: str(made.id))

    async def _hook_page(self, full_name: str, number: int, token: str) -> HostAnswer[HookPage] | HostRefusal:
        query = {"page": str(number), "per_page": str(_PAGE)}
        answered = await self._client.request("GET", self._at(full_name, "hooks"), token=token, query=query)
        return read_answer(answered, list[_Hook], _hooks)

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        attempts: list[HostDelivery] = []
        status = 0
        for number in range(1, _EVENTS_PAGES + 1):
            query = {"page": str(number), "per_page": str(_EVENTS_PAGE)}
            path = self._at(full_name, "hooks", hook_id, "events")
            answered = await self._client.request("GET", path, token=token, query=query)
            page = read_answer(answered, list[_Event], lambda listed: [_attempt(each) for each in listed])
            if isinstance(page, HostRefusal):
                return page
            status = page.status
            attempts += (each for each in page.value if each.delivered_at >= since)
            if len(page.value) < _EVENTS_PAGE or all(each.delivered_at < since for each in page.value):
                return HostAnswer(value=HostDeliveries(attempts=attempts, complete=True), status=status)
        return HostAnswer(value=HostDeliveries(attempts=attempts, complete=False), status=status)

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        path = self._at(full_name, "hooks", hook_id, "events", attempt_id, "resend")
        return done(await self._client.request("POST", path, token=token))

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        client = self._client.granted(_API.reading_grant)
        commits: list[Commit] = []
        page = 1
        ref_name = f"{commit_range.before}..{commit_range.head}" if commit_range.before else commit_range.head
        while len(commits) <= commit_range.limit:
            query = {"ref_name": ref_name, "page": str(page), "per_page": str(_PAGE)}
            path = self._at(full_name, "repository", "commits")
            answered = await client.request("GET", path, token=token, query=query)
            listed = read_answer(answered, list[_Commit], lambda each: [_commit(commit) for commit in each])
            if isinstance(listed, HostRefusal):
                return HostCommits(refusal=listed)
            commits += listed.value
            if len(listed.value) < _PAGE:
                break
            page += 1
        return HostCommits(found=reversed(commits[: commit_range.limit]), is_cut=len(commits) > commit_range.limit)

    def _lookups(self, full_name: str, repository_id: int, named: NamedPullRequests) -> Iterator[PullRequestLookup]:
        for number in named.numbers:
            path = self._at(full_name, "merge_requests", str(number))
            yield path, _MergeRequest, partial(_described, repository_id, None)
        for commit in named.commits:
            path = self._at(full_name, "repository", "commits", commit, "merge_requests")
            yield path, list[_MergeRequest], partial(_merged, repository_id, commit)

    def _at(self, full_name: str, *parts: str) -> str:
        # The path of a project is one part.
        return super()._at(quote(full_name, safe=""), *parts)

    def _hook_body(self, url: str, secret: str) -> dict[str, Any]:
        return {
            "url": url,
            "token": secret,
            "push_events": True,
            "releases_events": True,
            "enable_ssl_verification": True,
        }


def _hooks(page: list[_Hook]) -> HookPage:
    return [(str(hook.id), hook.url) for hook in page], len(page) < _PAGE


def _merged(repository_id: int, commit: str, page: list[_MergeRequest]) -> PullRequest | None:
    # Open requests contain the commit, too: take the one that merged it.
    merged = next((each for each in page if each.state == _MERGED), None)
    return None if merged is None else _described(repository_id, commit, merged)


def _hosted(repository: _Project) -> RemoteRepository:
    if not is_full_name(repository.path_with_namespace, nested=True):
        message = "path_with_namespace is not the path of a project"
        raise ValueError(message)
    branch = repository.default_branch or None
    return RemoteRepository(
        id=repository.id, full_name=repository.path_with_namespace, default_branch=branch and one_line(branch, 255)
    )


def _attempt(hook_event: _Event) -> HostDelivery:
    headers = {name.lower(): value for name, value in hook_event.request_headers.items() if isinstance(value, str)}
    delivery_id = headers.get(GITLAB.delivery_header.lower(), "")
    if not is_delivery_id(delivery_id):
        message = f"an event has no {GITLAB.delivery_header}: GitLab must be 17.4 or newer"
        raise ValueError(message)
    status = str(hook_event.response_status)
    return HostDelivery(
        id=str(hook_event.id),
        delivery_id=delivery_id,
        event=one_line(headers.get(GITLAB.event_header.lower(), ""), _TEXT_LENGTH),
        action=None,
        # Not a number where there was no answer.
        status_code=int(status) if status.isdecimal() and len(status) < len("1000") else 0,
        delivered_at=whole_ms(hook_event.created_at),
    )


def _commit(commit: _Commit) -> Commit:
    return Commit(
        id=storable(commit.id),
        message=storable(commit.message),
        author=Author(name=storable(commit.author_name), email=storable(commit.author_email or "")),
        timestamp=storable(commit.authored_date),
        url=storable(commit.web_url),
    )


def _described(repository_id: int, commit: str | None, merge_request: _MergeRequest) -> PullRequest | None:
    if merge_request.project_id != repository_id:
        return None
    merged = merge_request.merge_commit_sha or merge_request.squash_commit_sha or merge_request.sha
    return described_pull_request(
        merge_request.iid,
        title=merge_request.title,
        body=merge_request.description,
        labels=merge_request.labels or (),
        author=None if merge_request.author is None else merge_request.author.username,
        first_contribution=bool(merge_request.first_contribution),
        merged_sha=commit or (merged if merge_request.state == _MERGED else None),
    )
