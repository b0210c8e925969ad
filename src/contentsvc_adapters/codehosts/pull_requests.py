"""Reads pull requests: by GraphQL at GitHub, which alone reports first contributions; elsewhere one by one."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import msgspec
from attrs import evolve, field, frozen

from contentsvc_adapters.codehosts.dialects import HostDialect
from contentsvc_adapters.codehosts.host import ONE_BY_ONE, PullRequestLookup, read_one_by_one
from contentsvc_adapters.codehosts.rest_client import Response, RestClient, read_answer
from contentsvc_core.code_hosts import HostFault, HostPullRequests, HostRefusal
from contentsvc_core.content.pull_requests import (
    MAX_LABELS,
    NamedPullRequests,
    PullRequest,
    described_pull_request,
)
from contentsvc_core.text import one_line

#: Pull requests in a query: fifteen of the longest bodies fit into the largest answer that is read (4 MiB).
BATCH: Final = 15
#: Authors whose first contribution is searched in one query: each is a search, and GitHub ends a query after 10 s.
AUTHORS: Final = 20
#: Pull requests of an author that are read, oldest first: few precede the first merged one.
_OLDEST: Final = 10

_GRAPHQL_FIELDS: Final = (
    "number title body authorAssociation mergeCommit { oid } author { __typename login } "
    f"labels(first: {MAX_LABELS}) {{ nodes {{ name }} }} repository {{ databaseId nameWithOwner }}"
)
_FIRST: Final = frozenset({"FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR"})
#: Members of the project: their first contributions are not mentioned.
_INSIDERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
#: An account that is safe in a search: letters, digits, hyphens, and the underscore of managed users.
_LOGIN: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?", re.ASCII)


class _Label(msgspec.Struct):
    name: str


class _Commit(msgspec.Struct):
    oid: str


class _Actor(msgspec.Struct, rename={"kind": "__typename"}):
    login: str
    kind: str


class _GraphRepository(msgspec.Struct, rename="camel"):
    name_with_owner: str
    database_id: int | None = None


class _Labels(msgspec.Struct):
    nodes: list[_Label | None] | None = None


class _GraphPull(msgspec.Struct, rename="camel"):
    number: int
    title: str
    repository: _GraphRepository
    body: str | None = None
    author_association: str = ""
    merge_commit: _Commit | None = None
    author: _Actor | None = None
    labels: _Labels | None = None


class _GraphPulls(msgspec.Struct):
    nodes: list[_GraphPull | None] | None = None


class _GraphCommit(msgspec.Struct, rename="camel"):
    associated_pull_requests: _GraphPulls | None = None


class _GraphData(msgspec.Struct):
    repository: dict[str, msgspec.Raw] | None = None


class _GraphError(msgspec.Struct):
    message: str = ""
    type: str = ""


class _GraphAnswer(msgspec.Struct):
    data: _GraphData | None = None
    errors: list[_GraphError] | None = None


class _Listed(msgspec.Struct):
    number: int = 0
    merged: bool = False


class _Search(msgspec.Struct):
    nodes: list[_Listed | None] | None = None


class _Searched(msgspec.Struct):
    data: dict[str, _Search | None] | None = None
    errors: list[_GraphError] | None = None


class _RestUser(msgspec.Struct):
    login: str


class _RestRepository(msgspec.Struct):
    id: int


class _RestBranch(msgspec.Struct):
    repo: _RestRepository


class _RestPull(msgspec.Struct):
    number: int
    title: str
    base: _RestBranch
    body: str | None = None
    user: _RestUser | None = None
    labels: list[_Label] | None = None
    merged: bool | None = None
    merge_commit_sha: str | None = None
    author_association: str = ""


@frozen(kw_only=True)
class _Read:
    found: tuple[PullRequest, ...] = field(converter=tuple)
    newcomers: tuple[PullRequest, ...] = field(converter=tuple)
    full_name: str


async def read_pull_requests(
    client: RestClient, dialect: HostDialect, full_name: str, repository_id: int, named: NamedPullRequests, token: str
) -> HostPullRequests:
    if dialect.graphql_path is not None:
        graph = _Graph(client, dialect.graphql_path, dialect.reading_grant, full_name, repository_id, token)
        read = await graph.read(named)
        if read.refusal is None or read.refusal.status != HTTPStatus.NOT_FOUND or read.found:
            return read
        # A server that speaks GitHub's REST dialect without its GraphQL.
    lookups = _lookups(dialect, full_name, repository_id, named.first(ONE_BY_ONE))
    return await read_one_by_one(client, lookups, token=token)


@frozen(eq=False, repr=False)
class _Graph:
    _client: RestClient
    _path: str
    _grant: str
    _full_name: str
    _repository_id: int
    _token: str

    async def read(self, named: NamedPullRequests) -> HostPullRequests:
        parts = [f"n{number}: pullRequest(number: {number}) {{ ...Pull }}" for number in named.numbers]
        parts += [
            f'c{commit}: object(oid: "{commit}") {{ ... on Commit '
            "{ associatedPullRequests(first: 1) { nodes { ...Pull } } } }"
            for commit in named.commits
        ]
        pull_requests: dict[int, PullRequest] = {}
        newcomers: dict[int, PullRequest] = {}
        name = self._full_name
        for start in range(0, len(parts), BATCH):
            read = await self._batch(parts[start : start + BATCH])
            if isinstance(read, HostRefusal):
                return HostPullRequests(found=pull_requests.values(), refusal=read)
            pull_requests |= {each.number: each for each in read.found}
            newcomers |= {each.number: each for each in read.newcomers}
            name = read.full_name or name
        first = await self._first_contributions(name, list(newcomers.values())[:AUTHORS])
        if isinstance(first, HostRefusal):
            return HostPullRequests(found=pull_requests.values(), refusal=first)
        pull_requests |= {number: evolve(pull_requests[number], first_contribution=True) for number in first}
        return HostPullRequests(found=pull_requests.values())

    async def _batch(self, parts: Sequence[str]) -> _Read | HostRefusal:
        owner, _, name = self._full_name.partition("/")
        query = (
            "query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { "
            f"{' '.join(parts)} }} }} fragment Pull on PullRequest {{ {_GRAPHQL_FIELDS} }}"
        )
        answered = await self._query(query, {"owner": owner, "name": name})
        if isinstance(answered, HostRefusal):
            return answered
        read = read_answer(answered, _GraphAnswer, lambda answer: (answer, _pulls(answer.data)))
        if isinstance(read, HostRefusal):
            return read
        answer, pulls = read.value
        refused = self._refusal(answer.errors or (), answered.wait_s)
        if answer.data is None or answer.data.repository is None:
            return refused or HostRefusal(
                fault=HostFault.NO_ACCESS, reason=f"the code host knows no such repository: {self._grant}"
            )
        numbered = any(part.startswith("n") for part in parts)
        if refused is not None and (refused.fault is HostFault.RATE_LIMITED or (numbered and not pulls)):
            # Commits need another permission: if only they cannot be read, the rest is still used.
            return refused
        here = [pull for pull in pulls if pull.repository.database_id == self._repository_id]
        described = [(pull, _described(pull)) for pull in here]
        return _Read(
            found=[each for _, each in described if each is not None],
            newcomers=[each for pull, each in described if each is not None and _is_to_be_looked_for(pull, each)],
            full_name=here[0].repository.name_with_owner if here else "",
        )

    async def _first_contributions(
        self, full_name: str, newcomers: Sequence[PullRequest]
    ) -> Sequence[int] | HostRefusal:
        authors = list({each.author or "": None for each in newcomers})
        if not authors:
            return ()
        parameters = ", ".join(f"$a{index}: String!" for index in range(len(authors)))
        searches = " ".join(
            f"a{index}: search(query: $a{index}, type: ISSUE, first: {_OLDEST}) "
            "{ nodes { ... on PullRequest { number merged } } }"
            for index in range(len(authors))
        )
        variables = {
            f"a{index}": f"repo:{full_name} is:pr author:{author} sort:created-asc"
            for index, author in enumerate(authors)
        }
        answered = await self._query(f"query({parameters}) {{ {searches} }}", variables)
        if isinstance(answered, HostRefusal):
            return answered
        searched = read_answer(answered, _Searched, lambda answer: answer)
        if isinstance(searched, HostRefusal):
            return searched
        refused = self._refusal(searched.value.errors or (), answered.wait_s)
        if refused is not None and (searched.value.data is None or refused.fault is HostFault.RATE_LIMITED):
            return refused
        oldest = [_first_merged(search) for search in (searched.value.data or {}).values()]
        return [each.number for each in newcomers if each.number in oldest]

    async def _query(self, query: str, variables: dict[str, str]) -> Response | HostRefusal:
        body: dict[str, Any] = {"query": query, "variables": variables}
        return await self._client.request("POST", self._path, token=self._token, body=body, at_root=True)

    def _refusal(self, errors: Iterable[_GraphError], wait_s: int) -> HostRefusal | None:
        for error in errors:
            reason = f"the code host answered: {one_line(error.message, 300)}"
            match error.type:
                case "RATE_LIMITED" | "RATE_LIMIT":
                    return HostRefusal(fault=HostFault.RATE_LIMITED, reason=reason, retry_after_s=wait_s)
                case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                    return HostRefusal(fault=HostFault.NO_ACCESS, reason=f"{reason}: {self._grant}")
                case "NOT_FOUND":
                    pass
                case _:
                    return HostRefusal(fault=HostFault.REFUSED, reason=reason)
        return None


def _pulls(data: _GraphData | None) -> list[_GraphPull]:
    pulls: list[_GraphPull | None] = []
    for alias, raw in ((data and data.repository) or {}).items():
        if alias.startswith("n"):
            pulls.append(msgspec.json.decode(raw, type=_GraphPull | None))
        elif commit := msgspec.json.decode(raw, type=_GraphCommit | None):
            associated = commit.associated_pull_requests
            # An open pull request may contain the commit, too, but did not merge it.
            pulls += (each for each in (associated and associated.nodes) or () if each and each.merge_commit)
    return [each for each in pulls if each is not None]


def _described(pull: _GraphPull) -> PullRequest | None:
    author = pull.author
    return described_pull_request(
        pull.number,
        title=pull.title,
        body=pull.body,
        labels=(label.name for label in (pull.labels and pull.labels.nodes) or () if label is not None),
        author=None if author is None else f"{author.login}[bot]" if author.kind == "Bot" else author.login,
        first_contribution=pull.author_association in _FIRST,
        merged_sha=None if pull.merge_commit is None else pull.merge_commit.oid,
    )


def _is_to_be_looked_for(pull: _GraphPull, described: PullRequest) -> bool:
    return (
        not described.first_contribution
        and pull.author_association not in _INSIDERS
        and described.author is not None
        and _LOGIN.fullmatch(described.author) is not None
    )


def _first_merged(search: _Search | None) -> int | None:
    listed = (search and search.nodes) or ()
    return next((each.number for each in listed if each is not None and each.merged), None)


def _lookups(
    dialect: HostDialect, full_name: str, repository_id: int, mentioned: NamedPullRequests
) -> list[PullRequestLookup]:
    paths = [f"/repos/{full_name}/pulls/{number}" for number in mentioned.numbers]
    if dialect.finds_by_commit:
        paths += [f"/repos/{full_name}/commits/{commit}/pull" for commit in mentioned.commits]
    return [(path, _RestPull, partial(_of_repository, repository_id)) for path in paths]


def _of_repository(repository_id: int, pull: _RestPull) -> PullRequest | None:
    if pull.base.repo.id != repository_id:
        return None
    return described_pull_request(
        pull.number,
        title=pull.title,
        body=pull.body,
        labels=(label.name for label in pull.labels or ()),
        author=None if pull.user is None else pull.user.login,
        first_contribution=pull.author_association in _FIRST,
        # For an open pull request, the commit is a trial merge.
        merged_sha=pull.merge_commit_sha if pull.merged else None,
    )
