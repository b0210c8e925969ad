"""A code host for tests: a real HTTP server with the REST API of either dialect, hooks that deliver, and faults.

Its answers have the documented shapes (GitHub's "REST API endpoints for repository webhooks" and GraphQL objects
``PullRequest`` and ``Commit``; Gitea's ``Hook``, ``CreateHookOption`` and ``PullRequest``) and our own values.
"""

import json
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any

import httpx
from attrs import define, field, frozen

from contentsvc_core.ports import CodeHost
from contentsvc_core.webhooks.signature import sign
from tests.http_server import HttpServer, ReceivedRequest, Reply
from tests.server_process import PLAIN

#: A token with all permissions.
TOKEN = "ghp_0123456789abcdefABCDEF"
#: A token that may read, but not manage hooks.
READER = "ghp_reader"
REPOSITORY = "acme/lighthouse"
REPOSITORY_ID = 4242
_JSON = {"Content-Type": "application/json; charset=utf-8"}


@frozen(kw_only=True)
class Fault:
    """A fault of the server, in place of its answer."""

    status: int = 500
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(factory=dict[str, str])
    #: The method of the affected requests, and the pattern of their paths.
    method: str = ""
    path: str = ""
    #: The number of faults; 0: always.
    times: int = 0
    #: Perform the request, and then fail.
    after: bool = False
    #: Send no answer until the server ends.
    silent: bool = False


@define(kw_only=True)
class HostHook:
    id: int
    repository: str
    url: str
    secret: str
    body: dict[str, Any]
    deliveries: list[dict[str, Any]] = field(factory=list[dict[str, Any]])
    #: Headers and body of each delivery, by its GUID.
    sent: dict[str, tuple[str, bytes]] = field(factory=dict[str, tuple[str, bytes]])


@frozen(kw_only=True)
class HostPull:
    """A pull request at the code host; those of one author are listed by their numbers."""

    number: int
    title: str = "Add a lamp"
    body: str | None = ""
    labels: tuple[str, ...] = ()
    author: str | None = "ada"
    bot: bool = False
    association: str = "CONTRIBUTOR"
    merged: bool = True
    #: The commit of the merge, or of the trial merge.
    sha: str = "a" * 40
    repository_id: int = REPOSITORY_ID


