from datetime import datetime
from itertools import count
from typing import Annotated, Final, final

import msgspec
from attrs import evolve

from contentsvc_adapters.codehosts.dialects import HostDialect, host_dialect
from contentsvc_adapters.codehosts.host import HookPage, RestHost, done
from contentsvc_adapters.codehosts.pull_requests import read_pull_requests
from contentsvc_adapters.codehosts.rest_client import Response, read_answer
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
from contentsvc_core.content.pull_requests import NamedPullRequests
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.identifiers import MAX_REPOSITORY_ID, is_delivery_id, is_full_name
from contentsvc_core.text import one_line, storable
from contentsvc_core.timestamps import whole_ms

#: The largest page that both dialects allow.
_PAGE: Final = 50
#: No repository has more hooks than this many pages hold (GitHub allows 20 for each event).
_HOOK_PAGES: Final = 20
_DELIVERIES_PAGE: Final = 100
#: 10,000 attempts: three days of a busy repository.
_DELIVERIES_PAGES: Final = 100
_TEXT_LENGTH: Final = 64
#: Parameters that leave out the slow parts of a commit.
_BRIEF: Final = {"stat": "false", "verification": "false", "files": "false"}
_NO_DELIVERIES: Final = HostRefusal(
    fault=HostFault.UNSUPPORTED,
    reason=(
        "this code host's API does not list deliveries: open the webhook in the repository's settings there, "
        "and use 'redeliver' on each that failed"
    ),
)

_NO_COMMITS: Final = HostRefusal(fault=HostFault.UNSUPPORTED, reason="this code host lists all commits of a push")
#: Older versions ignore the parameter that ends the list.
_NO_RANGE: Final = HostRefusal(
    fault=HostFault.UNSUPPORTED,
    reason="this version does not list the commits of a push: update to Gitea 1.20 or newer",
)


class _Repository(msgspec.Struct):
    id: Annotated[int, msgspec.Meta(ge=1, le=MAX_REPOSITORY_ID)]
    full_name: str
    default_branch: str | None = None


class _Hook(msgspec.Struct):
    id: int


class _HookConfig(msgspec.Struct):
    url: str | None = None


class _ListedHook(msgspec.Struct):
    id: int
    config: _HookConfig


class _Delivery(msgspec.Struct):
    id: int
    guid: str
    event: str
    delivered_at: Annotated[datetime, msgspec.Meta(tz=True)]
    status_code: int
    action: str | None = None


class _Signature(msgspec.Struct):
    name: str
    email: str
    date: str


class _CommitText(msgspec.Struct):
    message: str
    author: _Signature


class _Account(msgspec.Struct):
    login: str


class _Commit(msgspec.Struct):
    sha: str
    html_url: str
    commit: _CommitText
    author: _Account | None = None


