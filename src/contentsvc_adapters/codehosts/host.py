import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.rest_client import Response, RestClient, read_answer
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostAnswer,
    HostCommits,
    HostDeliveries,
    HostDelivery,
    HostFault,
    HostPullRequests,
    HostRefusal,
    RemoteRepository,
)
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest
from contentsvc_core.events.normalized import Commit

#: The most requests for one repository where each pull request needs its own: half of a run's patience at 0.25 s each.
ONE_BY_ONE: Final = 40
#: No repository has more webhooks than these pages hold: GitHub allows 20 for each event, GitLab 100, Bitbucket 50.
_HOOK_PAGES: Final = 20
#: At least 2,000 attempts.
_DELIVERIES_PAGES: Final = 100
#: Gitea before 1.20 ignores the parameter that ends the list.
_NO_RANGE: Final = HostRefusal(
    fault=HostFault.UNSUPPORTED,
    reason="this version does not list the commits of a push: update to Gitea 1.20 or newer",
)
PullRequestLookup: TypeAlias = tuple[str, Any, Callable[[Any], PullRequest | None]]
#: The parameters that a page of a list is requested with.
Query: TypeAlias = Mapping[str, str]
_Value = TypeVar("_Value")
_Value_co = TypeVar("_Value_co", covariant=True)


class Readable(Protocol[_Value_co]):
    """A part of an answer; :meth:`read` raises ``ValueError`` for values that the API does not have."""

    def read(self) -> _Value_co: ...


class _Addressed(msgspec.Struct):
    url: str


class RestHost(ABC):
    """The requests that all clients make alike."""

    #: The first part of the path of a repository.
    root: ClassVar[str]
    #: The name of a webhook's deliveries in paths, and of the request for another attempt.
    names_of_deliveries: ClassVar[tuple[str, str]] = ("deliveries", "attempts")
    #: The parameters of first pages.
    hooks_query: ClassVar[Query]
    deliveries_query: ClassVar[Query] = {}
    repository_shape: ClassVar[type[Readable[RemoteRepository]]]
    #: It reads the id and the address of a webhook.
    hook_shape: ClassVar[type[Readable[tuple[str, str]]]]
    delivery_shape: ClassVar[type[Readable[HostDelivery]]]
    commit_shape: ClassVar[type[Readable[Commit]]]

    def __init__(self, api_url: str, *, timeout_s: float = 15.0) -> None:
        api_url = api_url.rstrip("/")
        self._api = self.dialect_at(api_url)
        self._client = RestClient(api_url, self._api, timeout_s=timeout_s)

    @classmethod
    @abstractmethod
    def dialect_at(cls, api_url: str, /) -> ApiConventions: ...

    def within(self, limit_s: float, *, limit_bytes: float = math.inf) -> Self:
        limited = copy.copy(self)
        limited._client = self._client.within(limit_s, limit_bytes)  # noqa: SLF001  # a copy of this one
        return limited

    async def close(self) -> None:
        await self._client.close()

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        answered = await self._client.request("GET", self._at(full_name), token=token)
        return read_answer(answered, self.repository_shape, lambda repository: repository.read())

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        path, body = self._at(full_name, "hooks"), self._new_hook(hook)
        answered = await self._client.request("POST", path, token=token, body=body, secrets=[hook.secret])
        return read_answer(answered, self.hook_shape, lambda made: made.read()[0])

    async def find_hook(self, full_name: str, path: str, *, token: str) -> HostAnswer[str | None] | HostRefusal:
        def found(hooks: Sequence[tuple[str, str]]) -> str | None:
            return next((id_ for id_, url in hooks if url.endswith(path)), None)

        hooks = await self._list(
            self._at(full_name, "hooks"), self.hooks_query, self.hook_shape, token, until=found, pages=_HOOK_PAGES
        )
        if isinstance(hooks, HostRefusal):
            return hooks
        return HostAnswer(value=found(hooks.value[0]), status=hooks.status)

    async def remove_hook(self, full_name: str, hook_id: str, *, token: str) -> HostAnswer[None] | HostRefusal:
        return done(await self._client.request("DELETE", self._at(full_name, "hooks", hook_id), token=token))

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        if self._api.no_deliveries is not None:
            return HostRefusal(fault=HostFault.UNSUPPORTED, reason=self._api.no_deliveries)

        def go_back(attempts: Sequence[HostDelivery]) -> bool:
            return bool(attempts) and attempts[-1].delivered_at < since

        path = self._at(full_name, "hooks", hook_id, self.names_of_deliveries[0])
        listed = await self._list(
            path, self.deliveries_query, self.delivery_shape, token, until=go_back, pages=_DELIVERIES_PAGES
        )
        if isinstance(listed, HostRefusal):
            return listed
        attempts, complete = listed.value
        recent = [each for each in attempts if each.delivered_at >= since]
        return HostAnswer(value=HostDeliveries(attempts=recent, complete=complete), status=listed.status)

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        if self._api.no_deliveries is not None:
            return HostRefusal(fault=HostFault.UNSUPPORTED, reason=self._api.no_deliveries)
        deliveries, attempts = self.names_of_deliveries
        path = self._at(full_name, "hooks", hook_id, deliveries, attempt_id, attempts)
        return done(await self._client.request("POST", path, token=token))

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        limit = commit_range.limit
        path, query = self._commits_at(full_name, commit_range)
        listed = await self._list(
            path,
            query,
            self.commit_shape,
            token,
            until=lambda commits: len(commits) > limit,
            # Each page has a commit, except the last one.
            pages=limit + 1,
            client=self._client.granted(self._api.reading_grant),
        )
        if isinstance(listed, HostRefusal):
            return HostCommits(refusal=listed)
        commits, _ = listed.value
        if any(commit.id == commit_range.before for commit in commits):
            return HostCommits(refusal=_NO_RANGE)
        return HostCommits(found=reversed(commits[:limit]), is_cut=len(commits) > limit)

    async def _list(
        self,
        path: str,
        query: Query,
        shape: type[Readable[_Value]],
        token: str,
        *,
        until: Callable[[Sequence[_Value]], object],
        pages: int,
        client: RestClient | None = None,
    ) -> HostAnswer[tuple[Sequence[_Value], bool]] | HostRefusal:
        """Read pages of a list ``until`` a condition is met; return the values, and whether nothing was cut off."""
        values: list[_Value] = []
        status = 0
        for _ in range(pages):
            answered = await (client or self._client).request("GET", path, token=token, query=query)
            cursor = answered.next_cursor if isinstance(answered, Response) else None
            page = read_answer(answered, self._page_of(shape), partial(self._values, query, cursor))
            if isinstance(page, HostRefusal):
                return page
            found, following = page.value
            values += found
            status = page.status
            if following is None or until(values):
                return HostAnswer(value=(values, True), status=status)
            query = following
        return HostAnswer(value=(values, False), status=status)

    def _page_of(self, shape: type[Any]) -> Any:  # noqa: ANN401  # no type describes types of lists
        return list[shape]

    @abstractmethod
    def _values(self, query: Query, cursor: str | None, page: Any) -> tuple[Sequence[Any], Query | None]:  # noqa: ANN401  # of that type
        """Return the values on a page, and the parameters of the next page; ``None``: it is the last one."""

    @abstractmethod
    def _new_hook(self, hook: Hook) -> dict[str, Any]: ...

    @abstractmethod
    def _commits_at(self, full_name: str, commit_range: CommitRange) -> tuple[str, Query]: ...

    def _at(self, full_name: str, *parts: str) -> str:
        # The name was checked before; ids come from the code host and are untrusted.
        return "/".join(["", self.root, full_name, *(quote(part, safe="") for part in parts)])


