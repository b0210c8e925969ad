import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from contentsvc_adapters.codehosts.clients import HostClient
    from contentsvc_http.settings import Settings

_CLIENTS: Final = "contentsvc_adapters.codehosts.clients"


@final
class CodeHosts:
    """Returns the code host of a provider; the first call loads the HTTP client."""

    def __init__(self, settings: "Settings") -> None:
        self._settings = settings
        self._opened: dict[str, HostClient] = {}

    async def __call__(self, provider: str) -> "HostClient | None":
        api_url = self._settings.api_urls.get(provider)
        if not api_url:
            return None
        # In a thread, so that deliveries do not wait for the import.
        module: Any = await asyncio.to_thread(import_module, _CLIENTS)
        return self._opened.get(provider) or self._opened.setdefault(provider, module.client_of(provider)(api_url))

    async def aclose(self) -> None:
        for host in self._opened.values():
            await host.close()


def probe_url(provider: str, api_url: str) -> str:
    """Return an address of a provider's API that answers without a token."""
    module: Any = import_module(_CLIENTS)
    return f"{api_url}{module.client_of(provider).dialect_at(api_url).probe}"
