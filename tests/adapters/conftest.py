from collections.abc import AsyncGenerator, Generator
from typing import Any

import anyio
import pytest
from tests.adapters.internet import PUBLIC, Internet
from tests.code_host_server import CodeHostServer

from contentsvc_adapters.codehosts.rest import RestCodeHost


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Internet:
    created = Internet()
    connect: Any = anyio.connect_tcp

    async def connect_tcp(remote_host: str, remote_port: int, **options: Any) -> Any:
        # The lookup that the reader uses; only the system is below it.
        created.connected.append((remote_host, remote_port))
        local = created.at.get((remote_host, remote_port))
        if local is None:
            raise ConnectionRefusedError
        return await connect("127.0.0.1", local, **options)

    monkeypatch.setattr(anyio, "connect_tcp", connect_tcp)
    created.name("acme.example", [PUBLIC])
    return created


@pytest.fixture
def github() -> Generator[CodeHostServer]:
    with CodeHostServer() as serving:
        yield serving


@pytest.fixture
async def host(request: pytest.FixtureRequest) -> AsyncGenerator[RestCodeHost]:
    name = "server" if "server" in request.fixturenames else "github"
    created = RestCodeHost(request.getfixturevalue(name).api_url, timeout_s=5.0)
    yield created
    await created.close()