class FullUpdateHost(RestHost):
    """A client of an API that changes a webhook by writing the whole webhook."""

    api: ClassVar[ApiConventions]

    @classmethod
    def dialect_at(cls, _api_url: str, /) -> ApiConventions:
        return cls.api

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        path = self._at(full_name, "hooks", hook_id)
        answer = read_answer(await self._client.request("GET", path, token=token), _Addressed, lambda hook: hook.url)
        if isinstance(answer, HostRefusal):
            return answer
        body = self._hook_body(answer.value, secret)
        return done(await self._client.request("PUT", path, token=token, body=body, secrets=[secret]))

    async def pull_requests(
        self, full_name: str, repository_id: int, named: NamedPullRequests, *, token: str
    ) -> HostPullRequests:
        client = self._client.granted(self.api.reading_grant)
        return await read_one_by_one(
            client, self._lookups(full_name, repository_id, named.first(ONE_BY_ONE)), token=token
        )

    @abstractmethod
    def _hook_body(self, url: str, secret: str) -> dict[str, Any]: ...

    @abstractmethod
    def _lookups(self, full_name: str, repository_id: int, named: NamedPullRequests) -> Iterator[PullRequestLookup]:
        """Yield the request for each pull request, by its number or by a commit of it."""


def done(answered: Response | HostRefusal) -> HostAnswer[None] | HostRefusal:
    if isinstance(answered, HostRefusal) or answered.body.strip():
        # A page of a proxy, such as one to sign in, must not pass for a change.
        return read_answer(answered, msgspec.Raw, lambda _: None)
    return HostAnswer(value=None, status=answered.status)


async def read_one_by_one(client: RestClient, lookups: Iterable[PullRequestLookup], *, token: str) -> HostPullRequests:
    pull_requests: dict[int, PullRequest] = {}
    for path, shape, described in lookups:
        answer = read_answer(await client.request("GET", path, token=token), shape, described)
        if isinstance(answer, HostRefusal):
            if answer.status == HTTPStatus.NOT_FOUND:
                continue
            return HostPullRequests(found=pull_requests.values(), refusal=answer)
        if answer.value is not None:
            pull_requests[answer.value.number] = answer.value
    return HostPullRequests(found=pull_requests.values())
