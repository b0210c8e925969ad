"""What the pages of the dashboard are made from."""

from collections.abc import Callable, Sequence
from typing import final

from attrs import frozen

from contentsvc_core.application import Application
from contentsvc_http.deliveries import Receiving
from contentsvc_http.rate_limiting import RateLimits


@final
@frozen(kw_only=True)
class Dashboard:
    """The use cases, and the parts of the server that pages show or use."""

    app: Application
    limits: RateLimits
    receiver: Receiving
    #: Returns the latency histogram of settlements in this process: upper bounds in seconds, each with the cumulative
    #: count; ``None``: no histogram.
    settled: Callable[[], Sequence[tuple[float, float]]] | None = None
