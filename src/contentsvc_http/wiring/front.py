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


def front_of(settings: Settings, app: Application, receiver: Receiving, pages: RenderedPages) -> Front:
    limits = RateLimits(app.limiter, app.authenticator, Proxies.read(settings.trusted_proxies))
    is_set = settings.base_url != attrs.fields(Settings).base_url.default
    return Front(
        app=app,
        limits=limits,
        hosted=settings.hosted_client == "on",
        dashboard=Dashboard(app=app, limits=limits, receiver=receiver),
        public=PublicReading(
            app=app,
            limits=limits,
            pages=pages,
            base_url=settings.base_url if is_set else "",
            sends_mail=bool(settings.smtp_url),
        ),
        agents=settings.mcp == "on",
    )