class CodeHostServer(HttpServer):
    """Serves until its context ends; tests may change its attributes."""

    protocol = "HTTP/1.1"

    def __init__(self, *, forge: bool = False) -> None:
        super().__init__()
        self.forge = forge
        self.repositories: dict[str, dict[str, Any]] = {REPOSITORY: _repository(REPOSITORY_ID, REPOSITORY)}
        self.private = False
        #: The ids of renamed repositories, by their old names.
        self.renamed: dict[str, int] = {}
        self.hooks: dict[int, HostHook] = {}
        self.fault: Fault | None = None
        self.faulted = 0
        self.page_size = 100
        self.pulls: dict[int, HostPull] = {}
        #: Whether there is a GraphQL endpoint, and whether tokens may read pull requests.
        self.graphql = not forge
        self.reads_pulls = True
        self.ended = threading.Event()
        self._ids = count(7001)

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/v1" if self.forge else self.url

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        super().__exit__()

    @property
    def hook(self) -> HostHook:
        (only,) = self.hooks.values()
        return only

    def did(self, method: str, path: str = "") -> list[ReceivedRequest]:
        return [each for each in self.requests if each.method == method and re.search(path, each.path)]

    def deliver(self, event: str, body: Mapping[str, Any], guid: str, *, reach: bool = True) -> int:
        """Deliver as the host does, and store the attempt; ``reach`` False: the service was unreachable."""
        hook = self.hook
        hook.sent[guid] = (event, json.dumps(body).encode())
        return self._attempt(hook, guid, reach=reach)

    def _attempt(self, hook: HostHook, guid: str, *, reach: bool = True, redelivery: bool = False) -> int:
        event, raw = hook.sent[guid]
        status = 0
        if reach:
            prefix = "X-GitHub" if "/github/" in hook.url else "X-Host"
            headers = {
                "Content-Type": "application/json",
                f"{prefix}-Event": event,
                f"{prefix}-Delivery": guid,
                "X-Hub-Signature-256": sign(raw, hook.secret),
            }
            status = httpx.post(hook.url, content=raw, headers=headers, trust_env=False, verify=PLAIN).status_code
        self.note(hook, guid, event=event, status=status, redelivery=redelivery)
        return status

    def note(
        self,
        hook: HostHook,
        guid: str,
        *,
        event: str = "push",
        status: int = 200,
        at: datetime | None = None,
        redelivery: bool = False,
    ) -> None:
        """Add an attempt to the list, with or without a real request."""
        hook.deliveries.insert(
            0,
            {
                "id": next(self._ids),
                "guid": guid,
                "delivered_at": (at or datetime.now(UTC)).isoformat().replace("+00:00", "Z"),
                "redelivery": redelivery,
                "duration": 0.27,
                "status": "OK" if status == 200 else "failed to connect",
                "status_code": status,
                "event": event,
                "action": "published" if event == "release" else None,
                "installation_id": None,
                "repository_id": REPOSITORY_ID,
            },
        )
        hook.deliveries.sort(key=lambda each: each["delivered_at"], reverse=True)

    def reply(self, request: ReceivedRequest, /) -> Reply | None:
        fault = self.fault
        meant = fault is not None and fault.method in {"", request.method} and re.search(fault.path, request.path)
        if fault is None or not meant or (fault.times and self.faulted >= fault.times):
            status, body, headers = self.answer(request)
            return status, {**_JSON, **headers}, b"" if body is None else json.dumps(body).encode()
        self.faulted += 1
        if fault.after:
            self.answer(request)
        if fault.silent:
            self.ended.wait()
            return None
        return fault.status, {**_JSON, **fault.headers}, fault.body

    def answer(self, request: ReceivedRequest) -> tuple[int, Any, dict[str, str]]:
        """Return status, body and headers of an answer."""
        path = request.path.removeprefix("/api/v1") if self.forge else request.path
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if token and (token not in {TOKEN, READER} or scheme != ("token" if self.forge else "Bearer")):
            return 401, {"message": f"Bad credentials: {token}"}, {}
        found = re.fullmatch(r"/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(/.*)?", path)
        if found is None:
            queried = path == "/graphql" and self.graphql
            return self._graphql(**request.body) if queried else (404, {"message": "Not Found"}, {})
        name, number, rest = found[1], found[2], found[3] or ""
        if number is not None:
            name = next((each for each, known in self.repositories.items() if known["id"] == int(number)), "")
        if name in self.renamed:
            prefix = self.api_url if self.forge else self.url
            return 301, {"message": "Moved"}, {"Location": f"{prefix}/repositories/{self.renamed[name]}{rest}"}
        known = next((each for each in self.repositories.values() if each["full_name"].lower() == name.lower()), None)
        if known is None or (self.private and not token):
            return 404, {"message": "Not Found"}, {}
        if not rest:
            return (200, known, {}) if request.method == "GET" else (405, {}, {})
        if rest.startswith(("/pulls/", "/commits/")):
            return self._pull(rest)
        forbidden: tuple[int, Any, dict[str, str]]
        forbidden = 403, {"message": "Resource not accessible by personal access token"}, {}
        return self._hooks(request, known, rest) if token == TOKEN else forbidden

    def add(self, *pulls: HostPull) -> None:
        self.pulls |= {each.number: each for each in pulls}

    def _pull(self, rest: str) -> tuple[int, Any, dict[str, str]]:
        if not self.reads_pulls:
            return 403, {"message": "token does not have at least one of required scope(s)"}, {}
        _, kind, which, *_ = rest.split("/")
        found = [
            each
            for each in self.pulls.values()
            if (str(each.number) == which if kind == "pulls" else each.merged and each.sha == which)
        ]
        # GitHub lists the pull requests of a commit at another path.
        if not found or (kind == "commits" and not self.forge):
            return 404, {"message": "The target couldn't be found."}, {}
        (pull,) = found
        body = {
            "number": pull.number,
            "title": pull.title,
            "body": pull.body,
            "user": None if pull.author is None else {"id": 7, "login": f"{pull.author}{'[bot]' * pull.bot}"},
            "labels": [{"id": index, "name": label} for index, label in enumerate(pull.labels)],
            "merged": pull.merged,
            "merge_commit_sha": pull.sha,
            "base": {"ref": "trunk", "repo": {"id": pull.repository_id}},
            **({} if self.forge else {"author_association": pull.association}),
        }
        return 200, body, {}

    def _graphql(self, query: str, variables: Mapping[str, str]) -> tuple[int, Any, dict[str, str]]:
        assert query.count("{") == query.count("}"), query
        if searches := re.findall(r"(a\d+): search\(query: \$(\w+), type: ISSUE, first: (\d+)\)", query):
            return (
                200,
                {"data": {alias: self._search(variables[name], int(most)) for alias, name, most in searches}},
                {},
            )
        name = f"{variables['owner']}/{variables['name']}"
        # Renames are followed.
        if name not in self.renamed and name.lower() not in map(str.lower, self.repositories):
            error = {"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository"}
            return 200, {"data": {"repository": None}, "errors": [error]}, {}
        found: dict[str, Any] = {}
        errors: list[dict[str, Any]] = []
        for alias, number in re.findall(r"(\w+): pullRequest\(number: (\d+)\)", query):
            pull = self.pulls.get(int(number))
            found[alias] = None if pull is None or not self.reads_pulls else _graph_pull(pull)
            if not self.reads_pulls:
                message = "Resource not accessible by personal access token"
                errors.append({"type": "FORBIDDEN", "path": ["repository", alias], "message": message})
            elif pull is None:
                message = f"Could not resolve to a PullRequest with the number of {number}."
                errors.append({"type": "NOT_FOUND", "path": ["repository", alias], "message": message})
        for alias, commit in re.findall(r'(\w+): object\(oid: "(\w+)"\)', query):
            found[alias] = {
                "associatedPullRequests": {
                    "nodes": [_graph_pull(each) for each in self.pulls.values() if each.sha == commit][:1]
                }
            }
        return 200, {"data": {"repository": found}, **({"errors": errors} if errors else {})}, {}

    def _search(self, query: str, most: int) -> dict[str, Any]:
        found = re.fullmatch(r"repo:(\S+) is:pr author:(\S+) sort:created-asc", query)
        assert found is not None, query
        # A renamed repository is not found under its old name.
        own = [each for each in self.pulls.values() if each.author == found[2] and found[1] in self.repositories]
        own.sort(key=lambda each: each.number)
        return {"nodes": [{"number": each.number, "merged": each.merged} for each in own[:most]]}

    def _hooks(self, request: ReceivedRequest, known: Mapping[str, Any], rest: str) -> tuple[int, Any, dict[str, str]]:
        own = [hook for hook in self.hooks.values() if hook.repository == known["full_name"]]
        if rest == "/hooks":
            if request.method == "POST":
                return self._create(request.body, known, own)
            size = int(request.query.get("limit" if self.forge else "per_page", "30"))
            start = (int(request.query.get("page", "1")) - 1) * size
            return 200, [_hook_body(hook) for hook in own[start : start + size]], {}
        found = re.fullmatch(r"/hooks/(\d+)(/deliveries|/config)?(?:/(\d+)/attempts)?", rest)
        hook = None if found is None else self.hooks.get(int(found[1]))
        if found is None or hook is None or hook not in own:
            return 404, {"message": "Not Found"}, {}
        if found[2] == "/deliveries":
            return self._deliveries(request, hook, found[3])
        match request.method:
            case "PATCH":
                if (found[2] == "/config") is self.forge:
                    # One dialect has no such path; the other one replaces a whole configuration without it.
                    return 404, {"message": "Not Found"}, {}
                config = request.body["config"] if self.forge else request.body
                hook.body["config"] |= config
                hook.url, hook.secret = hook.body["config"]["url"], hook.body["config"]["secret"]
                if self.forge:
                    hook.body["events"] = request.body.get("events") or ["push"]
                return 200, _hook_body(hook), {}
            case "DELETE":
                del self.hooks[hook.id]
                return 204, None, {}
            case _:
                return 200, _hook_body(hook), {}

    def _create(self, body: Any, known: Mapping[str, Any], own: list[HostHook]) -> tuple[int, Any, dict[str, str]]:
        config = body["config"]
        if self.forge and body.get("type") not in {"gitea", "forgejo"}:
            return 422, {"message": f"Invalid hook type: {body.get('type')}"}, {}
        if not self.forge and "type" in body:
            return 422, {"message": "Validation Failed"}, {}
        if not self.forge and any(hook.url == config["url"] for hook in own):
            errors = [{"resource": "Hook", "code": "custom", "message": "Hook already exists on this repository"}]
            return 422, {"message": "Validation Failed", "errors": errors}, {}
        created = HostHook(
            id=next(self._ids), repository=known["full_name"], url=config["url"], secret=config["secret"], body=body
        )
        self.hooks[created.id] = created
        return 201, _hook_body(created), {}

    def _deliveries(
        self, request: ReceivedRequest, hook: HostHook, attempt: str | None
    ) -> tuple[int, Any, dict[str, str]]:
        if self.forge:
            return 404, {"message": "Not Found"}, {}
        if attempt is not None:
            found = next((each for each in hook.deliveries if each["id"] == int(attempt)), None)
            if found is None or request.method != "POST":
                return 404, {"message": "Not Found"}, {}
            if found["guid"] in hook.sent:
                self._attempt(hook, found["guid"], redelivery=True)
            return 202, {}, {}
        size = min(int(request.query.get("per_page", "30")), self.page_size)
        start = int(request.query.get("cursor", "v1_0").removeprefix("v1_"))
        headers: dict[str, str] = {}
        if start + size < len(hook.deliveries):
            following = f"{self.url}{request.path}?per_page={size}&cursor=v1_{start + size}"
            headers["Link"] = f'<{following}>; rel="next"'
        return 200, hook.deliveries[start : start + size], headers


