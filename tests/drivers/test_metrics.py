"""Metrics for Prometheus: real requests through the application, real files, real processes."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast, final

import httpx
import pytest
from attrs import frozen
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection as SqlConnection
from tests import postgres
from tests.api.world import SEALER, ApiWorld
from tests.docs.pages import code, read, rows, section
from tests.drivers.delivering import deliver
from tests.forwarding import Failing
from tests.server_process import PLAIN, prepare, serving, until
from tests.with_webhooks import with_webhooks

from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_adapters.sql import backlog as backlog_module
from contentsvc_adapters.sql.backlog import Backlog, backlog, statement
from contentsvc_core import Delivery, Headers, Receiver, StoreUnavailable, TriggerEditor
from contentsvc_core.organizations import webhook_path
from contentsvc_core.outgoing.letters import MailResult
from contentsvc_core.testing import ManualClock, push_body
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http import scrape as scrape_module
from contentsvc_http.app import ClientServices, Services
from contentsvc_http.bounds import Cause
from contentsvc_http.client_address import Proxies
from contentsvc_http.deliveries import Deliveries
from contentsvc_http.metrics_page import metrics_route
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.scrape import Scrape
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.application import compose

HERE: Final = ("127.0.0.1", 4711)


@final
@frozen(kw_only=True)
class Left:
    pending: int = 0
    running: int = 0
    oldest_due_s: float = 0.0


class World:
    """The application with metrics, over stores in memory."""

    def __init__(self, *, local: bool = False) -> None:
        self.stores = memory_stores(SEALER)
        self.clock = ManualClock()
        store: Any = Failing(self.stores.deliveries)
        self.faults: dict[str, Exception] = store.faults
        self.ids = RandomIds()
        self.asked = 0
        self.left: Left | None = Left()
        self.scrape = Scrape(lambda: "1.2.3", self.backlog, lambda: (2, 5))
        metrics = self.scrape.metrics
        receiver = Receiver(store, self.stores.journal, self.clock, self.ids)
        app = compose(Settings(), self.stores, clock=self.clock, ids=RandomIds())
        services = Services(
            for_clients=ClientServices(app=app, limits=RateLimits(app.limiter, app.authenticator, Proxies.read(""))),
            why_not_ready=self.why_not_ready,
            for_operators=[metrics_route(self.scrape, local=local)],
        )
        self.app = with_webhooks(Deliveries(receiver, observers=[metrics]), services, metrics.answered)

    async def why_not_ready(self) -> str | None:
        return None

    async def backlog(self) -> Left:
        self.asked += 1
        if self.left is None:
            message = "the database is away"
            raise StoreUnavailable(message)
        return self.left

    async def set_up(self) -> "World":
        self.acme = await ApiWorld(stores=self.stores).caller()
        return self

    def delivery(self, event: str = "push", delivery: str | None = None) -> Delivery:
        body = push_body("feat: turn the beam") if event == "push" else b"{}"
        return self.acme.signed(body, event=event, delivery_id=delivery or self.ids.new_id("d-"))

    async def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes = b"",
        headers: Any = None,
        client: tuple[str, int] = HERE,
    ) -> httpx.Response:
        transport = httpx.ASGITransport(cast("Any", self.app), raise_app_exceptions=False, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            return await http.request(method, path, content=content, headers=headers)

    async def deliver(self, delivery: Delivery) -> int:
        path = webhook_path(self.acme.connection.integration, self.acme.repository_id)
        return (await self.request("POST", path, content=delivery.body, headers=list(delivery.headers))).status_code

    async def numbers(self) -> "Numbers":
        answered = await self.request("GET", "/metrics")
        assert answered.status_code == 200
        return Numbers(answered.text)


class Numbers:
    """The figures of a metrics page."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.samples = [each for family in text_string_to_metric_families(page) for each in family.samples]

    def get(self, name: str, **labels: str) -> float | None:
        found = [
            each.value for each in self.samples if each.name == name and labels.items() <= dict(each.labels).items()
        ]
        return sum(found) if found else None

    def labels(self, name: str) -> list[Mapping[str, str]]:
        return [dict(each.labels) for each in self.samples if each.name == name and each.value]


