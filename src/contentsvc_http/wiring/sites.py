import asyncio
from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

from contentsvc_core.content.site_addresses import SiteHost

if TYPE_CHECKING:
    from contentsvc_core.ports import SiteReader
    from contentsvc_core.ports.brands import NotRead, SitePage

_READER: Final = "contentsvc_adapters.sites.reader"


@final
class ReaderOnDemand:
    """Loads the HTTP client with the first site: most processes read none."""

    def __init__(self, opened: Collection[SiteHost]) -> None:
        self._opened = opened
        self._reader: SiteReader | None = None

    async def read(self, url: str) -> "SitePage | NotRead":
        if self._reader is None:
            # In a thread, so that deliveries do not wait for the import.
            module: Any = await asyncio.to_thread(import_module, _READER)
            self._reader = module.HttpSiteReader(opened=self._opened)
        assert self._reader is not None
        return await self._reader.read(url)
