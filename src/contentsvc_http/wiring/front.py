"""What a process serves: ``/v1``, the dashboard, the public pages, and agents."""

from collections.abc import Callable, Sequence

import attrs

from contentsvc_core.application import Application
from contentsvc_http.app import Front
from contentsvc_http.changelog.kept import RenderedPages
from contentsvc_http.changelog.reading import PublicReading
from contentsvc_http.client_address import Proxies
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.deliveries import Receiving
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.settings import Settings


def front_of(
    settings: Settings,
    app: Application,
    receiver: Receiving,
    pages: RenderedPages,
    *,
    settled: Callable[[], Sequence[tuple[float, float]]] | None = None,
) -> Front:
    """Return the drivers over the use cases of a process.

    Args:
        settings: The settings of the process.
        app: The use cases.
        receiver: Receives deliveries.
        pages: Renders public pages.
        settled: Returns the latency histogram of settlements.
    """
    limits = RateLimits(app.limiter, app.authenticator, Proxies.read(settings.trusted_proxies))
    is_set = settings.base_url != attrs.fields(Settings).base_url.default
    return Front(
        receiver=receiver,
        app=app,
        limits=limits,
        hosted=settings.hosted_client == "on",
        dashboard=Dashboard(app=app, limits=limits, receiver=receiver, settled=settled),
        public=PublicReading(
            app=app,
            limits=limits,
            pages=pages,
            # Addresses begin with the base URL if it is set, else with that of the request.
            base_url=settings.base_url if is_set else "",
            sends_mail=bool(settings.smtp_url),
        ),
        agents=settings.mcp == "on",
    )
