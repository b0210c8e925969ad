"""An installation whose key may generate posts, and the answers to its requests."""

from pathlib import Path
from typing import Final, final

import httpx
from attrs import frozen
from tests.server_process import REPOSITORY, REPOSITORY_ID, SECRET_KEY, Installation

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_adapters.sql import Database, SqlStores, upgrade
from contentsvc_core import Connection, IssuedKey, Operator, Organization

GENERATE: Final = "/v1/posts/generate"
LIMIT: Final = 10
_BODY: Final = {"contentType": "changelog", "lookbackWindow": "current_day"}


@final
@frozen(kw_only=True)
class Limited:
    """An installation with an organization, a repository and a key."""

    installation: Installation
    key: str

    @property
    def runs(self) -> int:
        """Count the successful requests: each leaves a run."""
        return self.installation.count("SELECT count(*) FROM workflow_runs")

    async def ask(self, client: httpx.AsyncClient, url: str) -> httpx.Response:
        """Send a request to generate a post; check that the answer's headers agree."""
        response = await client.post(f"{url}{GENERATE}", json=_BODY, headers={"Authorization": f"Bearer {self.key}"})
        assert response.status_code in {202, 429}, response.text
        for name in ("Limit", "Remaining"):
            assert response.headers[f"RateLimit-{name}"] == response.headers[f"X-RateLimit-{name}"]
        assert ("Retry-After" in response.headers) == (response.status_code == 429)
        return response


async def install(folder: Path, url: str) -> Limited:
    """Set up an installation in this process: a command for each part would take longer than the test."""
    database = Database(url)
    await upgrade(database)
    stores = SqlStores(database, FernetSealer(SECRET_KEY))
    operator = Operator(stores.directory, stores.keys, SystemClock(), RandomIds())
    organization = await operator.create_organization("Acme")
    assert isinstance(organization, Organization)
    connected = await operator.connect(
        organization, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch="main"
    )
    assert isinstance(connected, Connection)
    issued = await operator.issue_key(organization)
    assert isinstance(issued, IssuedKey)
    await stores.close()
    return Limited(installation=Installation(folder, database_url=url, secret_key=SECRET_KEY), key=issued.key)


def clients() -> httpx.AsyncClient:
    """Create a client that opens as many connections as there are requests."""
    return httpx.AsyncClient(trust_env=False, timeout=30, limits=httpx.Limits(max_connections=None))
