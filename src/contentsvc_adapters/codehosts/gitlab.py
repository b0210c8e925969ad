"""GitLab over its REST API, version 4 (port :class:`~contentsvc_core.ports.CodeHost`)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, final
from urllib.parse import quote

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.host import FullUpdateHost, PullRequestLookup, Query, Readable
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostDelivery,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, described_pull_request
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_delivery_id, is_full_name
from contentsvc_core.text import one_line, storable
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.webhooks.providers.gitlab import GITLAB

_PAGES: Final[Query] = {"page": "1", "per_page": "100"}
#: The pages of webhook events are smaller.
_EVENT_PAGES: Final[Query] = {"page": "1", "per_page": "20"}
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

    def read(self) -> RemoteRepository:
        if not is_full_name(self.path_with_namespace, nested=True):
            message = "path_with_namespace is not the path of a project"
            raise ValueError(message)
        branch = self.default_branch or None
        return RemoteRepository(
            id=self.id, full_name=self.path_with_namespace, default_branch=branch and one_line(branch, 255)
        )


class _Hook(msgspec.Struct):
    id: int
    url: str = ""

    def read(self) -> tuple[str, str]:
        return str(self.id), self.url


class _Event(msgspec.Struct):
    id: int
    request_headers: dict[str, Any]
    response_status: str | int
    created_at: Annotated[datetime, msgspec.Meta(tz=True)]

    def read(self) -> HostDelivery:
        headers = {name.lower(): value for name, value in self.request_headers.items() if isinstance(value, str)}
        delivery_id = headers.get(GITLAB.delivery_header.lower(), "")
        if not is_delivery_id(delivery_id):
            message = f"an event has no {GITLAB.delivery_header}: GitLab must be 17.4 or newer"
            raise ValueError(message)
        status = str(self.response_status)
        return HostDelivery(
            id=str(self.id),
            delivery_id=delivery_id,
            event=one_line(headers.get(GITLAB.event_header.lower(), ""), _TEXT_LENGTH),
            action=None,
            # Not a number where there was no answer.
            status_code=int(status) if status.isdecimal() and len(status) < len("1000") else 0,
            delivered_at=whole_ms(self.created_at),
        )


class _Commit(msgspec.Struct):
    id: str
    message: str
    author_name: str
    author_email: str | None
    authored_date: str
    web_url: str

    def read(self) -> Commit:
        return Commit(
            id=storable(self.id),
            message=storable(self.message),
            author=Author(name=storable(self.author_name), email=storable(self.author_email or "")),
            timestamp=storable(self.authored_date),
            url=storable(self.web_url),
        )


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
    names_of_deliveries = ("events", "resend")
    hooks_query = _PAGES
    deliveries_query = _EVENT_PAGES
    repository_shape = _Project
    hook_shape = _Hook
    delivery_shape = _Event
    commit_shape = _Commit

    def _values(
        self, query: Query, cursor: str | None, page: list[Readable[Any]]
    ) -> tuple[Sequence[Any], Query | None]:
        del cursor
        is_last = len(page) < int(query["per_page"])
        return [each.read() for each in page], None if is_last else {**query, "page": str(int(query["page"]) + 1)}

    def _commits_at(self, full_name: str, commit_range: CommitRange) -> tuple[str, Query]:
        before, head = commit_range.before, commit_range.head
        ref_name = f"{before}..{head}" if before else head
        return self._at(full_name, "repository", "commits"), {**_PAGES, "ref_name": ref_name}

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

    def _new_hook(self, hook: Hook) -> dict[str, Any]:
        return {**self._hook_body(hook.url, hook.secret), "name": "contentsvc"}

    def _hook_body(self, url: str, secret: str) -> dict[str, Any]:
        return {
            "url": url,
            "token": secret,
            "push_events": True,
            "releases_events": True,
            "enable_ssl_verification": True,
        }


def _merged(repository_id: int, commit: str, page: list[_MergeRequest]) -> PullRequest | None:
    # Open requests contain the commit, too: take the one that merged it.
    merged = next((each for each in page if each.state == _MERGED), None)
    return None if merged is None else _described(repository_id, commit, merged)


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
