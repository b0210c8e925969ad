import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from attrs import field, frozen

from contentsvc_cli.operate.doctor import clock, database, network, work
from contentsvc_cli.operate.doctor.deliveries import deliveries
from contentsvc_cli.operate.doctor.findings import LIMIT_S, Check, Finding, Findings, skipped, within
from contentsvc_cli.operate.doctor.outgoing import mail, mails, webhooks
from contentsvc_cli.operate.doctor.settings import settings_found
from contentsvc_http.settings import Examined, variable
from contentsvc_http.wiring.diagnostics import DatabaseInspector, open_as_it_is

_T = TypeVar("_T")

_ADVICE: Final = {
    "database": "check CONTENTSVC_DATABASE_URL, that PostgreSQL runs, and that its limits on connections allow for all "
    "nodes and a few commands",
    "key": "docs/operations.md, The key, says how to make, keep and restore keys",
    "engine": "check the permissions of the database role; 'contentsvc migrate' creates missing tables",
}
_FILE: Final = "see the check 'file'"
_OTHERWISE: Final = "try again; if it fails again, see the log of 'contentsvc serve'"
_CLOSE_S: Final = 1.0


@frozen(kw_only=True)
class _Gate:
    findings: tuple[Finding, ...] = field(converter=tuple)
    #: Why dependent checks cannot run; ``None`` if they can.
    why_not: str | None


async def examine(examined: Examined, place: network.BindAddress, report: Callable[[str], None]) -> list[Finding]:
    async with open_as_it_is(examined.settings, patience_s=_CLOSE_S) as opened:
        return await _Examination(examined, place, opened, report).run()


