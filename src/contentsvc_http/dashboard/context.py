import asyncio
from datetime import datetime
from typing import Any, final

from attrs import field, frozen

from contentsvc_core.application import Application
from contentsvc_http.deliveries import Receiving
from contentsvc_http.rate_limiting import RateLimits


@final
@frozen(kw_only=True)
class Dashboard:
    app: Application
    limits: RateLimits
    receiver: Receiving
    #: The forms of the last seconds with the field ``once``: the time and the result of each, by its digest.
    sent: dict[str, tuple[datetime, asyncio.Task[Any]]] = field(
        factory=dict[str, tuple[datetime, asyncio.Task[Any]]], repr=False
    )
