"""Limits over HTTP: each answer of a limited operation has the headers, and no other answer has."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, cast

import httpx
import pytest
from litestar import Litestar, Request, Response, get, patch, post
from litestar.handlers import HTTPRouteHandler
from tests.forwarding import Forwarding

from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import ApiKey, Authenticator, IssuedKey, Operator, Organization, Scope, StoreUnavailable
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict
from contentsvc_core.ports import RateLimitStore
from contentsvc_core.ports.access import Transition
from contentsvc_core.testing import ManualClock
from contentsvc_core.timestamps import to_ms
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_http.auth import caller
from contentsvc_http.client_address import Proxies
from contentsvc_http.errors import Refused, refuse
from contentsvc_http.logs import RequestLog
from contentsvc_http.rate_limiting import RateLimitHeaders, RateLimits
from contentsvc_http.settings import InvalidSetting, load_settings

GENERATE = "/v1/posts/generate"
POST = "/v1/posts/post_1"
MAX_BODY = 1000


class FailingStore(Forwarding):
    """A store of limits that can be unavailable or slow."""

    def __init__(self, store: RateLimitStore) -> None:
        super().__init__(store)
        self.is_away = False
        self.hangs = False
        self.buckets: list[str] = []

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        self.buckets.append(bucket.name)
        if self.is_away:
            message = "away"
            raise StoreUnavailable(message)
        if self.hangs:
            await asyncio.Event().wait()
        return await self.real.update(bucket, transition)


class CountedKeys(Forwarding):
    """Keys that count lookups."""

    looked_up = 0

    async def key(self, prefix: str) -> ApiKey | None:
        self.looked_up += 1
        return await self.real.key(prefix)


class World:
    """Limited operations whose result is in the request's body."""

    def __init__(self, proxies: str = "") -> None:
        stores = memory_stores(FernetSealer("a secret of at least 32 characters"))
        self.clock = ManualClock()
        self.operator = Operator(stores.directory, stores.keys, self.clock, RandomIds())
        self.store: Any = FailingStore(stores.rate_limits)
        self.keys: Any = CountedKeys(stores.keys)
        self.authenticator = Authenticator(self.keys, self.clock)
        self.performed = 0
        self.numbers = count(1)
        limits = RateLimits(RateLimiter(self.store, self.clock), self.authenticator, Proxies.read(proxies))
        application = Litestar(
            route_handlers=limits.on(self.routes()),
            exception_handlers={Exception: refuse},
            request_max_body_size=MAX_BODY,
            openapi_config=None,
            logging_config=None,
        )
        self.app = RateLimitHeaders(RequestLog(application))

    async def operation(self, request: Request[Any, Any, Any]) -> Response[dict[str, str]]:
        await caller(request, self.authenticator, Scope.WRITE)
        self.performed += 1
        match (await request.body()).decode():
            case "fault":
                raise LookupError
            case "unavailable":
                message = "away"
                raise StoreUnavailable(message)
            case status if status.isdigit():
                raise Refused(int(status), {"error": status})
            case _:
                return Response({"id": "1"}, status_code=202)

    def routes(self) -> Sequence[HTTPRouteHandler]:
        @post(GENERATE)
        async def generate(request: Request[Any, Any, Any]) -> Response[dict[str, str]]:
            return await self.operation(request)

        @patch("/v1/posts/{post_id:str}")
        async def change(request: Request[Any, Any, Any]) -> Response[dict[str, str]]:
            return await self.operation(request)

        @get(["/v1/posts/{post_id:str}", GENERATE])
        async def read(request: Request[Any, Any, Any]) -> dict[str, str]:
            await caller(request, self.authenticator, Scope.READ)
            return {"id": "1"}

        return generate, change, read

    async def issue(self, *scopes: Scope) -> str:
        organization = await self.operator.create_organization(f"Acme {next(self.numbers)}")
        assert isinstance(organization, Organization)
        issued = await self.operator.issue_key(organization, scopes=scopes or tuple(Scope))
        assert isinstance(issued, IssuedKey)
        return issued.key

    async def ask(
        self,
        method: str = "POST",
        path: str = GENERATE,
        *,
        key: str | None = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        address: str = "192.0.2.1",
    ) -> httpx.Response:
        transport = httpx.ASGITransport(cast("Any", self.app), raise_app_exceptions=False, client=(address, 50000))
        sent = dict(headers or {}) | ({} if key is None else {"Authorization": f"Bearer {key}"})
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, content=content, headers=sent)


def limit_headers(response: httpx.Response) -> tuple[int, int, int, int]:
    """Return limit, remaining, seconds to the reset and its Unix seconds; check that both header families agree."""
    for name in ("RateLimit-Limit", "RateLimit-Remaining"):
        assert response.headers.get_list(name) == response.headers.get_list(f"X-{name}")
    names = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "X-RateLimit-Reset")
    ((limit,), (remaining,), (reset_in,), (reset_at,)) = (response.headers.get_list(name) for name in names)
    return int(limit), int(remaining), int(reset_in), int(reset_at)


