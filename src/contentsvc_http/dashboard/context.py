"""The use cases and ports of the dashboard."""

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
from contentsvc_http.deliveries import Receiving
from contentsvc_http.v1.routes import Api


@final
@frozen(kw_only=True)
class Dashboard:
    """The use cases and ports of ``/v1``, and the ones that only the dashboard needs."""

    api: Api
    sign_in: SignIn
    insights: Insights
    trails: Trails
    keys: ApiKeys
    operator: Operator
    rotator: Rotator
    #: For reading the used part of rate limits; reading does not count as a request.
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
    #: The address at which code hosts reach this service; no trailing slash.
    base_url: str
    #: Returns the latency histogram of settlements in this process: upper bounds in seconds, each with the cumulative
    #: count; ``None``: no histogram.
    settled: Callable[[], Sequence[tuple[float, float]]] | None = None
