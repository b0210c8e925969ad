import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias, TypeVar

from contentsvc_cli.operate.doctor import clock, database, network, work
from contentsvc_cli.operate.doctor.deliveries import deliveries
from contentsvc_cli.operate.doctor.findings import Check, Finding, Findings, skipped, within
from contentsvc_cli.operate.doctor.outgoing import mail, mails, webhooks
from contentsvc_cli.operate.doctor.settings import settings_found
from contentsvc_http.settings import Examined, variable
from contentsvc_http.wiring.diagnostics import DatabaseInspector, open_as_it_is

_T = TypeVar("_T")

_ADVICE: Final = {
    "database": "check CONTENTSVC_DATABASE_URL, that PostgreSQL runs and has disk space, and that its limits on "
    "connections allow for all nodes and a few commands",
    "disk": "free some space on the disk of the database's server, if it is full: until then, deliveries are answered "
    "with 503",
    "key": "docs/operations.md, The key, says how to make, keep and restore keys",
    "engine": "check the permissions of the database role; 'contentsvc migrate' creates missing tables",
}
_FILE: Final = "see the check 'file'"
_OTHERWISE: Final = "try again; if it fails again, see the log of 'contentsvc serve'"
_CLOSE_S: Final = 1.0
#: The maximum number of concurrent checks that query the database. On a busy machine, more would wait for each other
#: until their statements time out.
_CONCURRENT: Final = 2


#: The findings of a check that others depend on, and why those cannot run; ``None`` if they can.
_Gate: TypeAlias = tuple[Findings, str | None]


async def examine(examined: Examined, address: network.BindAddress, report: Callable[[str], None]) -> list[Finding]:
    async with open_as_it_is(examined.settings, patience_s=_CLOSE_S) as opened:
        return await _Examination(examined, address, opened, report).run()