class _Examination:
    def __init__(
        self, examined: Examined, place: network.BindAddress, opened: DatabaseInspector, report: Callable[[str], None]
    ) -> None:
        self._examined = examined
        self._settings = examined.settings
        self._place = place
        self._database = opened
        self._report = report
        self._under_way: list[str] = []

    async def run(self) -> list[Finding]:
        settings, opened = self._settings, self._database
        async with asyncio.TaskGroup() as group:
            reached = group.create_task(self._reached())
            readable = group.create_task(self._readable(reached))
            server = group.create_task(self._server())
            hosts = group.create_task(self._hosts(readable))

            def read(name: str, check: Check, limit_s: float = LIMIT_S) -> "asyncio.Task[Findings]":
                return group.create_task(self._behind(readable, name, check, limit_s))

            tasks: list[asyncio.Task[Findings]] = [
                group.create_task(self._if_usable("file", partial(database.file, settings), "database_url")),
                group.create_task(self._if_usable("disk", partial(database.disk, settings), "database_url")),
                read("key", partial(database.key, opened)),
                group.create_task(self._engine(reached)),
                read("runs", partial(work.runs, opened)),
                read("references", partial(work.references, opened)),
                read("search", partial(work.search, opened)),
                read("executors", partial(work.executors, settings, opened), work.WATCHED_S + LIMIT_S),
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
            *reached.result().findings,
            *readable.result().findings,
            *(finding for task in tasks for finding in task.result()),
        ]

    async def _check(self, name: str, check: Check, limit_s: float = LIMIT_S) -> Findings:
        self._under_way.append(name)
        advice = _FILE if name == "database" and self._settings.is_sqlite else _ADVICE.get(name, _OTHERWISE)
        self._report(f"checking {', '.join(self._under_way)}")
        try:
            return await within(name, check, limit_s=limit_s, advice=advice)
        finally:
            self._under_way.remove(name)
            self._report(f"checking {', '.join(self._under_way) or 'the rest'}")

    def _unusable(self, setting: str) -> str | None:
        named = variable(setting)
        return f"{named} is invalid" if named in self._examined.faults else None

    async def _reached(self) -> _Gate:
        if (why := self._unusable("database_url")) is not None:
            return _Gate(findings=[skipped("database", why)], why_not=why)
        check = partial(database.reach, self._settings, self._database)
        return await self._gate("database", check, otherwise="the database cannot be reached")

    async def _readable(self, reached: "asyncio.Task[_Gate]") -> _Gate:
        before = (await reached).why_not
        if before is not None:
            return _Gate(findings=[skipped("schema", before)], why_not=before)
        check = partial(database.schema, self._settings, self._database)
        return await self._gate("schema", check, otherwise="the schema cannot be read")

    async def _gate(
        self, name: str, check: Callable[[], Awaitable[tuple[Findings, str | None]]], *, otherwise: str
    ) -> _Gate:
        """Run a check with the reason why others cannot run; ``otherwise`` is the reason if the check fails."""
        why_not: str | None = otherwise

        async def checked() -> Findings:
            nonlocal why_not
            findings, why_not = await check()
            return findings

        return _Gate(findings=await self._check(name, checked), why_not=why_not)

    async def _behind(self, gate: "asyncio.Task[_Gate]", name: str, check: Check, limit_s: float) -> Findings:
        why_not = (await gate).why_not
        return await self._check(name, check, limit_s) if why_not is None else [skipped(name, why_not)]

    async def _if_usable(self, name: str, check: Check, *settings: str) -> Findings:
        why = next(filter(None, map(self._unusable, settings)), None)
        return await self._check(name, check) if why is None else [skipped(name, why)]

    async def _engine(self, reached: "asyncio.Task[_Gate]") -> Findings:
        why = self._unusable("engine") or self._unusable("database_url")
        if why is not None:
            return [skipped("engine", why)]
        return await self._behind(reached, "engine", partial(work.engine, self._settings), LIMIT_S)

    async def _server(self) -> network.ServerCheck:
        answers = False

        async def check() -> Findings:
            nonlocal answers
            result = await network.server(self._place)
            answers = result.answers
            return result.findings

        # Three requests in sequence.
        return network.ServerCheck(findings=await self._check("server", check, 2 * LIMIT_S), answers=answers)

    async def _dashboard(self, server: "asyncio.Task[network.ServerCheck]") -> Findings:
        result = await server

        async def check() -> Findings:
            return [await network.dashboard(self._place, result)]

        return await self._check("dashboard", check)

    async def _base_url(self) -> Findings:
        return [await network.base_url(self._settings)]

    async def _hosts(self, readable: "asyncio.Task[_Gate]") -> list[network.HostCheck]:
        providers = frozenset[str]()

        async def connected() -> Findings:
            nonlocal providers
            providers = await self._database.providers()
            return []

        if (await readable).why_not is None:
            # The database check reports its own faults.
            await within("code host", connected)
        hosts = network.hosts_to_check(self._settings, self._examined.in_use, providers)
        if not hosts:
            sentence = "no API to check: none is set, and no repository is connected at a known one"
            return [network.HostCheck(finding=skipped("code host", sentence))]
        return [
            result
            for results in await asyncio.gather(*(self._host(*host) for host in hosts.items()))
            for result in results
        ]

    async def _host(self, provider: str, api_url: str) -> list[network.HostCheck]:
        results: list[network.HostCheck] = []

        async def check() -> Findings:
            results.append(await network.code_host(provider, api_url))
            return []

        failed = await self._check(f"code host {provider}", check)
        return results or [network.HostCheck(finding=finding) for finding in failed]

    async def _clock(self, reached: "asyncio.Task[_Gate]", hosts: "asyncio.Task[list[network.HostCheck]]") -> Findings:
        async def steady() -> Findings:
            return [await clock.steadiness()]

        async def beside_database() -> Findings:
            finding = await clock.beside_database(self._database)
            return [] if finding is None else [finding]

        findings = list(await self._check("clock", steady))
        if (await reached).why_not is None:
            findings += await self._check("clock", beside_database)
        return [*findings, *clock.beside_hosts(await hosts)]


async def _of(task: "asyncio.Task[_T]", give: "Callable[[_T], Findings]") -> Findings:
    return give(await task)
