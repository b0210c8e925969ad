"""``Idempotency-Key``: a repeated request has no second effect, and gets the first answer."""

import asyncio
from datetime import datetime
from typing import Any, Final, cast, final

import pytest
from attrs import evolve
from sqlalchemy import BigInteger, ColumnElement, bindparam
from tests.api.furnished import operations
from tests.api.world import SEALER, ApiWorld, Caller
from tests.forwarding import Forwarding

from contentsvc_adapters.sql import Database, SqlStores
from contentsvc_adapters.sql.dialects.sqlite import Sqlite
from contentsvc_core import IssuedKey, Scope
from contentsvc_core.access.keyed_requests import BUSY, KeyedRequest
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.ports import KeyedRequests, PostLibrary
from contentsvc_core.ports.access import RequestTransition
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms
from contentsvc_http.idempotency import REWRITABLE

POST: Final = {"title": "A lens", "markdown": "Clear.", "contentType": "changelog"}
CREATED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "/v1/posts": (POST, "/v1/posts"),
    "/v1/posts/generate": ({"contentType": "changelog"}, "/v1/runs"),
    "/v1/brand-identities/generate": ({"websiteUrl": "https://acme.example/"}, "/v1/runs"),
    "/v1/schedules": (
        {
            "name": "Daily",
            "sourceConfig": {"cron": {"frequency": "daily", "hour": 9, "minute": 0}},
            "targets": {"repositoryIds": [1]},
            "outputType": "changelog",
        },
        "/v1/schedules",
    ),
    "/v1/event-triggers": ({"targets": {"repositoryIds": [1]}, "outputType": "changelog"}, "/v1/event-triggers"),
    "/v1/webhook-endpoints": ({"url": "https://acme.example/hook"}, "/v1/webhook-endpoints"),
    "/v1/changelogs": ({"slug": "lens", "title": "Lens"}, "/v1/changelogs"),
    "/v1/integrations/codehost": (
        {"owner": "acme", "repo": "lens", "repositoryId": 2, "branch": "main"},
        "/v1/integrations",
    ),
}


def keyed(name: str = "k") -> dict[str, str]:
    return {"Idempotency-Key": name}


@final
class _Forgetful:
    """Keyed requests whose answers are lost: the process is killed after the operation."""

    def __init__(self, requests: KeyedRequests) -> None:
        self._requests = requests
        self.lost = 0

    async def update(
        self, key_prefix: str, name: str, transition: RequestTransition, *, now: datetime
    ) -> KeyedRequest | Refusal | None:
        def kept(stored: KeyedRequest | None) -> KeyedRequest | Refusal | None:
            result = transition(stored)
            if isinstance(result, KeyedRequest) and result.answer is not None and not self.lost:
                self.lost += 1
                raise StoreUnavailable
            return result

        return await self._requests.update(key_prefix, name, kept, now=now)


async def number_of(caller: Caller, path: str) -> int:
    answer: dict[str, Any] = (await caller("GET", path)).json()
    return sum(len(cast("list[object]", each)) for each in answer.values() if isinstance(each, list))


@pytest.mark.parametrize("path", CREATED)
async def test_a_repeated_creation_gets_the_first_answer(acme: Caller, path: str) -> None:
    body, listed = CREATED[path]
    before = await number_of(acme, listed)
    first = await acme("POST", path, body, headers=keyed())
    again = await acme("POST", path, dict(reversed(body.items())), headers=keyed())

    assert first.status_code in {201, 202}
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert again.headers.get("location") == first.headers.get("location")
    assert await number_of(acme, listed) == before + 1
    assert (await acme("GET", first.headers["location"])).status_code == 200


