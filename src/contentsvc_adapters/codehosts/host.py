import copy
from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final, Self, TypeAlias

import msgspec

from contentsvc_adapters.codehosts.rest_client import Response, RestClient, read_answer
from contentsvc_core.code_hosts import HostAnswer, HostPullRequests, HostRefusal
from contentsvc_core.content.pull_requests import PullRequest

#: The most requests for one repository where each pull request needs its own: half of a run's patience at 0.25 s each.
ONE_BY_ONE: Final = 40
HookPage: TypeAlias = tuple[Sequence[tuple[str, str]], bool]
PullRequestLookup: TypeAlias = tuple[str, Any, Callable[[Any], PullRequest | None]]


class _Addressed(msgspec.Struct):
    url: str


class RestHost:
    _client: RestClient

    def within(self, limit_s: float) -> Self:
        limited = copy.copy(self)
        limited._client = self._client.within(limit_s)  # noqa: SLF001  # a copy of this one
        return limited

    async def close(self) -> None:
        await self._client.close()


def done(answered: Response | HostRefusal) -> HostAnswer[None] | HostRefusal:
    return answered if isinstance(answered, HostRefusal) else HostAnswer(value=None, status=answered.status)


async def find_in_pages(
    read_page: Callable[[int], Awaitable[HostAnswer[HookPage] | HostRefusal]], path: str, *, at_most: int
) -> HostAnswer[str | None] | HostRefusal:
    """Return the id of the webhook whose address ends with ``path``; ``read_page`` takes page numbers, from 1 on."""
    status = 0
    for number in range(1, at_most + 1):
        page = await read_page(number)
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


async def replace_hook(
    client: RestClient, path: str, body: Callable[[str], dict[str, Any]], *, token: str, secret: str
) -> HostAnswer[None] | HostRefusal:
    """Write a webhook anew, at an API that wants the whole webhook; ``body`` gets its present address."""
    answer = read_answer(await client.request("GET", path, token=token), _Addressed, lambda hook: hook.url)
    if isinstance(answer, HostRefusal):
        return answer
    return done(await client.request("PUT", path, token=token, body=body(answer.value), secrets=[secret]))


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
