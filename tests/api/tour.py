"""Requests to every operation of ``/v1`` that needs a key, with each kind of answer that an operation has."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, final

import httpx
from attrs import frozen
from tests.api.furnished import furnish
from tests.api.world import JSON, ApiWorld, Caller
from tests.code_host_server import REPOSITORY, TOKEN
from tests.core.test_changelog_facets import png

from contentsvc_core import Scope
from contentsvc_core.ports.brands import NotRead, SitePage

_TEXT: Final = {"Content-Type": "text/plain"}
_GITHUB_ID: Final = 4242
#: A body over the limit of an operation.
_LARGE: Final = b" " * (2 * 1024 * 1024)
#: More requests than the limit of an operation per minute.
_MOST: Final = 11


@final
@frozen
class TourAnswer:
    """An answer, with the operation that gave it: ``METHOD path``."""

    operation: str
    status: int
    body: Any


@final
class _Site:
    """A site that can always be read."""

    async def read(self, url: str) -> SitePage | NotRead:
        return SitePage(url=url, html="<html><head><title>Beacon</title></head></html>")


@final
class _Tourist:
    def __init__(self, world: ApiWorld, caller: Caller) -> None:
        self.answers: list[TourAnswer] = []
        self._world = world
        self._caller = caller
        self.reader: Caller | None = None
        self.writer: Caller | None = None

    async def call(
        self,
        operation: str,
        status: int,
        body: object = None,
        *,
        query: str = "",
        caller: Caller | None = None,
        ids: Mapping[str, str] | None = None,
        **sent: Any,
    ) -> Any:
        answer = await self._send(caller or self._caller, operation, body, query, ids or {}, **sent)
        assert answer.status_code == status, f"{operation}: {answer.status_code} {answer.text}"
        self.answers.append(TourAnswer(operation, status, answer.json()))
        return answer.json()

    async def refused(self, operation: str, *, taking: object = None, unknown: Mapping[str, str] | None = None) -> None:
        """Collect the refusals without stored data."""
        ids = unknown or {}
        caller = self._caller
        # Without limits.
        self._world.clock.advance(timedelta(minutes=1))
        method, path = operation.split()
        anonymous = await caller.world.send(method, _filled(path, ids), **({} if taking is None else {"json": taking}))
        assert anonymous.status_code == 401
        self.answers.append(TourAnswer(operation, 401, anonymous.json()))
        may_not = self.writer if method == "GET" else self.reader
        await self.call(operation, 403, taking, caller=may_not, ids=ids)
        if unknown:
            await self.call(operation, 404, taking, ids=ids)
        if taking is not None:
            await self.call(operation, 400, content=b"[]", headers=JSON, ids=ids)
            await self.call(operation, 415, content=b"{}", headers=_TEXT, ids=ids)
            await self.call(operation, 413, content=_LARGE, headers=JSON, ids=ids)

    async def limited(self, operation: str) -> None:
        for _ in range(_MOST):
            answer = await self._send(self._caller, operation, None, "", {}, content=b"[]", headers=JSON)
            if answer.status_code == 429:
                self.answers.append(TourAnswer(operation, 429, answer.json()))
                return
        message = f"{operation} has no limit"
        raise AssertionError(message)

    async def _send(
        self, caller: Caller, operation: str, body: object, query: str, ids: Mapping[str, str], **sent: Any
    ) -> httpx.Response:
        method, path = operation.split()
        return await caller(method, _filled(path, ids) + query, body, **sent)


def _filled(path: str, ids: Mapping[str, str]) -> str:
    return path.format(**ids)


async def tour(world: ApiWorld) -> list[TourAnswer]:
    """Return an answer of each status of each operation, for an organization with one object of each kind.

    The world needs a code host for GitHub, and a mail server in its settings.
    """
    caller = await world.caller()
    ids = await furnish(world, caller)
    tourist = _Tourist(world, caller)
    tourist.reader = await world.caller("Reader", Scope.READ)
    tourist.writer = await world.caller("Writer", Scope.WRITE)
    brand = ids["/v1/brand-identities/{brandIdentityId}"]
    await _posts(tourist, ids["/v1/posts/{postId}"])
    await _integrations_and_what_uses_them(tourist, brand)
    await _brands(world, tourist, brand)
    await _own_operations(tourist, ids)
    await _lists(world, tourist)
    return tourist.answers


async def _lists(world: ApiWorld, tourist: _Tourist) -> None:
    """Request each resource with an unknown id."""
    document = (await world.send("GET", "/schema/openapi.json")).json()
    for path, item in document["paths"].items():
        if "{" not in path and item.get("get", {}).get("security"):
            await tourist.call(f"GET {path}", 200)
            await tourist.refused(f"GET {path}")


async def _posts(tourist: _Tourist, post: str) -> None:
    call, own_ids = tourist.call, {"postId": post}
    unknown, stale = {"postId": "post_unknown"}, {"If-Match": '"stale"'}
    for query in ("", "?limit=1", "?status=published", "?status=draft&sort=asc", "?contentType=investor_update"):
        await call("GET /v1/posts", 200, query=query)
    for query in ("?page=99", "?status=poem", "?brandIdentityId=brand_unknown"):
        await call("GET /v1/posts", 400, query=query)
    await call("GET /v1/posts/{postId}", 200, ids=own_ids)
    await call("GET /v1/posts/{postId}", 412, ids=own_ids, headers=stale)
    await call("GET /v1/posts/{postId}", 400, ids=own_ids, headers={"If-Match": "stale"})
    await tourist.refused("GET /v1/posts/{postId}", unknown=unknown)
    change = "PATCH /v1/posts/{postId}"
    await call(change, 200, {"title": "A lamp", "markdown": "# A lamp", "status": "published"}, ids=own_ids)
    await call(change, 400, {}, ids=own_ids)
    await call(change, 412, {"title": "A lens"}, ids=own_ids, headers=stale)
    await tourist.refused(change, taking={"title": "A lens"}, unknown=unknown)
    own = {"title": "A lens", "markdown": "Clear.", "summary": "Clear", "labels": ["new"]}
    created = {"postId": (await call("POST /v1/posts", 201, own))["post"]["id"]}
    await call("POST /v1/posts", 400, {**own, "title": ""})
    await tourist.refused("POST /v1/posts", taking=own)
    await call(change, 200, {"markdown": "Clearer."}, ids=created)
    versions, version = "GET /v1/posts/{postId}/versions", "GET /v1/posts/{postId}/versions/{number}"
    restore = "POST /v1/posts/{postId}/versions/{number}/restore"
    await call(versions, 200, ids=created)
    await tourist.refused(versions, unknown=unknown)
    await call(version, 200, ids={**created, "number": "2"})
    await tourist.refused(version, unknown={**created, "number": "9"})
    await call(restore, 200, ids={**created, "number": "1"})
    await call(restore, 412, ids={**created, "number": "1"}, headers=stale)
    await call(restore, 400, ids={**created, "number": "1"}, headers={"If-Match": "stale"})
    await tourist.refused(restore, unknown={**created, "number": "9"})
    bulk = {"action": "delete", "ids": [created["postId"], "post_unknown"]}
    await call("POST /v1/posts/bulk", 200, bulk)
    await call("POST /v1/posts/bulk", 200, {"action": "publish", "filter": {"label": "new"}})
    await call("POST /v1/posts/bulk", 400, {"action": "publish"})
    await tourist.refused("POST /v1/posts/bulk", taking=bulk)
    generate, follow = "POST /v1/posts/generate", "GET /v1/posts/generate/{jobId}"
    for kind in ("changelog", "linkedin_post"):
        job = (await call(generate, 202, {"contentType": kind}))["job"]
        await call(follow, 200, ids={"jobId": job["id"]})
    await call(generate, 400, {"contentType": "poem"})
    await tourist.refused(generate, taking={"contentType": "changelog"})
    await tourist.limited(generate)
    await tourist.refused(follow, unknown={"jobId": "job_unknown"})
    await call("DELETE /v1/posts/{postId}", 412, ids=own_ids, headers=stale)
    await call("DELETE /v1/posts/{postId}", 200, ids=own_ids)
    await tourist.refused("DELETE /v1/posts/{postId}", unknown=unknown)


async def _integrations_and_what_uses_them(tourist: _Tourist, brand: str) -> None:
    call = tourist.call
    # The first two have ids of their own: below, an id has to name one provider.
    numbers = {"gitlab": _GITHUB_ID + 1, "bitbucket": _GITHUB_ID + 2, "github": _GITHUB_ID, "codehost": _GITHUB_ID}
    created: dict[str, Any] = {}
    for provider, number in numbers.items():
        connect = f"POST /v1/integrations/{provider}"
        new = {"owner": "acme", "repo": f"buoy-{provider}", "repositoryId": number, "branch": "main"}
        created = await call(connect, 201, new)
        await call(connect, 409, new)
        await call(connect, 400, {**new, "repo": "a/b"})
        await tourist.refused(connect, taking=new)
    await call("GET /v1/integrations", 200)
    codehost, unknown = {"integrationId": created["codehost"]["id"]}, {"integrationId": "int_unknown"}
    change, rotate = "PATCH /v1/integrations/{integrationId}", "POST /v1/integrations/{integrationId}/rotate-secret"
    assert (await call(change, 200, {"enabled": False}, ids=codehost))["enabled"] is False
    read = "GET /v1/integrations/{integrationId}"
    assert (await call(read, 200, ids=codehost))["enabled"] is False
    await tourist.refused(read, unknown=unknown)
    await call(change, 400, {}, ids=codehost)
    await tourist.refused(change, taking={"enabled": True}, unknown=unknown)
    assert (await call(rotate, 200, ids=codehost))["secret"]
    await call(rotate, 400, {"overlapHours": 721}, ids=codehost)
    await tourist.refused(rotate, taking={"overlapHours": 0}, unknown=unknown)
    reconcile = "POST /v1/integrations/{integrationId}/reconcile"
    await call(reconcile, 400, ids=codehost)
    await tourist.refused(reconcile, taking={"dryRun": True}, unknown=unknown)
    await call("DELETE /v1/integrations/{integrationId}", 200, ids=codehost)
    github = {"integrationId": (await call("GET /v1/integrations", 200))["github"][0]["id"]}
    targets = {"repositoryIds": [str(_GITHUB_ID)]}
    speaking = {"brandVoiceId": brand}
    await _schedules(tourist, targets, speaking)
    await _event_triggers(tourist, targets, speaking)
    gone = await call("DELETE /v1/integrations/{integrationId}", 200, ids=github)
    assert len(gone["disabledSchedules"]) == len(gone["disabledEvents"]) == 1
    await tourist.refused("DELETE /v1/integrations/{integrationId}", unknown=unknown)


async def _schedules(tourist: _Tourist, targets: dict[str, Any], speaking: dict[str, str]) -> None:
    call = tourist.call
    create, change, delete = (f"{name} /v1/schedules{rest}" for name, rest in _kinds("scheduleId"))
    new = {
        "name": "Daily",
        "sourceType": "cron",
        "sourceConfig": {"cron": {"frequency": "daily", "hour": 9, "minute": 0}},
        "targets": targets,
        "outputType": "changelog",
        "outputConfig": speaking,
        "enabled": True,
        "autoPublish": False,
        "lookbackWindow": "last_7_days",
    }
    first = {"scheduleId": (await call(create, 201, new))["schedule"]["id"]}
    await call(create, 409, new)
    await call(create, 400, {**new, "outputConfig": {"brandVoiceId": "brand_unknown"}})
    await tourist.refused(create, taking=new)
    monthly = {"cron": {"frequency": "monthly", "hour": 9, "minute": 0, "dayOfMonth": 31}}
    other = {**new, "name": "Monthly", "sourceConfig": monthly, "outputConfig": None}
    second = {"scheduleId": (await call(create, 201, other))["schedule"]["id"]}
    listed = (await call("GET /v1/schedules", 200))["schedules"]
    # The whole schedule as it was read, as clients of the hosted product send it.
    read = (await call("GET /v1/schedules/{scheduleId}", 200, ids=first))["schedule"]
    assert read in listed
    await tourist.refused("GET /v1/schedules/{scheduleId}", unknown={"scheduleId": "sch_unknown"})
    changed = await call(change, 200, {**new, "outputConfig": read["outputConfig"], "name": "Each day"}, ids=first)
    assert changed["schedule"]["outputConfig"] == read["outputConfig"] != {}
    await call(change, 409, new, ids=second)
    await call(change, 400, {}, ids=second)
    await tourist.refused(change, taking=other, unknown={"scheduleId": "sch_unknown"})
    await call(delete, 200, ids=second)
    await tourist.refused(delete, unknown={"scheduleId": "sch_unknown"})


async def _event_triggers(tourist: _Tourist, targets: dict[str, Any], speaking: dict[str, str]) -> None:
    call = tourist.call
    create, change, delete = (f"{name} /v1/event-triggers{rest}" for name, rest in _kinds("triggerId"))
    get = "GET /v1/event-triggers/{triggerId}"
    new = {
        "name": "Releases",
        "sourceType": "github_webhook",
        "sourceConfig": {"eventTypes": ["release"]},
        "targets": targets,
        "outputType": "changelog",
        "outputConfig": speaking,
        "enabled": True,
        "autoPublish": True,
    }
    first = {"triggerId": (await call(create, 201, new))["eventTrigger"]["id"]}
    await call(create, 409, new)
    await call(create, 400, {**new, "targets": {"repositoryIds": ["99"]}})
    await tourist.refused(create, taking=new)
    # For all events, and without a brand identity.
    other = {"sourceType": "github_webhook", "targets": targets, "outputType": "linkedin_post"}
    second = {"triggerId": (await call(create, 201, other))["eventTrigger"]["id"]}
    await call("PATCH /v1/organization", 200, {"timeZone": "Europe/Berlin"})
    await call("PATCH /v1/organization", 400, {"timeZone": "Europe/Berlni"})
    await call("PATCH /v1/organization", 200, {"timeZone": "UTC", "name": "Acme"})
    await tourist.refused("PATCH /v1/organization", taking={"timeZone": "UTC"})
    await call("PUT /v1/house-style", 200, {"houseStyle": {"audience": "public"}})
    await call(get, 200, ids=first)
    await tourist.refused(get, unknown={"triggerId": "trg_unknown"})
    await call(change, 200, {"autoPublish": False}, ids=first)
    await call(change, 409, new, ids=second)
    await call(change, 400, {}, ids=second)
    await tourist.refused(change, taking=new, unknown={"triggerId": "trg_unknown"})
    await call(delete, 200, ids=second)
    await tourist.refused(delete, unknown={"triggerId": "trg_unknown"})


async def _brands(world: ApiWorld, tourist: _Tourist, brand: str) -> None:
    call, own_ids, unknown = tourist.call, {"brandIdentityId": brand}, {"brandIdentityId": "brand_unknown"}
    generate, follow = "POST /v1/brand-identities/generate", "GET /v1/brand-identities/generate/{jobId}"
    one = "/v1/brand-identities/{brandIdentityId}"
    job = (await call(generate, 202, {"name": "Beacon", "websiteUrl": "https://beacon.example"}))["job"]
    await world.perform(_Site())
    done = (await call(follow, 200, ids={"jobId": job["id"]}))["job"]
    assert done["status"] == "completed"
    assert job["brandIdentityId"] in {None, done["brandIdentityId"]}
    await call(f"GET {one}", 200, ids={"brandIdentityId": done["brandIdentityId"]})
    await call(generate, 409, {"name": "Beacon", "websiteUrl": "https://beacon.example"})
    await tourist.refused(generate, taking={"websiteUrl": "https://beacon.example"})
    await tourist.limited(generate)
    await tourist.refused(follow, unknown={"jobId": "job_unknown"})
    listed = (await call("GET /v1/brand-identities", 200))["brandIdentities"]
    await tourist.refused(f"GET {one}", unknown=unknown)
    await call(f"PATCH {one}", 200, {"audience": "sailors", "customTone": "Plain"}, ids=own_ids)
    await call(f"PATCH {one}", 409, {"name": "Beacon"}, ids=own_ids)
    await call(f"PATCH {one}", 400, {}, ids=own_ids)
    await tourist.refused(f"PATCH {one}", taking={"audience": "sailors"}, unknown=unknown)
    (default,) = (each["id"] for each in listed if each["isDefault"])
    await call(f"DELETE {one}", 400, ids={"brandIdentityId": default})
    gone = await call(f"DELETE {one}", 200, ids=own_ids)
    assert len(gone["disabledSchedules"]) == len(gone["disabledEvents"]) == 1
    await tourist.refused(f"DELETE {one}", unknown=unknown)


async def _own_operations(tourist: _Tourist, ids: Mapping[str, str]) -> None:
    """Collect answers of operations that the hosted product does not have."""
    call, endpoint = tourist.call, {"endpointId": ids["/v1/webhook-endpoints/{endpointId}"]}
    await call("POST /v1/webhook-endpoints", 201, {"url": "https://acme.example/other"})
    await call("GET /v1/webhook-endpoints/{endpointId}", 200, ids=endpoint)
    await call("PATCH /v1/webhook-endpoints/{endpointId}", 200, {"description": "ours"}, ids=endpoint)
    await call("POST /v1/webhook-endpoints/{endpointId}/rotate-secret", 200, ids=endpoint)
    await call("POST /v1/webhook-endpoints/{endpointId}/test", 202, ids=endpoint)
    await call("POST /v1/webhook-endpoints/{endpointId}/confirmations", 409, ids=endpoint)
    mail = (await call("POST /v1/webhook-endpoints", 201, {"url": "mailto:ops@acme.example"}))["webhookEndpoint"]
    await call("POST /v1/webhook-endpoints/{endpointId}/confirmations", 202, ids={"endpointId": mail["id"]})
    await call("DELETE /v1/webhook-endpoints/{endpointId}", 200, ids=endpoint)
    owner, repository = REPOSITORY.split("/")
    connect = {"owner": owner, "repo": repository, "token": TOKEN}
    connected = (await call("POST /v1/integrations/github", 201, connect))["github"]
    reconcile = "POST /v1/integrations/{integrationId}/reconcile"
    await call(reconcile, 200, {"dryRun": True}, ids={"integrationId": connected["id"]})
    await call("GET /v1/webhook-logs", 400, query="?page=99")
    await call("GET /v1/webhook-logs/{logId}", 200, ids={"logId": ids["/v1/webhook-logs/{logId}/replay"]})
    await call("GET /v1/webhook-logs/{logId}", 404, ids={"logId": "log_unknown"})
    await call("GET /v1/webhook-logs/replay", 200, query="?outcomes=processed")
    await call("GET /v1/webhook-logs/replay", 400, query="?outcomes=lost")
    await tourist.refused("GET /v1/webhook-logs/replay")
    await call("POST /v1/webhook-logs/replay", 202, {"requestId": "tour", "outcomes": ["processed"]})
    await call("POST /v1/webhook-logs/replay", 400, {"requestId": ""})
    await call("POST /v1/webhook-logs/{logId}/replay", 202, ids={"logId": ids["/v1/webhook-logs/{logId}/replay"]})
    await call("GET /v1/webhook-logs/{logId}", 200, ids={"logId": ids["/v1/webhook-logs/{logId}"]})
    await _runs(tourist)
    await call("GET /v1/context", 200, query="?query=lamp")
    await call("GET /v1/context/{customId}", 200, ids={"customId": ids["/v1/context/{customId}"]})
    await _changelogs(tourist)


async def _runs(tourist: _Tourist) -> None:
    call, one = tourist.call, "/v1/runs/{runId}"
    job = (await call("POST /v1/posts/generate", 202, {"contentType": "changelog"}))["job"]
    own_ids = {"runId": job["workflowRunId"]}
    (pending,) = (await call("GET /v1/runs", 200, query="?limit=1&status=pending"))["runs"]
    await call("GET /v1/runs", 400, query="?status=poem")
    await call("GET /v1/runs", 400, query="?before=poem")
    assert (await call(f"GET {one}", 200, ids=own_ids))["run"] == pending
    assert (await call(f"POST {one}/cancel", 200, ids=own_ids))["run"]["status"] == "cancelled"
    await call(f"POST {one}/cancel", 409, ids=own_ids)
    assert (await call(f"POST {one}/retry", 200, ids=own_ids))["run"]["status"] == "pending"
    await call(f"POST {one}/retry", 409, ids=own_ids)


async def _changelogs(tourist: _Tourist) -> None:
    call, one = tourist.call, "/v1/changelogs/{changelogId}"
    created = await call("POST /v1/changelogs", 201, {"slug": "lens", "title": "Lens"})
    lens = {"changelogId": created["changelog"]["id"]}
    picture = lens | {"kind": "logo"}
    await call("GET /v1/changelogs", 200)
    await call(f"GET {one}", 200, ids=lens)
    await call(f"GET {one}/exposure", 200, ids=lens)
    await call(
        f"PATCH {one}",
        200,
        {"accent": "#0b6b63", "headerLinks": [{"label": "L", "url": "https://l.example"}]},
        ids=lens,
    )
    await call(f"PATCH {one}", 400, {}, ids=lens)
    await call(
        f"PUT {one}/images/{{kind}}", 200, ids=picture, content=png(64, 32), headers={"Content-Type": "image/png"}
    )
    await call(f"DELETE {one}/images/{{kind}}", 200, ids=picture)
    await call(f"DELETE {one}", 200, ids=lens)


def _kinds(id_: str) -> tuple[tuple[str, str], ...]:
    return ("POST", ""), ("PATCH", f"/{{{id_}}}"), ("DELETE", f"/{{{id_}}}")