@pytest.mark.parametrize("path", CREATED)
async def test_a_creation_whose_answer_was_lost_is_not_made_twice(
    path: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = SqlStores(database, SEALER)
    forgetful = _Forgetful(stores.keyed_requests)
    vars(stores)["keyed_requests"] = forgetful
    world = ApiWorld(stores=stores)
    # The time for which a key is busy ends by the database's clock.
    shared = bindparam("shared_now", callable_=lambda: to_ms(world.clock.now()), type_=BigInteger)

    def now_ms(_: Sqlite) -> ColumnElement[int]:
        return shared

    monkeypatch.setattr(Sqlite, "now_ms", now_ms)
    acme = await world.caller()
    body, listed = CREATED[path]
    before = await number_of(acme, listed)
    first = await acme("POST", path, body, headers=keyed())
    running = await acme("POST", path, body, headers=keyed())
    world.clock.advance(BUSY)
    again = await acme("POST", path, body, headers=keyed())

    assert forgetful.lost == 1
    assert running.status_code == 409
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert await number_of(acme, listed) == before + 1


async def test_a_key_with_another_request_is_422(acme: Caller) -> None:
    await acme("POST", "/v1/posts", POST, headers=keyed())
    others = [
        await acme("POST", "/v1/posts", {**POST, "title": "A lamp"}, headers=keyed()),
        await acme("POST", "/v1/posts/generate", POST, headers=keyed()),
    ]

    for other in others:
        assert (other.status_code, set(other.json())) == (422, {"error"})
    assert await number_of(acme, "/v1/posts") == 1


async def test_values_of_a_large_body_are_not_built_to_compare_it(acme: Caller) -> None:
    large = {**POST, "markdown": "a" * REWRITABLE}
    first = await acme("POST", "/v1/posts", large, headers=keyed())
    again = await acme("POST", "/v1/posts", large, headers=keyed())
    rewritten = await acme("POST", "/v1/posts", dict(reversed(large.items())), headers=keyed())

    assert (again.status_code, again.json()) == (first.status_code, first.json()) == (201, first.json())
    assert (rewritten.status_code, await number_of(acme, "/v1/posts")) == (422, 1)


async def test_a_request_that_is_running_is_409(acme: Caller) -> None:
    world = acme.world
    slow = _Slow(world.stores.posts)
    world.stores = evolve(world.stores, posts=slow)  # pyright: ignore[reportArgumentType]
    first = asyncio.create_task(acme("POST", "/v1/posts", POST, headers=keyed()))
    await slow.reached.wait()
    meanwhile = await acme("POST", "/v1/posts", POST, headers=keyed())
    slow.released.set()

    answer = (await first).json()

    assert (meanwhile.status_code, meanwhile.headers["retry-after"]) == (409, "1")
    assert (await acme("POST", "/v1/posts", POST, headers=keyed())).json() == answer


async def test_a_refused_request_leaves_its_key_free(acme: Caller) -> None:
    assert (await acme("POST", "/v1/posts", {**POST, "title": ""}, headers=keyed())).status_code == 400
    assert (await acme("POST", "/v1/posts", POST, headers=keyed())).status_code == 201


@pytest.mark.parametrize("name", ["", "a b", "ä".encode(), "x" * 256, "two"])
async def test_a_malformed_key_is_400(acme: Caller, name: Any) -> None:
    second = {"idempotency-key": "k"} if name == "two" else {}
    answer = await acme("POST", "/v1/posts", POST, headers={"Idempotency-Key": name, **second})

    error = "Malformed Idempotency-Key header: send one key of 1 to 255 visible ASCII characters"
    assert (answer.status_code, answer.json()) == (400, {"error": error})


async def test_each_api_key_has_its_own_keys(acme: Caller) -> None:
    issued = await acme.world.operator.issue_key(acme.organization, scopes=tuple(Scope))
    assert isinstance(issued, IssuedKey)
    other = Caller(acme.world, acme.organization, acme.connection, issued)
    answers = [await each("POST", "/v1/posts", POST, headers=keyed()) for each in (acme, other)]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert await number_of(acme, "/v1/posts") == 2


async def test_a_key_that_may_not_write_stores_nothing(acme: Caller) -> None:
    issued = await acme.world.operator.issue_key(acme.organization, scopes=[Scope.READ])
    assert isinstance(issued, IssuedKey)
    untouched = _Untouched()
    acme.world.stores = evolve(acme.world.stores, keyed_requests=untouched)
    reader = Caller(acme.world, acme.organization, acme.connection, issued)

    assert (await reader("POST", "/v1/posts", POST, headers=keyed())).status_code == 403
    assert untouched.times == 0


async def test_a_repeated_deletion_gets_the_first_answer(acme: Caller) -> None:
    path = (await acme("POST", "/v1/posts", POST)).headers["Location"]

    first, second, other = [await acme("DELETE", path, headers=keyed(name)) for name in ("a", "a", "b")]

    assert [each.status_code for each in (first, second, other)] == [200, 200, 404]
    assert (second.json(), second.headers["Idempotent-Replayed"]) == (first.json(), "true")


async def test_every_post_and_every_deletion_documents_the_key(world: ApiWorld) -> None:
    described = [operation for method, _, operation in await operations(world) if method in {"POST", "DELETE"}]

    assert len(described) >= 19
    for operation in described:
        assert [each["in"] for each in operation["parameters"] if each["name"] == "Idempotency-Key"] == ["header"]
        assert {"400", "409", "422"} <= set(operation["responses"]), operation["operationId"]


@final
class _Untouched:
    """Keyed requests that count the updates, and refuse them."""

    times = 0

    async def update(self, _key_prefix: str, _name: str, _transition: RequestTransition) -> KeyedRequest | Refusal:
        self.times += 1
        raise StoreUnavailable


@final
class _Slow(Forwarding):
    """A library that waits before it stores a post."""

    def __init__(self, library: PostLibrary) -> None:
        super().__init__(library)
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    async def add(self, post: Post, *, author: str | None = None) -> None:
        self.reached.set()
        await self.released.wait()
        await self.real.add(post, author=author)
