"""Resolving names of sites with unresponsive name servers: other queries do not wait."""

import asyncio
import socket
import sys
import threading
from typing import Any, final

import pytest
from tests.adapters.test_sites import refused

from contentsvc_adapters.sites.names import CONCURRENCY, SystemNames
from contentsvc_adapters.sites.reader import HttpSiteReader
from contentsvc_core.ports.brands import NotRead, SiteFault


@final
class DeadServers:
    """A resolver in which queries for some names wait until a test releases them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hosts: list[str] = []
        self.let_go = threading.Event()
        self._system = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._ask)

    def _ask(self, host: str, *details: Any, **more: Any) -> Any:
        self.hosts.append(host)
        if host.endswith(".example"):
            self.let_go.wait()
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self._system(host, *details, **more)


async def test_silent_name_servers_are_a_matter_of_sites_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = DeadServers(monkeypatch)
    reader = HttpSiteReader(total_s=0.05)
    loop = asyncio.get_running_loop()
    try:
        # More queries than the threads that any loop has for them.
        found = await asyncio.gather(*(reader.read(f"http://site{number}.example/") for number in range(40)))
        # Other names: the database, the model server, the code hosts.
        async with asyncio.timeout(5):
            assert await loop.getaddrinfo("127.0.0.1", 80)
            assert await loop.run_in_executor(None, socket.getaddrinfo, "127.0.0.1", 80)
    finally:
        dead.let_go.set()

    assert all(isinstance(each, NotRead) and each.fault is SiteFault.PASSING for each in found)
    assert len([host for host in dead.hosts if host.endswith(".example")]) == CONCURRENCY


async def test_an_abandoned_lookup_counts_until_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = DeadServers(monkeypatch)
    names = SystemNames()
    hasty, patient = HttpSiteReader(resolve=names, total_s=0.05), HttpSiteReader(resolve=names)
    try:
        for number in range(CONCURRENCY):
            refused(await hasty.read(f"http://site{number}.example/"), "took longer", fault=SiteFault.PASSING)
        # Immediately, without a query.
        refused(await patient.read("http://late.example/"), "looked up", fault=SiteFault.PASSING)
        assert "late.example" not in dead.hosts
    finally:
        dead.let_go.set()

    for thread in threading.enumerate():
        if thread.name == "site names":
            await asyncio.to_thread(thread.join)
    refused(await patient.read("http://late.example/"), "there is no public site 'late.example'")


_STOPPED = """
import asyncio, socket, threading
from contentsvc_adapters.sites.reader import HttpSiteReader

socket.getaddrinfo = lambda *details, **more: threading.Event().wait()
print(asyncio.run(HttpSiteReader(total_s=0.05).read("http://acme.example/")).error)
"""


@pytest.mark.slow("starts a process")
async def test_no_stop_waits_for_a_name_server() -> None:
    async with asyncio.timeout(30):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", _STOPPED, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()

    assert (process.returncode, output.decode().strip()) == (0, "the site took longer than 0.05 s")