@pytest.fixture
async def world() -> World:
    return await World().set_up()


async def test_attempts_to_send_mails_are_counted_by_outcome(world: World) -> None:
    for posting in (*MailResult, MailResult.SENT):
        world.scrape.metrics.posted(posting)

    numbers = await world.numbers()

    name = "contentsvc_mail_attempts_total"
    counted = {posting: numbers.get(name, outcome=posting.name.lower()) for posting in MailResult}
    assert counted == {**dict.fromkeys(MailResult, 1.0), MailResult.SENT: 2.0}
    assert len(numbers.labels(name)) == len(MailResult)


async def test_deliveries_are_counted_by_how_they_ended(world: World) -> None:
    first = world.delivery()
    assert await world.deliver(first) == 200
    assert await world.deliver(first) == 200
    assert await world.deliver(world.delivery("ping")) == 200
    assert await world.deliver(world.delivery("a kind that somebody made up")) == 200
    forged = Delivery(address=first.address, headers=first.headers, body=first.body + b" ")
    assert await world.deliver(forged) == 401
    packed = Headers.of((*first.headers, (b"content-encoding", b"gzip")))
    assert await world.deliver(Delivery(address=first.address, headers=packed, body=first.body)) == 415

    numbers = await world.numbers()

    def count(**labels: str) -> float | None:
        return numbers.get("contentsvc_deliveries_total", provider="codehost", **labels)

    assert count(outcome="processed", event="push", status="200") == 1
    assert count(outcome="duplicate", event="push", status="200") == 1
    assert count(outcome="pong", event="ping", status="200") == 1
    assert count(outcome="ignored", event="other", status="200") == 1
    assert count(outcome="rejected", event="push", status="401") == 1
    assert count(outcome="rejected", status="415") == 1
    assert count() == 6
    # Refused before its body, so it does not count as received.
    assert numbers.get("contentsvc_receive_seconds_count") == 5
    assert numbers.get("contentsvc_settle_seconds_count") == 5
    assert numbers.get("contentsvc_settles_in_progress") == 0


async def test_an_unavailable_store_and_an_internal_fault_are_counted_separately(world: World) -> None:
    # An alert does not see the increase of a counter that first appears with the value 1, or never appears.
    numbers = await world.numbers()
    assert numbers.get("contentsvc_store_unavailable_total", operation="settle") == 0
    assert numbers.get("contentsvc_deliveries_total", outcome="failed", status="500", provider="codehost") == 0
    for event in ("push", "release"):
        assert numbers.get("contentsvc_deliveries_total", outcome="processed", event=event, provider="github") == 0
    world.faults["settle"] = StoreUnavailable("the database is locked")
    assert await world.deliver(world.delivery()) == 503
    world.faults["settle"] = ZeroDivisionError("the lamp went out")
    assert await world.deliver(world.delivery()) == 500
    world.faults["configuration"] = StoreUnavailable()
    assert await world.deliver(world.delivery()) == 503

    numbers = await world.numbers()
    assert numbers.get("contentsvc_deliveries_total", outcome="unavailable", status="503") == 2
    assert numbers.get("contentsvc_deliveries_total", outcome="failed", status="500") == 1
    assert numbers.get("contentsvc_store_unavailable_total", operation="settle") == 1
    assert numbers.get("contentsvc_store_unavailable_total", operation="endpoint") == 1
    assert numbers.get("contentsvc_settles_in_progress") == 0


