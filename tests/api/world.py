"""``/v1`` and the dashboard in this process, over memory stores, with a manual clock."""

from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import timedelta
from functools import cache
from typing import Any, Final, cast, final

import httpx
from attrs import fields
from litestar.types import ASGIApp, Receive, Send
from litestar.types import Scope as AsgiScope
from tests.performing import performer_over
from tests.with_webhooks import with_webhooks

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.offload import SingleThreadExecutor
from contentsvc_adapters.offload import shares as make_shares
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core import Address, ApiKey, Connection, Delivery, IssuedKey, Operator, Organization, Receiver, Scope
from contentsvc_core.application import no_hosts
from contentsvc_core.ports import CodeHost, Shares, SiteReader, Stores
from contentsvc_core.testing import CountingIds, ManualClock, PlainSteps, push_body, release_body, signed
from contentsvc_core.usecases.read_site import BrandReader
from contentsvc_http.app import Services
from contentsvc_http.changelog.page_cache import RenderedPages
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.application import compose
from contentsvc_http.wiring.process import client_services

#: The content types of operations with a body.
JSON = {"Content-Type": "application/json"}
SEALER = FernetSealer("a secret of at least 32 characters")


#: Ids are unique in a process, so that caches of use cases never mix two worlds.
_IDS: Final = CountingIds()
#: The world whose request is being answered.
_ANSWERING: Final = ContextVar["ApiWorld"]("answering")
#: The world of the last request.
_answered: Final[deque["ApiWorld"]] = deque(maxlen=1)


@final
class _Forward:
    """Forwards to a part of the world during a request."""

    def __init__(self, *path: str) -> None:
        self._path = path

    def _part(self) -> Any:
        # Threads of databases run without a context; all worlds of a test with a database use the same one.
        part: Any = _ANSWERING.get(None) or _answered[-1]
        for step in self._path:
            part = getattr(part, step)
        return part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._part()(*arguments, **named)


@cache
def _shared_app(settings: Settings) -> ASGIApp:
    """Return the application that all worlds with the same settings share.

    Its ports are those of the world whose request is being answered. The framework takes longer to register the
    routes than most tests take.
    """
    ports: dict[str, Any] = {port.name: _Forward("stores", port.name) for port in fields(MemoryStores)}
    stores = MemoryStores(**ports)
    clock, ids, receiver, notify, hosts = (
        cast("Any", _Forward(name)) for name in ("clock", "ids", "receiver", "notify", "hosts")
    )
    kinds = ("heavy", "lists", "public", "pages")
    shares = Shares(**{kind: cast("Any", _Forward("shares", kind)) for kind in kinds})
    pages = cast("Any", _Forward("rendered_pages"))
    app = compose(settings, stores, clock=clock, ids=ids, notify=notify, hosts=hosts, shares=shares)
    for_clients = client_services(settings, app, receiver, pages)
    return with_webhooks(receiver, Services(for_clients=for_clients, why_not_ready=_ready))


async def _ready() -> str | None:
    return None