def _repository(number: int, full_name: str) -> dict[str, Any]:
    return {
        "id": number,
        "node_id": "R_kgDO",
        "name": full_name.partition("/")[2],
        "full_name": full_name,
        "private": False,
        "default_branch": "trunk",
    }


def _graph_pull(pull: HostPull) -> dict[str, Any]:
    kind = "Bot" if pull.bot else "User"
    return {
        "number": pull.number,
        "title": pull.title,
        "body": pull.body or "",
        "authorAssociation": pull.association,
        "mergeCommit": {"oid": pull.sha} if pull.merged else None,
        "author": None if pull.author is None else {"__typename": kind, "login": pull.author},
        "labels": {"nodes": [{"name": label} for label in pull.labels]},
        "repository": {"databaseId": pull.repository_id, "nameWithOwner": REPOSITORY},
    }


def _hook_body(hook: HostHook) -> dict[str, Any]:
    return {
        "type": "Repository",
        "id": hook.id,
        "name": "web",
        "active": hook.body["active"],
        "events": hook.body["events"],
        "config": {**hook.body["config"], "secret": "********"},
        "updated_at": "2026-01-01T12:00:00Z",
        "created_at": "2026-01-01T12:00:00Z",
    }


def at_github(host: CodeHost | None) -> Callable[[str], Awaitable[CodeHost | None]]:
    """Return a function that finds the host of GitHub, and of no other provider."""

    async def find(provider: str) -> CodeHost | None:
        return host if provider == "github" else None

    return find


def limits_end() -> str:
    """Return a header's value: a limit that ends in about a minute and a half."""
    return str(int(time.time()) + 90)
