from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, final

import msgspec

from contentsvc_adapters.codehosts.dialects import HostDialect, host_dialect
from contentsvc_adapters.codehosts.host import Query, Readable, RestHost
from contentsvc_adapters.codehosts.pull_requests import read_pull_requests
from contentsvc_adapters.codehosts.rest_client import read_answer
from contentsvc_core.code_hosts import (
    CommitRange,
    Hook,
    HostAnswer,
    HostCommits,
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
_PAGE: Final = "50"
_TEXT_LENGTH: Final = 64
#: Parameters that leave out the slow parts of a commit.
_BRIEF: Final = {"stat": "false", "verification": "false", "files": "false"}
_NO_COMMITS: Final = HostRefusal(fault=HostFault.UNSUPPORTED, reason="this code host lists all commits of a push")


class _Repository(msgspec.Struct):
    id: Annotated[int, msgspec.Meta(ge=1, le=MAX_REPOSITORY_ID)]
    full_name: str
    default_branch: str | None = None

    def read(self) -> RemoteRepository:
        if not is_full_name(self.full_name):
            message = "full_name is not of the form OWNER/NAME"
            raise ValueError(message)
        branch = self.default_branch or None
        return RemoteRepository(id=self.id, full_name=self.full_name, default_branch=branch and one_line(branch, 255))


class _HookConfig(msgspec.Struct):
    url: str | None = None


class _Hook(msgspec.Struct):
    id: int
    config: _HookConfig | None = None

    def read(self) -> tuple[str, str]:
        return str(self.id), (self.config and self.config.url) or ""


class _Delivery(msgspec.Struct):
    id: int
    guid: str
    event: str
    delivered_at: Annotated[datetime, msgspec.Meta(tz=True)]
    status_code: int
    action: str | None = None

    def read(self) -> HostDelivery:
        if not is_delivery_id(self.guid):
            message = "guid is no delivery id"
            raise ValueError(message)
        return HostDelivery(
            id=str(self.id),
            delivery_id=self.guid,
            event=one_line(self.event, _TEXT_LENGTH),
            action=None if self.action is None else one_line(self.action, _TEXT_LENGTH),
            status_code=self.status_code,
            delivered_at=whole_ms(self.delivered_at),
        )


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

    def read(self) -> Commit:
        author, account = self.commit.author, self.author
        return Commit(
            id=storable(self.sha),
            message=storable(self.commit.message),
            author=Author(
                name=storable(author.name), email=storable(author.email), username=account and storable(account.login)
            ),
            timestamp=storable(author.date),
            url=storable(self.html_url),
        )


@final
class RestCodeHost(RestHost):
    root = "repos"
    # The page size has another name in each dialect; each ignores the other's.
    hooks_query: ClassVar[Query] = {"page": "1", "per_page": _PAGE, "limit": _PAGE}
    deliveries_query: ClassVar[Query] = {"per_page": "100"}
    repository_shape = _Repository
    hook_shape = _Hook
    delivery_shape = _Delivery
    commit_shape = _Commit

    def __init__(self, api_url: str, *, timeout_s: float = 15.0) -> None:
        super().__init__(api_url, timeout_s=timeout_s)
        self._dialect = host_dialect(api_url.rstrip("/"))

    @classmethod
    def dialect_at(cls, api_url: str, /) -> HostDialect:
        return host_dialect(api_url)

    async def change_secret(
        self, full_name: str, hook_id: str, secret: str, *, token: str
    ) -> HostAnswer[None] | HostRefusal:
        below = [self._dialect.config_path] if self._dialect.config_path else []
        path = self._at(full_name, "hooks", hook_id, *below)
        body = self._dialect.secret_body(secret)
        answered = await self._client.request("PATCH", path, token=token, body=body, secrets=[secret])
        # A page of a proxy, such as one to sign in, must not pass for a changed secret.
        return read_answer(answered, dict[str, msgspec.Raw], lambda _: None)

    async def commits(self, full_name: str, commit_range: CommitRange, *, token: str) -> HostCommits:
        if not self._dialect.cuts_pushes:
            return HostCommits(refusal=_NO_COMMITS)
        return await super().commits(full_name, commit_range, token=token)

    async def pull_requests(
        self, full_name: str, repository_id: int, named: NamedPullRequests, *, token: str
    ) -> HostPullRequests:
        client = self._client.granted(self._dialect.reading_grant)
        return await read_pull_requests(client, self._dialect, full_name, repository_id, named, token)

    def _new_hook(self, hook: Hook) -> dict[str, Any]:
        return self._dialect.new_body(hook)

    def _values(
        self, query: Query, cursor: str | None, page: list[Readable[Any]]
    ) -> tuple[Sequence[Any], Query | None]:
        values = [each.read() for each in page]
        if "page" not in query:
            return values, None if cursor is None else {**query, "cursor": cursor}
        # A server may have shorter pages.
        return values, {**query, "page": str(int(query["page"]) + 1)} if page else None

    def _commits_at(self, full_name: str, commit_range: CommitRange) -> tuple[str, Query]:
        excluded = {"not": commit_range.before} if commit_range.before else {}
        query = {"page": "1", "sha": commit_range.head, "limit": _PAGE, **_BRIEF, **excluded}
        return self._at(full_name, "commits"), query