async def test_requests_are_counted_by_route_and_no_untrusted_text_is_a_label(world: World) -> None:
    webhooks = "/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}"
    requests = "contentsvc_http_requests_total"
    # Refused before they become a delivery; the alert needs the counter from the start.
    assert (await world.numbers()).get(requests, method="POST", route=webhooks, status="503") == 0
    await world.request("GET", "/v1/posts?limit=5")
    await world.request("GET", "/a/path/of/my/own")
    await world.request("BREW", "/v1/status")
    await world.deliver(world.delivery("invented-event"))
    await world.request("POST", "/api/webhooks/invented-provider/o/i/1")

    numbers = await world.numbers()
    assert numbers.get(requests, method="GET", route="/v1/posts", status="401") == 1
    assert numbers.get(requests, method="GET", route="other", status="404") == 1
    assert numbers.get(requests, method="other") == 1
    assert numbers.get(requests, method="POST", route=webhooks, status="200") == 1
    assert numbers.get(requests, method="POST", route=webhooks, status="400") == 1
    for foreign in (
        "invented",
        "BREW",
        "my/own",
        world.acme.address.organization_id,
        world.acme.address.integration_id,
    ):
        assert foreign not in numbers.page
    names = {name for labels in numbers.samples for name in labels.labels}
    assert names <= {
        *("provider", "event", "outcome", "status", "method", "route", "operation", "cause", "le"),
        "version",
        "python",
    }


async def test_dropped_and_refused_requests_are_counted_by_cause(world: World) -> None:
    world.scrape.metrics.refused(Cause.TRAILER, 100)
    world.scrape.metrics.refused(Cause.TRAILER, 20)
    world.scrape.metrics.refused(Cause.AHEAD, 0)

    numbers = await world.numbers()
    refused = "contentsvc_http_refused_total"
    assert [numbers.get(refused, cause=cause.value) for cause in (Cause.TRAILER, Cause.AHEAD, Cause.SLOW)] == [2, 1, 0]
    assert numbers.get("contentsvc_http_trailer_bytes_total") == 120


async def test_metrics_of_the_database_are_read_on_demand_and_cached_briefly(world: World) -> None:
    world.left = Left(pending=3, running=2, oldest_due_s=1.5)
    numbers = await world.numbers()
    await world.numbers()

    assert world.asked == 1
    assert numbers.get("contentsvc_store_up") == 1
    assert numbers.get("contentsvc_runs", status="pending") == 3
    assert numbers.get("contentsvc_runs", status="running") == 2
    assert numbers.get("contentsvc_outbox_age_seconds") == 1.5
    assert numbers.get("contentsvc_store_connections_in_use") == 2
    assert numbers.get("contentsvc_store_connections_max") == 5
    assert numbers.get("contentsvc_build_info", version="1.2.3") == 1
    assert (numbers.get("process_resident_memory_bytes") or 0) > 1_000_000


async def test_without_the_database_the_page_reports_it_and_shows_the_rest(world: World) -> None:
    assert await world.deliver(world.delivery()) == 200
    world.left = None
    numbers = await world.numbers()

    assert numbers.get("contentsvc_store_up") == 0
    assert numbers.get("contentsvc_runs") is None
    assert numbers.get("contentsvc_outbox_age_seconds") is None
    assert numbers.get("contentsvc_deliveries_total") == 1


async def test_a_database_that_hangs_holds_up_no_scrape_and_is_asked_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrape_module, "_WITHIN_S", 0.05)
    monkeypatch.setattr(scrape_module, "_FRESH_S", 0.0)
    free = asyncio.Event()
    asked = 0

    async def hangs() -> Left:
        nonlocal asked
        asked += 1
        await free.wait()
        return Left(pending=7)

    monkeypatch.setattr(world.scrape, "_backlog", hangs)
    for _ in range(3):
        assert (await world.numbers()).get("contentsvc_store_up") == 0
    assert asked == 1

    free.set()
    assert (await world.numbers()).get("contentsvc_runs", status="pending") == 7