@final
class Caller:
    """An organization with a repository, and a key of it."""

    def __init__(
        self, world: "ApiWorld", organization: Organization, connection: Connection, issued: IssuedKey
    ) -> None:
        self.world = world
        self.organization = organization
        self.connection = connection
        self.key = issued.key
        self.record: ApiKey = issued.record

    @property
    def repository_id(self) -> int:
        return self.connection.integration.repositories[0].id

    @property
    def address(self) -> Address:
        """Return the address of the connection's webhook."""
        integration = self.connection.integration
        return Address(
            provider=integration.provider,
            organization_id=self.organization.id,
            integration_id=integration.id,
            repository_id=self.repository_id,
        )

    def signed(self, body: dict[str, Any] | bytes, *, secret: str | None = None, **more: Any) -> Delivery:
        """Return a delivery to the connection, with its secret or with another one."""
        return signed(body, at=self.address, secret=secret or self.connection.secret, **more)

    async def __call__(
        self, method: str, path: str, body: object = None, *, headers: dict[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        sent: dict[str, Any] = {} if body is None else {"json": body}
        authorization = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        return await self.world.send(method, path, headers=authorization, **sent, **more)

    async def push(self, delivery_id: str, *messages: str, secret: str | None = None) -> None:
        """Deliver a push, signed with the secret of the connection; with another ``secret``, it is refused."""
        body = push_body(*messages, repository_id=self.repository_id)
        await self._deliver("push", delivery_id, body, secret)

    async def release(self, delivery_id: str, tag: str, **fields: Any) -> None:
        sent = release_body(tag, repository_id=self.repository_id, **fields)
        await self._deliver("release", delivery_id, sent)

    async def _deliver(self, event: str, delivery_id: str, body: dict[str, Any], secret: str | None = None) -> None:
        delivery = self.signed(body, secret=secret, event=event, delivery_id=delivery_id)
        outcome = await self.world.receiver.receive(delivery)
        assert outcome.status == (200 if secret is None else 401)


@final
class ApiWorld:
    def __init__(
        self,
        settings: Settings | None = None,
        stores: Stores | None = None,
        hosts: Callable[[str], Awaitable[CodeHost | None]] = no_hosts,
    ) -> None:
        self.stores = stores or memory_stores(SEALER)
        self.clock = ManualClock()
        self.ids = _IDS
        self.operator = Operator(self.stores.directory, self.stores.keys, self.clock, self.ids)
        self.receiver = Receiver(self.stores.deliveries, self.stores.journal, self.clock, self.ids)
        self.nudged = 0
        self.hosts = hosts
        self.shares = make_shares()
        self.rendered_pages = RenderedPages(SingleThreadExecutor("public pages"), self.shares.pages)
        self._settings = settings or Settings()
        #: The use cases over the ports of this world.
        self.use_cases = compose(
            self._settings,
            self.stores,
            clock=self.clock,
            ids=self.ids,
            notify=self.notify,
            hosts=hosts,
            shares=self.shares,
        )
        self._organizations = 0

    async def app(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer as the whole application does, over the ports of this world."""
        _ANSWERING.set(self)
        _answered.append(self)
        await _shared_app(self._settings)(scope, receive, send)

    def notify(self) -> None:
        self.nudged += 1

    async def caller(self, name: str = "Acme", *scopes: Scope) -> Caller:
        """Create an organization with a connected repository, and a key with the scopes, or with all."""
        self._organizations += 1
        organization = await self.operator.create_organization(name)
        assert isinstance(organization, Organization)
        connection = await self.operator.connect(
            organization,
            full_name=f"{organization.slug}/lighthouse",
            repository_id=self._organizations,
            provider="codehost",
            branch="main",
        )
        assert isinstance(connection, Connection)
        issued = await self.operator.issue_key(organization, scopes=scopes or tuple(Scope))
        assert isinstance(issued, IssuedKey)
        return Caller(self, organization, connection, issued)

    async def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        client: tuple[str, int] = request.pop("client", ("127.0.0.1", 123))
        # The transport would raise exceptions that a real server answers.
        transport = httpx.ASGITransport(cast("Any", self.app), raise_app_exceptions=False, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as browser:
            return await browser.request(method, path, **request)

    async def perform(self, sites: SiteReader | None = None) -> None:
        """Perform all due runs, a moment later."""
        self.clock.advance(timedelta(milliseconds=1))
        stores = self.stores
        reader = None
        if sites is not None:
            reader = BrandReader(sites, stores.brands, ledger=stores.ledger, jobs=stores.jobs, clock=self.clock)
        performer = performer_over(stores, self.clock, self.ids, DeterministicWriter(), sites=reader)
        await self.stores.executors.join("exe_api")
        while due := await self.stores.ledger.pending(self.clock.now(), limit=100, per_organization=100):
            for run in await self.stores.ledger.take([each.id for each in due], "exe_api"):
                await performer.perform(run, PlainSteps())
