"""The use cases of a process over its stores and adapters."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from contentsvc_adapters.aside import shares as usual_shares
from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.application import Application, no_hosts, nothing
from contentsvc_core.ports import Clock, CodeHost, IdSource, Shares, Stores
from contentsvc_http.settings import Settings

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost


def compose(  # one parameter an adapter
    settings: Settings,
    stores: Stores,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    hosts: Callable[[str], Awaitable[CodeHost | None]] = no_hosts,
    nudge: Callable[[], None] = nothing,
    shares: Shares | None = None,
) -> Application:
    """Return the use cases.

    Args:
        settings: The settings of the process.
        stores: What the use cases read and write.
        clock: ``None``: the system's clock.
        ids: ``None``: random ids.
        hosts: Returns the code host of a provider.
        nudge: Called after a run was stored.
        shares: ``None``: shares of the usual size.
    """
    return Application(
        stores=stores,
        clock=clock or SystemClock(),
        ids=ids or RandomIds(),
        renderer=SafeMarkdown(),
        shares=shares or usual_shares(),
        aside=asyncio.to_thread,
        hosts=hosts,
        nudge=nudge,
        base_url=settings.base_url,
        site_hosts=_hosts(settings.site_hosts),
        outgoing_hosts=_hosts(settings.outgoing_hosts),
    )


def _hosts(named: str) -> "frozenset[SiteHost]":
    if not named:
        return frozenset()
    from contentsvc_core.content.site_addresses import read_site_hosts  # noqa: PLC0415  # most processes name none

    return read_site_hosts(named)
