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
    #: When a form was sent whose answer shows a new secret, and its result, by the digest of the form.
    sent: dict[str, tuple[datetime, asyncio.Task[Any]]] = field(
        factory=dict[str, tuple[datetime, asyncio.Task[Any]]], repr=False
    )