async def test_local_is_this_machine_and_no_proxy_on_it() -> None:
    world = World(local=True)
    for client, headers, status in (
        ("192.0.2.7", {}, 403),
        ("::ffff:192.0.2.7", {}, 403),
        ("127.0.0.1", {"X-Forwarded-For": "192.0.2.7"}, 403),
        ("127.0.0.1", {"Forwarded": "for=192.0.2.7"}, 403),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 403),
        # A page of a browser on this machine, by DNS rebinding.
        ("127.0.0.1", {"Host": "rebound.example:8000"}, 403),
        ("127.0.0.1", {"Host": "127.0.0.1:8000"}, 200),
        ("::1", {"Host": "[::1]:8000"}, 200),
        ("::ffff:127.0.0.1", {"Host": "localhost"}, 200),
    ):
        answered = await world.request("GET", "/metrics", headers=headers, client=(client, 1))
        assert answered.status_code == status, (client, headers)
        if status == 403:
            assert answered.json() == {
                "error": (
                    "Metrics are only available on this machine, at localhost. "
                    "To allow other clients, set CONTENTSVC_METRICS=on"
                )
            }
            assert world.asked == 0


async def test_the_setting_on_answers_every_client(world: World) -> None:
    answered = await world.request("GET", "/metrics", client=("192.0.2.7", 1), headers={"Via": "1.1 proxy"})

    assert answered.status_code == 200


async def test_the_format_follows_the_accept_header_of_the_scraper(world: World) -> None:
    plain = await world.request("GET", "/metrics")
    assert plain.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
    newer = await world.request("GET", "/metrics", headers=accept)
    assert newer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert newer.text.endswith("# EOF\n")


async def test_names_are_as_prometheus_wants_them(world: World) -> None:
    for family in text_string_to_metric_families((await world.numbers()).page):
        assert re.fullmatch(r"(contentsvc|process)_[a-z_]+", family.name)
        assert family.documentation.endswith("."), family.name
        assert (family.type == "histogram") == (family.name.endswith(("receive_seconds", "settle_seconds", "_size")))


async def test_every_metric_is_documented_and_alerts_name_no_other(world: World) -> None:
    await world.deliver(world.delivery())
    page = section(read("docs/operations.md"), "## Metrics")
    shown = {code(row[0])[0] for row in rows(page) if row[0].startswith("`contentsvc_") and len(row) == 3}
    there = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families((await world.numbers()).page)
        if family.name.startswith("contentsvc_")
    }

    assert shown == there
    for row in rows(section(page, "### What to alert on")):
        for named in re.findall(r"contentsvc_\w+", code(row[0])[0]):
            assert {named, *(named.removesuffix(ending) for ending in ("_bucket", "_sum", "_count"))} & there, named


@contextlib.asynccontextmanager
async def sqlite(folder: Path) -> AsyncGenerator[Database]:
    database = Database(f"sqlite+aiosqlite:///{folder / 'a.db'}")
    await upgrade(database)
    yield database
    await database.dispose()


@contextlib.asynccontextmanager
async def postgresql(_folder: Path) -> AsyncGenerator[Database]:
    with postgres.database() as url:
        database = Database(url)
        yield database
        await database.dispose()


