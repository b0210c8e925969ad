from typing import final

from attrs import frozen

from contentsvc_core.application import Application
from contentsvc_http.deliveries import Receiving
from contentsvc_http.rate_limiting import RateLimits


@final
@frozen(kw_only=True)
class Dashboard:
    app: Application
    limits: RateLimits
    receiver: Receiving