def is_silent(response: httpx.Response) -> bool:
    return not any("ratelimit" in name.lower() for name in response.headers)


@pytest.fixture
def world() -> World:
    return World()


async def test_every_answer_of_a_limited_operation_has_all_headers(world: World) -> None:
    key, reader = await world.issue(), await world.issue(Scope.READ)
    large = b"x" * (MAX_BODY + 1)
    now_s = to_ms(world.clock.now()) // 1000
    cases: list[tuple[bytes, str, int]] = [
        *((str(status).encode(), key, status) for status in (400, 404, 409, 412, 415)),
        (b"", key, 202),
        (b"", reader, 403),
        (large, key, 413),
        (b"fault", key, 500),
        (b"unavailable", key, 503),
        (b"", key, 202),
        (b"", key, 429),
    ]
    remaining = {key: 10, reader: 10}
    for content, presented, status in cases:
        response = await world.ask(key=presented, content=content)
        remaining[presented] = max(0, remaining[presented] - 1)
        assert response.status_code == status
        assert limit_headers(response) == (10, remaining[presented], 60, now_s + 60)
        assert response.headers.get("Retry-After") == {429: "60", 503: "1"}.get(status)
    # Unauthenticated requests: counted by address, with the same headers.
    assert limit_headers(await world.ask()) == (10, 9, 60, now_s + 60)


