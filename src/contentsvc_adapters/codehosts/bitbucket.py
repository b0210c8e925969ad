"""Bitbucket Cloud over its REST API, version 2.0 (port :class:`~contentsvc_core.ports.CodeHost`)."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar, final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.host import FullUpdateHost, PullRequestLookup, Query
from contentsvc_core.code_hosts import CommitRange, Hook, RemoteRepository
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, described_pull_request
from contentsvc_core.events.normalized import Commit
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers.bitbucket import BitbucketCommit, bitbucket_commit, repository_number

_PAGES: Final[Query] = {"page": "1", "pagelen": "100"}
_MERGED: Final = "MERGED"
_API: Final = ApiConventions(
    scheme="Bearer",
    headers={"Accept": "application/json"},
    grant="an access token of the repository needs the permissions 'Repositories: Read' and 'Webhooks: Read and write'",
    reading_grant="an access token of the repository needs 'Repositories: Read' and 'Pull requests: Read'",
    # Public, unlike the root.
    probe="/hook_events",
    no_deliveries=(
        "Bitbucket's API does not list deliveries: open the webhook under Repository settings, Webhooks, "
        "View requests, and use 'Resend request' on each that failed"
    ),
)
_Shape = TypeVar("_Shape")


class _Branch(msgspec.Struct):
    name: str


class _Repository(msgspec.Struct):
    uuid: str
    full_name: str
    mainbranch: _Branch | None = None

    def read(self) -> RemoteRepository:
        number = repository_number(self.uuid)
        if number is None or not is_full_name(self.full_name):
            message = "uuid or full_name is not that of a repository"
            raise ValueError(message)
        branch = self.mainbranch
        return RemoteRepository(
            id=number, full_name=self.full_name, default_branch=branch and (one_line(branch.name, 255) or None)
        )


class _Hook(msgspec.Struct):
    uuid: str
    url: str = ""

    def read(self) -> tuple[str, str]:
        return self.uuid, self.url


class _Commit(BitbucketCommit, frozen=True):
    def read(self) -> Commit:
        return bitbucket_commit(self)


class _Page(msgspec.Struct, Generic[_Shape]):
    values: list[_Shape]
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


@final
class BitbucketClient(FullUpdateHost):
    api = _API
    root = "repositories"
    hooks_query = _PAGES
    repository_shape = _Repository
    hook_shape = _Hook
    commit_shape = _Commit

    def _page_of(self, shape: type[Any]) -> Any:  # noqa: ANN401  # as in the base
        return _Page[shape]

    def _values(self, query: Query, cursor: str | None, page: "_Page[Any]") -> tuple[Sequence[Any], Query | None]:
        del cursor
        values, following = [each.read() for each in page.values], dict(parse_qsl(urlsplit(page.next or "").query))
        if "page" not in following or not values:
            return values, None
        # Without "ctx", the page of a list that changes may be that of another list.
        return values, {**query, **{name: following[name] for name in ("page", "ctx") if name in following}}

    def _commits_at(self, full_name: str, commit_range: CommitRange) -> tuple[str, Query]:
        excluded = {"exclude": commit_range.before} if commit_range.before else {}
        return self._at(full_name, "commits", commit_range.head), {**_PAGES, **excluded}

    def _lookups(self, full_name: str, repository_id: int, named: NamedPullRequests) -> Iterator[PullRequestLookup]:
        for number in named.numbers:
            path = self._at(full_name, "pullrequests", str(number))
            yield path, _PullRequest, partial(_described, repository_id, None)
        for commit in named.commits:
            path = self._at(full_name, "commit", commit, "pullrequests")
            yield path, _Page[_PullRequest], partial(_merged, repository_id, commit)

    def _new_hook(self, hook: Hook) -> dict[str, Any]:
        return self._hook_body(hook.url, hook.secret)

    def _hook_body(self, url: str, secret: str) -> dict[str, Any]:
        return {"description": "contentsvc", "url": url, "active": True, "secret": secret, "events": ["repo:push"]}


def _merged(repository_id: int, commit: str, page: _Page[_PullRequest]) -> PullRequest | None:
    # Open requests contain the commit, too: take the one that merged it.
    merged = next((each for each in page.values if each.state == _MERGED), None)
    return None if merged is None else _described(repository_id, commit, merged)


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
