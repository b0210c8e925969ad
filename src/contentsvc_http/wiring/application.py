import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.offload import shares as usual_shares
from contentsvc_adapters.repeating import RepeatableClock, RepeatableExecution, RepeatableIds
from contentsvc_core.application import Application, no_hosts, nothing
from contentsvc_http.settings import Settings

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import Clock, CodeHost, IdSource, Shares, Stores


def compose(
    settings: Settings,
    stores: "Stores",
    *,
    clock: "Clock | None" = None,
    ids: "IdSource | None" = None,
    hosts: "Callable[[str], Awaitable[CodeHost | None]]" = no_hosts,
    notify: Callable[[], None] = nothing,
    shares: "Shares | None" = None,
) -> Application:
    return Application(
        stores=stores,
        clock=RepeatableClock(clock or SystemClock()),
        ids=RepeatableIds(ids or RandomIds()),
        renderer=SafeMarkdown(),
        shares=shares or usual_shares(),
        offload=asyncio.to_thread,
        repeatable=RepeatableExecution,
        hosts=hosts,
        notify=notify,
        base_url=settings.base_url,
        site_hosts=_hosts(settings.site_hosts),
        outgoing_hosts=_hosts(settings.outgoing_hosts),
        mails=bool(settings.smtp_url),
    )


def _hosts(named: str) -> "frozenset[SiteHost]":
    if not named:
        return frozenset()
    from contentsvc_core.content.site_addresses import read_site_hosts  # noqa: PLC0415  # most processes do not need it

    return read_site_hosts(named)