async def test_over_the_limit_the_operation_does_not_begin_and_the_body_names_the_wait(world: World) -> None:
    key = await world.issue()
    for _ in range(10):
        await world.ask(key=key)
    world.clock.advance(timedelta(seconds=12.5))

    refused = await world.ask(key=key)

    reset = to_ms(ManualClock().now()) + 60_000
    assert refused.status_code == 429
    assert refused.json() == {"error": "Rate limit exceeded", "limit": 10, "remaining": 0, "reset": reset}
    assert refused.headers["Retry-After"] == "48"
    assert limit_headers(refused) == (10, 0, 48, reset // 1000)
    assert world.performed == 10
    world.clock.advance(timedelta(seconds=48))
    assert (await world.ask(key=key)).status_code == 202


async def test_reads_and_unknown_operations_have_no_limit_and_no_headers(world: World) -> None:
    key = await world.issue()
    for path in (POST, GENERATE):
        response = await world.ask("GET", path, key=key)
        assert response.status_code == 200
        assert is_silent(response)
    assert is_silent(await world.ask("GET", POST))
    for method, path in (("PUT", GENERATE), ("OPTIONS", GENERATE), ("PATCH", GENERATE), ("POST", "/v1/lamps")):
        assert is_silent(await world.ask(method, path, key=key)), (method, path)
    assert world.store.buckets == []


async def test_each_key_and_operation_has_one_bucket_for_any_path(world: World) -> None:
    key, other = await world.issue(), await world.issue()

    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_1", key=key))[:2] == (60, 59)
    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_2", key=key))[:2] == (60, 58)
    assert limit_headers(await world.ask("POST", GENERATE, key=key))[:2] == (10, 9)
    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_1", key=other))[:2] == (60, 59)
    own = [name for name in world.store.buckets if "organization" not in name]
    assert own[:2] == [f"PATCH /v1/posts/{{postId}} key {key[:14]}"] * 2


async def test_an_invalid_key_counts_as_no_key_and_uses_no_key_bucket(world: World) -> None:
    key = await world.issue()
    revoked = await world.issue()
    assert await world.keys.real.revoke(revoked[:14], world.clock.now())
    wrong = f"{key[:-1]}{'a' if key[-1] != 'a' else 'b'}"
    doubled = [("Authorization", f"Bearer {key}"), ("Authorization", f"Bearer {key}")]

    requests = [
        await world.ask(),
        await world.ask(key=wrong),
        await world.ask(key=revoked),
        await world.ask(headers={"Authorization": f"Basic {key}"}),
    ]
    transport = httpx.ASGITransport(cast("Any", world.app), client=("192.0.2.1", 50000))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        requests.append(await client.post(GENERATE, headers=doubled))

    assert [response.status_code for response in requests] == [401] * 5
    assert [limit_headers(response)[1] for response in requests] == [9, 8, 7, 6, 5]
    for _ in range(5):
        await world.ask()
    # Over its limit, an address gets 429 first; requests with a key are not affected.
    assert (await world.ask()).status_code == 429
    assert limit_headers(await world.ask(key=key))[1] == 9


async def test_a_key_is_looked_up_once_in_a_request(world: World) -> None:
    key = await world.issue()

    assert (await world.ask(key=key)).status_code == 202
    assert world.keys.looked_up == 1


async def test_an_unavailable_store_admits_no_request(world: World) -> None:
    key = await world.issue()
    world.store.is_away = True

    response = await world.ask(key=key)

    assert response.status_code == 503
    assert response.json() == {"error": "Service temporarily unavailable"}
    assert response.headers["Retry-After"] == "1"
    assert limit_headers(response)[:3] == (10, 0, 1)
    assert world.performed == 0


async def test_a_request_cut_off_by_a_stop_has_the_limit_headers(world: World) -> None:
    key = await world.issue()
    world.store.hangs = True
    asking = asyncio.create_task(world.ask(key=key))
    while not world.store.buckets:
        await asyncio.sleep(0)
    asking.cancel()

    response = await asking

    assert response.status_code == 503
    assert response.json() == {"error": "Service temporarily unavailable"}
    assert response.headers["Retry-After"] == "1"
    assert limit_headers(response)[:3] == (10, 0, 1)


@pytest.mark.parametrize(
    ("proxies", "address", "forwarded", "counted"),
    [
        ("", "192.0.2.1", None, "192.0.2.1"),
        # No proxy is trusted unless the operator configures it.
        ("", "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("", "127.0.0.1", "203.0.113.9", "127.0.0.1"),
        ("10.0.0.0/8", "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("10.0.0.0/8", "10.1.2.3", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.1.2.3", None, "10.1.2.3"),
        # Entries on the left come from the client.
        ("10.0.0.0/8", "10.1.2.3", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.1.2.3", "203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("10.0.0.0/8", "10.1.2.3", "10.8.8.8, 10.9.9.9", "10.8.8.8"),
        ("10.0.0.0/8", "10.1.2.3", "203.0.113.9:4711", "203.0.113.9"),
        ("10.0.0.0/8", "10.1.2.3", "[2001:db8:1:2:3::4]:4711", "2001:db8:1:2::/64"),
        ("10.0.0.0/8", "10.1.2.3", "203.0.113.9, unknown", "10.1.2.3"),
        ("10.0.0.0/8", "10.1.2.3", "", "10.1.2.3"),
        ("10.0.0.0/8", "10.1.2.3", "٢٠٣.0.113.9", "10.1.2.3"),
        ("10.0.0.7, 2001:db8:ffff::/48", "2001:db8:ffff::1", "203.0.113.9, 10.0.0.7", "203.0.113.9"),
        # IPv6: each client has a whole network of addresses.
        ("", "2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        ("", "2001:db8:1:2:ffff::1", None, "2001:db8:1:2::/64"),
        ("", "fe80::1%eth0", None, "fe80::/64"),
        # An IPv4 client on a socket of both families.
        ("10.0.0.0/8", "::ffff:10.1.2.3", "203.0.113.9", "203.0.113.9"),
        ("", "::ffff:192.0.2.1", None, "192.0.2.1"),
        ("", "testclient", None, "unknown"),
    ],
)
def test_a_client_is_known_by_its_address_or_by_the_word_of_a_trusted_proxy(
    proxies: str, address: str, forwarded: str | None, counted: str
) -> None:
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]

    assert Proxies.read(proxies).client(address, headers) == counted


def test_several_headers_are_one_list_and_a_connection_may_have_no_address() -> None:
    headers = [(b"x-forwarded-for", b"198.51.100.1"), (b"x-forwarded-for", b"203.0.113.9"), (b"forwarded", b"for=::1")]

    assert Proxies.read("10.0.0.1").client("10.0.0.1", headers) == "203.0.113.9"
    assert Proxies.read("0.0.0.0/0").client(None, headers) == "unknown"


async def test_behind_a_trusted_proxy_each_client_has_its_own_bucket() -> None:
    world = World("10.0.0.0/8")
    for client in ("203.0.113.9", "203.0.113.10"):
        response = await world.ask(address="10.0.0.1", headers={"X-Forwarded-For": client})
        assert limit_headers(response)[1] == 9
    # The request is not from the proxy, so the header has no effect.
    for client in ("203.0.113.9", "203.0.113.10"):
        response = await world.ask(address="192.0.2.1", headers={"X-Forwarded-For": client})
    assert limit_headers(response)[1] == 8
    assert world.store.buckets[0] == f"POST {GENERATE} address 203.0.113.9"


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1;10.0.0.2"])
def test_an_invalid_proxy_address_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CONTENTSVC_TRUSTED_PROXIES", f"10.0.0.7, {value}")

    with pytest.raises(InvalidSetting, match="CONTENTSVC_TRUSTED_PROXIES takes addresses and networks") as caught:
        load_settings()
    assert value in str(caught.value)
    assert "10.0.0.7" not in str(caught.value)
