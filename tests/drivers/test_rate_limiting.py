"""Limits over HTTP: each answer of a limited operation has the headers, and no other answer has."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx
import pytest
from attrs import evolve
from tests.api.world import SEALER, ApiWorld
from tests.forwarding import Failing, Forwarding

from contentsvc_adapters.memory import memory_stores
from contentsvc_core import ApiKey, Scope, StoreUnavailable
from contentsvc_core.access.rates import Bucket
from contentsvc_core.access.window import Verdict
from contentsvc_core.ports.access import Transition
from contentsvc_core.testing import ManualClock
from contentsvc_core.timestamps import to_ms
from contentsvc_http.client_address import Proxies
from contentsvc_http.settings import InvalidSetting, Settings, load_settings
from contentsvc_http.v1.operations import MAX_BODY

GENERATE = "/v1/posts/generate"
POST = "/v1/posts/post_1"


class Limits(Failing):
    """A store of limits that can be unavailable or slow."""

    def __init__(self, real: object) -> None:
        super().__init__(real)
        self.hangs = False
        self.buckets: list[str] = []

    async def update(self, bucket: Bucket, transition: Transition) -> Verdict:
        self.buckets.append(bucket.name)
        if self.hangs:
            await asyncio.Event().wait()
        if "update" in self.faults:
            raise self.faults["update"]
        return await self.real.update(bucket, transition)


class CountedKeys(Forwarding):
    """Keys that count lookups."""

    looked_up = 0

    async def key(self, prefix: str) -> ApiKey | None:
        self.looked_up += 1
        return await self.real.key(prefix)


class World:
    """``/v1`` over stores that can fail."""

    def __init__(self, proxies: str = "") -> None:
        stores = memory_stores(SEALER)
        self.limits: Any = Limits(stores.rate_limits)
        self.keys: Any = CountedKeys(stores.keys)
        self.jobs: Any = Failing(stores.jobs)
        ports = {"rate_limits": self.limits, "keys": self.keys, "jobs": self.jobs}
        self.api = ApiWorld(Settings(trusted_proxies=proxies), evolve(stores, **ports))
        self.clock = self.api.clock
        self._organizations = 0

    async def performed(self, key: str) -> int:
        """Return the number of jobs that a key's organization has requested."""
        owner = (await self.keys.real.key(key[:14])).organization_id
        return len(await self.api.stores.ledger.runs(owner))

    async def issue(self, *scopes: Scope) -> str:
        self._organizations += 1
        return (await self.api.caller(f"Acme {self._organizations}", *scopes)).key

    async def ask(
        self,
        method: str = "POST",
        path: str = GENERATE,
        *,
        key: str | None = None,
        content: bytes = b'{"contentType": "changelog"}',
        headers: Mapping[str, str] | None = None,
        address: str = "192.0.2.1",
    ) -> httpx.Response:
        sent = dict(headers or {}) | ({} if key is None else {"Authorization": f"Bearer {key}"})
        return await self.api.send(method, path, content=content, headers=sent, client=(address, 50000))


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
    now_s = to_ms(world.clock.now()) // 1000
    remaining = {key: 10, reader: 10}

    async def check(status: int, presented: str = key, **request: Any) -> None:
        response = await world.ask(key=presented, **request)
        remaining[presented] = max(0, remaining[presented] - 1)
        assert response.status_code == status
        assert limit_headers(response) == (10, remaining[presented], 60, now_s + 60)
        assert response.headers.get("Retry-After") == {429: "60", 503: "1"}.get(status)

    await check(400, content=b"")
    await check(415, headers={"Content-Type": "text/plain"})
    await check(413, content=b" " * (MAX_BODY + 1))
    await check(403, reader)
    for fault, status in ((LookupError(), 500), (StoreUnavailable("away"), 503)):
        world.jobs.faults["start"] = fault
        await check(status)
    world.jobs.faults.clear()
    for _ in range(remaining[key]):
        await check(202)
    await check(429)
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
    assert await world.performed(key) == 10
    world.clock.advance(timedelta(seconds=48))
    assert (await world.ask(key=key)).status_code == 202


async def test_reads_and_unknown_operations_have_no_limit_and_no_headers(world: World) -> None:
    key = await world.issue()
    for path, status in ((POST, 404), ("/v1/posts", 200)):
        response = await world.ask("GET", path, key=key)
        assert response.status_code == status
        assert is_silent(response)
    assert is_silent(await world.ask("GET", POST))
    for method, path in (("PUT", GENERATE), ("OPTIONS", GENERATE), ("PATCH", GENERATE), ("POST", "/v1/lamps")):
        assert is_silent(await world.ask(method, path, key=key)), (method, path)
    assert world.limits.buckets == []


async def test_each_key_and_operation_has_one_bucket_for_any_path(world: World) -> None:
    key, other = await world.issue(), await world.issue()

    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_1", key=key))[:2] == (60, 59)
    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_2", key=key))[:2] == (60, 58)
    assert limit_headers(await world.ask("POST", GENERATE, key=key))[:2] == (10, 9)
    assert limit_headers(await world.ask("PATCH", "/v1/posts/post_1", key=other))[:2] == (60, 59)
    own = [name for name in world.limits.buckets if "organization" not in name]
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
    requests.append(await world.api.send("POST", GENERATE, headers=doubled, client=("192.0.2.1", 50000)))

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
    world.limits.faults["update"] = StoreUnavailable("away")

    response = await world.ask(key=key)

    assert response.status_code == 503
    assert response.json() == {"error": "Service temporarily unavailable"}
    assert response.headers["Retry-After"] == "1"
    assert limit_headers(response)[:3] == (10, 0, 1)
    assert await world.performed(key) == 0


async def test_a_request_cut_off_by_a_stop_has_the_limit_headers(world: World) -> None:
    key = await world.issue()
    world.limits.hangs = True
    asking = asyncio.create_task(world.ask(key=key))
    while not world.limits.buckets:
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
    assert world.limits.buckets[0] == f"POST {GENERATE} address 203.0.113.9"


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1;10.0.0.2"])
def test_an_invalid_proxy_address_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CONTENTSVC_TRUSTED_PROXIES", f"10.0.0.7, {value}")

    with pytest.raises(InvalidSetting, match="CONTENTSVC_TRUSTED_PROXIES takes addresses and networks") as caught:
        load_settings()
    assert value in str(caught.value)
    assert "10.0.0.7" not in str(caught.value)
