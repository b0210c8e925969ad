"""The worker that sends webhooks, with real receivers whose answers a test releases."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.endpoints import editor_of

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.outgoing.sender import HttpWebhookSender
from contentsvc_adapters.outgoing.worker import CONCURRENCY, PER_ENDPOINT, PER_ORGANIZATION, DispatchWorker
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import CreateEndpoint, Dispatcher, Operator, Organization
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.testing import CountingIds, ManualClock
from contentsvc_core.usecases.webhook_endpoints import NewSecret

ENDPOINTS = 19
#: The messages of each endpoint: with fewer, 19 endpoints would also fill the share.
MESSAGES = 2
_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Receivers:
    """A server: a path named in ``held`` is answered when the test releases it."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        #: The received requests, and the waiting ones, by the first part of their path.
        self.came: Counter[str] = Counter()
        self.holding: Counter[str] = Counter()
        self.port = 0

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        name = head.split(" ")[1].split("/")[1]
        length = next(int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length:" in line)
        await reader.readexactly(length)
        self.came[name] += 1
        if name == "slow":
            self.holding[name] += 1
            await self.released.wait()
            self.holding[name] -= 1
        writer.write(_OK)
        await writer.drain()
        writer.close()


class Office:
    """An organization with endpoints at the receivers."""

    def __init__(
        self, stores: MemoryStores, ids: CountingIds, organization: Organization, receivers: Receivers
    ) -> None:
        self.organization = organization
        self.editor = editor_of(stores, ManualClock(), ids, opened=read_site_hosts(f"127.0.0.1:{receivers.port}"))
        self.base = f"http://127.0.0.1:{receivers.port}"

    async def endpoint(self, path: str, *, messages: int) -> str:
        made = await self.editor.create(self.organization.id, CreateEndpoint(url=f"{self.base}{path}"))
        assert isinstance(made, NewSecret)
        for _ in range(messages):
            assert isinstance(await self.editor.test(self.organization.id, made.endpoint.id), str)
        return made.endpoint.id


async def until(counted: Counter[str], name: str, number: int) -> None:
    while counted[name] < number:
        await asyncio.sleep(0.005)


async def test_slow_endpoints_of_one_organization_leave_most_places_to_the_others() -> None:
    stores, clock, ids, receivers = (
        memory_stores(FernetSealer("a secret of at least 32 characters")),
        ManualClock(),
        CountingIds(),
        Receivers(),
    )
    operator = Operator(stores.directory, stores.keys, clock, ids)
    acme, other = await operator.create_organization("Acme"), await operator.create_organization("Other")
    assert isinstance(acme, Organization)
    assert isinstance(other, Organization)
    faults: list[Exception] = []
    async with receivers.serving():
        slow, quick = Office(stores, ids, acme, receivers), Office(stores, ids, other, receivers)
        for number in range(ENDPOINTS):
            await slow.endpoint(f"/slow/{number}", messages=MESSAGES)
        sender = HttpWebhookSender(opened=read_site_hosts(f"127.0.0.1:{receivers.port}"), total_s=600)
        worker = DispatchWorker(
            Dispatcher(stores.outbox, stores.recipients, sender, clock, ids), on_fault=faults.append
        )
        worker.launch()
        await until(receivers.holding, "slow", PER_ORGANIZATION)

        await quick.endpoint("/quick", messages=PER_ENDPOINT)
        worker.expect()
        # All of these arrive while the started messages of Acme still wait.
        await until(receivers.came, "quick", PER_ENDPOINT)
        assert receivers.came["slow"] == receivers.holding["slow"] == PER_ORGANIZATION

        receivers.released.set()
        await until(receivers.came, "slow", ENDPOINTS * MESSAGES)
        await worker.close(within_s=30)
    assert faults == []
    assert CONCURRENCY >= 4 * PER_ORGANIZATION