class _Examination:
    def __init__(
        self, examined: Examined, address: network.BindAddress, opened: DatabaseInspector, report: Callable[[str], None]
    ) -> None:
        self._examined = examined
        self._settings = examined.settings
        self._address = address
        self._database = opened
        self._report = report
        self._under_way: list[str] = []
        self._querying: Final = asyncio.Semaphore(_CONCURRENT)

    async def run(self) -> list[Finding]:
        settings, opened = self._settings, self._database
        async with asyncio.TaskGroup() as group:
            reached = group.create_task(self._reached())
            readable = group.create_task(self._readable(reached))
            server = group.create_task(self._server())
            hosts = group.create_task(self._hosts(readable))

            def read(name: str, check: Check) -> "asyncio.Task[Findings]":
                return group.create_task(self._behind(readable, name, check))

            tasks: list[asyncio.Task[Findings]] = [
                group.create_task(self._if_usable("file", partial(database.file, settings), "database_url")),
                group.create_task(self._disk(reached)),
                read("key", partial(database.key, opened)),
                group.create_task(self._engine(reached)),
                read("runs", partial(work.runs, opened)),
                read("references", partial(work.references, opened)),
                read("search", partial(work.search, opened)),
                read("executors", partial(work.executors, settings, opened)),
                read("deliveries", partial(deliveries, opened)),
                group.create_task(self._clock(reached, hosts)),
                group.create_task(_of(server, lambda result: result.findings)),
                group.create_task(self._dashboard(server)),
                group.create_task(self._if_usable("base_url", self._base_url, "base_url")),
                group.create_task(_of(hosts, lambda results: [result.finding for result in results])),
                group.create_task(
                    self._if_usable("model", partial(network.model, settings), "writer_url", "writer_key")
                ),
                group.create_task(self._if_usable("mail", partial(mail, settings), "smtp_url", "mail_from")),
                read("mails", partial(mails, settings, opened)),
                read("webhooks", partial(webhooks, opened)),
            ]
        return [
            *settings_found(self._examined),
            *reached.result()[0],
            *readable.result()[0],
            *(finding for task in tasks for finding in task.result()),
        ]

    async def _check(self, name: str, check: Callable[[], Awaitable[_T]], failed: Callable[[Finding], _T]) -> _T:
        self._under_way.append(name)
        advice = _FILE if name == "database" and self._settings.is_sqlite else _ADVICE.get(name, _OTHERWISE)
        self._report(f"checking {', '.join(self._under_way)}")
        try:
            # A check that hangs knows no cause. Nothing else is looked at if the database hangs.
            if_slow = advice if name == "database" else _OTHERWISE
            return await within(name, check, failed, advice=advice, if_slow=if_slow)
        finally:
            self._under_way.remove(name)
            self._report(f"checking {', '.join(self._under_way) or 'the rest'}")

    def _unusable(self, setting: str) -> str | None:
        named = variable(setting)
        return f"{named} is invalid" if named in self._examined.faults else None

    async def _reached(self) -> _Gate:
        if (why := self._unusable("database_url")) is not None:
            return [skipped("database", why)], why
        check = partial(database.reach, self._settings, self._database)
        return await self._check("database", check, lambda found: ([found], "the database cannot be reached"))

    async def _readable(self, reached: "asyncio.Task[_Gate]") -> _Gate:
        _, why = await reached
        if why is not None:
            return [skipped("schema", why)], why
        check = partial(database.schema, self._settings, self._database)
        return await self._check("schema", check, lambda found: ([found], "the database cannot be used"))

    async def _behind(self, gate: "asyncio.Task[_Gate]", name: str, check: Check) -> Findings:
        _, why = await gate
        if why is not None:
            return [skipped(name, why)]
        async with self._querying:
            return await self._check(name, check, _alone)

    async def _if_usable(self, name: str, check: Check, *settings: str) -> Findings:
        why = next(filter(None, map(self._unusable, settings)), None)
        return await self._check(name, check, _alone) if why is None else [skipped(name, why)]

    async def _engine(self, reached: "asyncio.Task[_Gate]") -> Findings:
        why = self._unusable("engine") or self._unusable("database_url")
        if why is not None:
            return [skipped("engine", why)]
        return await self._behind(reached, "engine", partial(work.engine, self._settings))

    async def _disk(self, reached: "asyncio.Task[_Gate]") -> Findings:
        check = partial(database.disk, self._settings, self._database)
        if self._settings.is_sqlite:
            return await self._if_usable("disk", check, "database_url")
        return await self._behind(reached, "disk", check)

    async def _server(self) -> network.ServerCheck:
        check = partial(network.server, self._address)
        return await self._check("server", check, lambda found: network.ServerCheck(findings=[found]))

    async def _dashboard(self, server: "asyncio.Task[network.ServerCheck]") -> Findings:
        check = partial(network.dashboard, self._address, await server)
        return [await self._check("dashboard", check, _itself)]

    async def _base_url(self) -> Findings:
        return [await network.base_url(self._settings)]

    async def _hosts(self, readable: "asyncio.Task[_Gate]") -> list[network.HostCheck]:
        providers = frozenset[str]()
        _, why = await readable
        if why is None:
            # The database check reports its own faults.
            providers = await within("code host", self._database.providers, lambda _: frozenset())
        hosts = network.hosts_to_check(self._settings, self._examined.in_use, providers)
        if not hosts:
            sentence = "no API to check: none is set, and no repository is connected at a known one"
            return [network.HostCheck(finding=skipped("code host", sentence))]
        return await asyncio.gather(*(self._host(*host) for host in hosts.items()))

    async def _host(self, provider: str, api_url: str) -> network.HostCheck:
        check = partial(network.code_host, provider, api_url)
        return await self._check(f"code host {provider}", check, lambda found: network.HostCheck(finding=found))

    async def _clock(self, reached: "asyncio.Task[_Gate]", hosts: "asyncio.Task[list[network.HostCheck]]") -> Findings:
        beside: Finding | None = None
        steady = await self._check("clock", clock.steadiness, _itself)
        _, why = await reached
        if why is None:
            beside = await self._check("clock", partial(clock.beside_database, self._database), _itself)
        return [steady, *([] if beside is None else [beside]), *clock.beside_hosts(await hosts)]


def _itself(found: Finding) -> Finding:
    return found


def _alone(found: Finding) -> Findings:
    return [found]


async def _of(task: "asyncio.Task[_T]", give: "Callable[[_T], Findings]") -> Findings:
    return give(await task)