@final
class RestCodeHost(RestHost):
    root = "repos"
    hook_pages = _HOOK_PAGES

    def __init__(self, api_url: str, *, timeout_s: float = 15.0) -> None:
        super().__init__(api_url, timeout_s=timeout_s)
        self._dialect = host_dialect(api_url.rstrip("/"))
        self.lists_deliveries = self._dialect.lists_deliveries

    @classmethod
    def dialect_at(cls, api_url: str, /) -> HostDialect:
        return host_dialect(api_url)

    async def repository(self, full_name: str, *, token: str | None) -> HostAnswer[RemoteRepository] | HostRefusal:
        return read_answer(await self._client.request("GET", self._at(full_name), token=token), _Repository, _hosted)

    async def create_hook(self, full_name: str, hook: Hook, *, token: str) -> HostAnswer[str] | HostRefusal:
        body = self._dialect.new_body(hook)
        path = self._at(full_name, "hooks")
        answered = await self._client.request("POST", path, token=token, body=body, secrets=[hook.secret])
        return read_answer(answered, _Hook, lambda made: str(made.id))

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        below = [self._dialect.config_path] if self._dialect.config_path else []
        path = self._at(full_name, "hooks", hook_id, *below)
        body = self._dialect.secret_body(secret)
        answered = await self._client.request("PATCH", path, token=token, body=body, secrets=[secret])
        # A page of a proxy, such as one to sign in, must not pass for a changed secret.
        return read_answer(answered, dict[str, msgspec.Raw], lambda _: None)

    async def _hook_page(self, full_name: str, number: int, token: str) -> HostAnswer[HookPage] | HostRefusal:
        # The page size has another name in each dialect; each ignores the other's.
        query = {"page": str(number), "per_page": str(_PAGE), "limit": str(_PAGE)}
        answered = await self._client.request("GET", self._at(full_name, "hooks"), token=token, query=query)
        return read_answer(
            answered, list[_ListedHook], lambda page: ([(str(h.id), h.config.url or "") for h in page], not page)
        )

    async def deliveries(
        self, full_name: str, hook_id: str, *, since: datetime, token: str
    ) -> HostAnswer[HostDeliveries] | HostRefusal:
        if not self.lists_deliveries:
            return _NO_DELIVERIES
        attempts: list[HostDelivery] = []
        cursor: str | None = None
        status = 0
        for _ in range(_DELIVERIES_PAGES):
            query = {"per_page": str(_DELIVERIES_PAGE), **({} if cursor is None else {"cursor": cursor})}
            path = self._at(full_name, "hooks", hook_id, "deliveries")
            answered = await self._client.request("GET", path, token=token, query=query)
            page = read_answer(answered, list[_Delivery], lambda listed: [_attempt(each) for each in listed])
            if isinstance(page, HostRefusal):
                return page
            status = page.status
            attempts += (each for each in page.value if each.delivered_at >= since)
            cursor = answered.next_cursor if isinstance(answered, Response) else None
            if cursor is None or any(each.delivered_at < since for each in page.value):
                return HostAnswer(value=HostDeliveries(attempts=attempts, complete=True), status=status)
        return HostAnswer(value=HostDeliveries(attempts=attempts, complete=False), status=status)

    async def redeliver(
        self, full_name: str, hook_id: str, attempt_id: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        if not self.lists_deliveries:
            return _NO_DELIVERIES
        path = self._at(full_name, "hooks", hook_id, "deliveries", attempt_id, "attempts")
        return done(await self._client.request("POST", path, token=token))

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        if not self._dialect.cuts_pushes:
            return HostCommits(refusal=_NO_COMMITS)
        client = self._client.granted(self._dialect.reading_grant)
        wanted = {"sha": commit_range.head, "limit": str(_PAGE), **_BRIEF}
        if commit_range.before:
            wanted["not"] = commit_range.before
        commits: list[Commit] = []
        for number in count(1):
            path = self._at(full_name, "commits")
            answered = await client.request("GET", path, token=token, query={**wanted, "page": str(number)})
            page = read_answer(answered, list[_Commit], lambda each: [_commit(commit) for commit in each])
            if isinstance(page, HostRefusal):
                return HostCommits(refusal=page)
            commits += page.value
            # A server may have shorter pages.
            if not page.value or len(commits) > commit_range.limit:
                break
        if any(commit.id == commit_range.before for commit in commits):
            return HostCommits(refusal=_NO_RANGE)
        return HostCommits(found=reversed(commits[: commit_range.limit]), is_cut=len(commits) > commit_range.limit)

    async def pull_requests(
        self, full_name: str, repository_id: int, named: NamedPullRequests, *, token: str
    ) -> HostPullRequests:
        client = self._client.granted(self._dialect.reading_grant)
        return await read_pull_requests(client, self._dialect, full_name, repository_id, named, token)


def _hosted(repository: _Repository) -> RemoteRepository:
    if not is_full_name(repository.full_name):
        message = "full_name is not of the form OWNER/NAME"
        raise ValueError(message)
    branch = repository.default_branch or None
    return RemoteRepository(
        id=repository.id, full_name=repository.full_name, default_branch=branch and one_line(branch, 255)
    )


def _commit(commit: _Commit) -> Commit:
    author, account = commit.commit.author, commit.author
    return Commit(
        id=storable(commit.sha),
        message=storable(commit.commit.message),
        author=Author(
            name=storable(author.name), email=storable(author.email), username=account and storable(account.login)
        ),
        timestamp=storable(author.date),
        url=storable(commit.html_url),
    )


def _attempt(hook_delivery: _Delivery) -> HostDelivery:
    if not is_delivery_id(hook_delivery.guid):
        message = "guid is no delivery id"
        raise ValueError(message)
    attempt = HostDelivery(
        id=str(hook_delivery.id),
        delivery_id=hook_delivery.guid,
        event=one_line(hook_delivery.event, _TEXT_LENGTH),
        action=hook_delivery.action,
        status_code=hook_delivery.status_code,
        delivered_at=whole_ms(hook_delivery.delivered_at),
    )
    return (
        attempt
        if hook_delivery.action is None
        else evolve(attempt, action=one_line(hook_delivery.action, _TEXT_LENGTH))
    )
