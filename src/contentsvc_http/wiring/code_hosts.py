"""The code hosts whose APIs are configured."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from contentsvc_adapters.codehosts.rest import RestCodeHost
    from contentsvc_http.settings import Settings

_REST: Final = "contentsvc_adapters.codehosts.rest"


@final
class CodeHosts:
    """Returns the code host of a provider; the first call loads the HTTP client."""

    def __init__(self, api_urls: Mapping[str, str]) -> None:
        """Create the code hosts from API URLs by provider slug; an empty URL means none."""
        self._api_urls = api_urls
        self._opened: dict[str, RestCodeHost] = {}

    async def __call__(self, provider: str) -> "RestCodeHost | None":
        """Return a provider's code host; ``None``: its API is not configured."""
        api_url = self._api_urls.get(provider)
        if not api_url:
            return None
        # In a thread, so that deliveries do not wait for the import.
        module: Any = await asyncio.to_thread(import_module, _REST)
        return self._opened.get(provider) or self._opened.setdefault(provider, module.RestCodeHost(api_url))

    async def close(self) -> None:
        """Close the connections."""
        for host in self._opened.values():
            await host.close()


@contextlib.asynccontextmanager
async def open_code_hosts(settings: "Settings") -> AsyncGenerator[CodeHosts]:
    """Open the configured code hosts; close their connections at the end."""
    hosts = CodeHosts({"codehost": settings.codehost_api_url, "github": settings.github_api_url})
    try:
        yield hosts
    finally:
        await hosts.close()
