"""What the dashboard's pages drive."""

from collections.abc import Callable, Sequence
from typing import final

from attrs import frozen

from contentsvc_core.ports import (
    ApiKeys,
    Clock,
    ContextLibrary,
    IdSource,
    Insights,
    MarkupRenderer,
    RateLimitStore,
    RunLedger,
    RunMemory,
    Subscribers,
)
from contentsvc_core.usecases.operate import Operator
from contentsvc_core.usecases.preview_style import StylePreviews
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_core.usecases.rotate import Rotator
from contentsvc_core.usecases.sign_in import SignIn
from contentsvc_core.usecases.trail import Trails
from contentsvc_http.v1.routes import Api
from contentsvc_http.webhooks import Receiving


@final
@frozen(kw_only=True)
class Dashboard:
    """Use cases and ports: those of ``/v1``, and what only people ask for."""

    api: Api
    sign_in: SignIn
    insights: Insights
    trails: Trails
    keys: ApiKeys
    operator: Operator
    rotator: Rotator
    #: How much of each limit is used is asked of the store: looking does not count.
    limits: RateLimitStore
    runs: RunLedger
    run_memory: RunMemory
    contexts: ContextLibrary
    changelogs: ChangelogEditor
    subscribers: Subscribers
    style_previews: StylePreviews
    #: Called after a run was stored.
    nudge: Callable[[], None]
    renderer: MarkupRenderer
    receiver: Receiving
    clock: Clock
    ids: IdSource
    #: Where code hosts reach this service; no slash at its end.
    base_url: str
    #: Gives how many settlements took how long in this process: upper bounds in seconds, each with how many took no
    #: longer; ``None`` where nobody counts.
    settled: Callable[[], Sequence[tuple[float, float]]] | None = None