@pytest.mark.parametrize(
    ("opened", "most", "explain", "indexed"),
    [
        (sqlite, 11, "EXPLAIN QUERY PLAN", r"USING (COVERING )?INDEX ix_workflow_runs_(pending|running)"),
        # Disable sequential scans: for a handful of rows, PostgreSQL would prefer them.
        (postgresql, 10, "EXPLAIN", r"Index (Only )?Scan using ix_workflow_runs_(pending|running)"),
    ],
    ids=["sqlite", "postgresql"],
)
async def test_the_backlog_is_read_from_indexes_of_unfinished_rows(
    opened: Callable[[Path], AbstractAsyncContextManager[Database]],
    most: int,
    explain: str,
    indexed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened(tmp_path) as database:
        stores = SqlStores(database, SEALER)
        clock, ids = ManualClock(), RandomIds()
        acme = await ApiWorld(stores=stores).caller()
        await TriggerEditor(stores.triggers, stores.directory, clock, ids).create(
            acme.organization.id, CreateTrigger(repository_ids=(1,))
        )
        receiver = Receiver(stores.deliveries, stores.journal, clock, ids)
        assert await backlog(database, clock.now()) == Backlog(pending=0, running=0, oldest_due_s=0)
        for number in range(3):
            await receiver.receive(acme.signed(push_body("feat: x"), delivery_id=f"d-{number}"))
            clock.advance(timedelta(seconds=2))

        assert await backlog(database, clock.now()) == Backlog(pending=3, running=0, oldest_due_s=6)
        # Not due yet: nothing waits.
        assert (await backlog(database, clock.now() - timedelta(hours=1))).oldest_due_s == 0
        assert database.connections() == (0, most)

        def plan(connection: SqlConnection) -> list[str]:
            asked = statement().compile(connection.engine, compile_kwargs={"literal_binds": True})
            if explain == "EXPLAIN":
                connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            return [str(row[-1]) for row in connection.exec_driver_sql(f"{explain} {asked}")]

        looked = [line for line in await database.read(plan) if "workflow_runs" in line]
        assert [bool(re.search(indexed, line)) for line in looked] == [True, True], looked

        monkeypatch.setattr(backlog_module, "LOOKED_AT", 2)
        assert (await backlog(database, clock.now())).pending == 2


@pytest.mark.slow("starts servers")
def test_a_server_counts_from_the_delivery_to_the_post(tmp_path: Path) -> None:
    prepared = prepare(tmp_path)
    with serving(prepared.installation) as server:

        def numbers() -> Numbers:
            return Numbers(httpx.get(f"{server.url}/metrics", trust_env=False, verify=PLAIN, timeout=30).text)

        assert deliver(prepared, server, "d-1").status_code == 200
        assert deliver(prepared, server, "d-2", secret="another secret").status_code == 401
        until(lambda: numbers().get("contentsvc_runs_ended_total", status="completed") == 2, "both runs have ended")
        found = numbers()

    assert found.get("contentsvc_deliveries_total", outcome="processed") == 1
    assert found.get("contentsvc_deliveries_total", outcome="rejected", status="401") == 1
    assert found.get("contentsvc_runs_ended_total") == 2
    assert found.get("contentsvc_runs_in_progress") == 0
    assert found.get("contentsvc_settle_batch_size_count") == 2
    assert found.get("contentsvc_settle_batch_size_sum") == 2
    assert found.get("contentsvc_store_up") == 1
    assert found.get("contentsvc_store_connections_max") == 11
    for hidden in (prepared.hook.organization_id, prepared.hook.secret, "lighthouse", "acme"):
        assert hidden not in found.page


@pytest.mark.slow("starts servers")
def test_the_processes_of_a_node_are_added_up_whichever_answers(tmp_path: Path) -> None:
    with postgres.database(migrated=False) as url:
        prepared = prepare(tmp_path, database_url=url)
        with serving(prepared.installation, "--role", "receiver", "--workers", "2") as server:
            # One process answers before the other one exists.
            until(lambda: server.log().count('"worker ready"') == 2, "both are ready")
            for number in range(8):
                # Each on a connection of its own: the kernel chooses the process.
                assert deliver(prepared, server, f"d-{number}").is_success
            pages = [
                httpx.get(f"{server.url}/metrics", trust_env=False, verify=PLAIN, timeout=30).text for _ in range(6)
            ]

    for page in pages:
        numbers = Numbers(page)
        assert numbers.get("contentsvc_deliveries_total", outcome="processed") == 8
        assert numbers.get("contentsvc_store_connections_max") == 20, server.log()
        # Labels that are equal for all processes are not summed.
        assert numbers.get("contentsvc_build_info") == 1
        assert all("pid" not in sample.labels for sample in numbers.samples)
        # Two triggers match each; without a worker the runs stay pending.
        assert numbers.get("contentsvc_runs", status="pending") == 16
