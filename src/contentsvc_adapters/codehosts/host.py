import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any, ClassVar, Final, Self, TypeAlias
from urllib.parse import quote

import msgspec

from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.rest_client import Response, RestClient, read_answer
from contentsvc_core.code_hosts import HostAnswer, HostPullRequests, HostRefusal
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest

#: The most requests for one repository where each pull request needs its own: half of a run's patience at 0.25 s each.
ONE_BY_ONE: Final = 40
HookPage: TypeAlias = tuple[Sequence[tuple[str, str]], bool]
PullRequestLookup: TypeAlias = tuple[str, Any, Callable[[Any], PullRequest | None]]


class _Addressed(msgspec.Struct):
    url: str


class RestHost(ABC):
    """The requests that all clients make alike."""

    api: ClassVar[ApiConventions]
    #: The first part of the path of a repository.
    root: ClassVar[str]
    hook_pages: ClassVar[int]

    def __init__(self, api_url: str, *, timeout_s: float = 15.0) -> None:
        api_url = api_url.rstrip("/")
        self._client = RestClient(api_url, self.dialect_at(api_url), timeout_s=timeout_s)

    @classmethod
    def dialect_at(cls, _api_url: str, /) -> ApiConventions:
        return cls.api

    def within(self, limit_s: float, *, limit_bytes: float = math.inf) -> Self:
        limited = copy.copy(self)
        limited._client = self._client.within(limit_s, limit_bytes)  # noqa: SLF001  # a copy of this one
        return limited

    async def close(self) -> None:
        await self._client.close()

    async def find_hook(self, full_name: str, path: str, *, token: str) -> HostAnswer[str | None] | HostRefusal:
        status = 0
        for number in range(1, self.hook_pages + 1):
            page = await self._hook_page(full_name, number, token)
            if isinstance(page, HostRefusal):
                return page
            status = page.status
            hooks, is_last = page.value
            for hook_id, url in hooks:
                if url.endswith(path):
                    return HostAnswer(value=hook_id, status=status)
            if is_last:
                break
        return HostAnswer(value=None, status=status)

    async def remove_hook(self, full_name: str, hook_id: str, *, token: str) -> HostAnswer[None] | HostRefusal:
        return done(await self._client.request("DELETE", self._at(full_name, "hooks", hook_id), token=token))

    @abstractmethod
    async def _hook_page(self, full_name: str, number: int, token: str) -> HostAnswer[HookPage] | HostRefusal:
        """Read a page of a repository's webhooks, by its number from 1 on."""

    def _at(self, full_name: str, *parts: str) -> str:
        # The name was checked before; ids come from the code host and are untrusted.
        return "/".join(["", self.root, full_name, *(quote(part, safe="") for part in parts)])


class FullUpdateHost(RestHost):
    """A client of an API that changes a webhook by writing the whole webhook."""

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
