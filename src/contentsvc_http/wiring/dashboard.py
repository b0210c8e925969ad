"""What the dashboard drives."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.ports import Clock, CodeHost, IdSource
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.briefs import Briefs
from contentsvc_core.usecases.operate import Operator
from contentsvc_core.usecases.preview_style import StylePreviews
from contentsvc_core.usecases.rotate import Rotator
from contentsvc_core.usecases.sign_in import SignIn
from contentsvc_core.usecases.trail import Trails
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.deliveries import Receiving
from contentsvc_http.settings import Settings
from contentsvc_http.v1.routes import Api
from contentsvc_http.wiring.code_hosts import host_calls, no_hosts

if TYPE_CHECKING:
    from contentsvc_adapters.memory import MemoryStores
    from contentsvc_adapters.sql import SqlStores


def open_dashboard(  # noqa: PLR0913  # its parts are the process's own
    settings: Settings,
    stores: "SqlStores | MemoryStores",
    clock: Clock,
    ids: IdSource,
    *,
    api: Api,
    receiver: Receiving,
    nudge: Callable[[], None],
    hosts: Callable[[str], Awaitable[CodeHost | None]] = no_hosts,
    settled: Callable[[], Sequence[tuple[float, float]]] | None = None,
) -> Dashboard:
    """Build the use cases that only the dashboard drives, beside those of ``/v1``."""
    calls = host_calls(settings, stores, clock, ids, hosts)
    return Dashboard(
        api=api,
        sign_in=SignIn(Authenticator(stores.keys, clock), stores.keys, stores.sessions, clock, ids),
        insights=stores.insights,
        trails=Trails(stores.insights, stores.contexts, stores.directory, stores.posts),
        keys=stores.keys,
        operator=Operator(stores.directory, stores.keys, clock, ids),
        rotator=Rotator(stores.directory, stores.hooks, calls, clock, ids),
        limits=stores.rate_limits,
        runs=stores.ledger,
        run_memory=stores.run_memory,
        contexts=stores.contexts,
        changelogs=api.changelogs,
        subscribers=stores.subscribers,
        style_previews=StylePreviews(Briefs(stores.contexts, stores.brands), stores.search, asyncio.to_thread),
        nudge=nudge,
        renderer=SafeMarkdown(),
        receiver=receiver,
        clock=clock,
        ids=ids,
        base_url=settings.base_url,
        settled=settled,
    )
