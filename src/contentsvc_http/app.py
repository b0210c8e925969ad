"""The application: routes over use cases, and nothing else."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import final

from attrs import frozen
from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.types import ASGIApp

from contentsvc_core.ports import PostLibrary
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.receive import Receiver
from contentsvc_http.errors import refuse
from contentsvc_http.health import health_routes
from contentsvc_http.logs import RequestLog
from contentsvc_http.v1.posts import post_list_route
from contentsvc_http.webhooks import webhook_route

#: The largest body that ``/v1`` takes, in bytes.
_MAX_API_BODY = 1024 * 1024


@final
@frozen(kw_only=True)
class Services:
    """What the application drives."""

    receiver: Receiver
    authenticator: Authenticator
    posts: PostLibrary
    #: Gives the reason why the service cannot work now, or ``None``.
    why_not_ready: Callable[[], Awaitable[str | None]]


def create_app(services: Services) -> ASGIApp:
    """Give the ASGI application."""
    running = version("contentsvc")
    application = Litestar(
        route_handlers=[
            webhook_route(services.receiver),
            post_list_route(services.posts, services.authenticator),
            *health_routes(running, services.why_not_ready),
        ],
        exception_handlers={Exception: refuse},
        request_max_body_size=_MAX_API_BODY,
        openapi_config=OpenAPIConfig(
            title="contentsvc",
            version=running,
            path="/schema",
            # The documentation pages that ship with the framework load their scripts from elsewhere.
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        # Our own configuration of logging stands (logs.py).
        logging_config=None,
    )
    return RequestLog(application)
