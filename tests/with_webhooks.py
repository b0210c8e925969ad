"""The application with hook addresses over ASGI, without the server's own protocol class."""

from litestar.types import ASGIApp

from contentsvc_core.usecases.receive import run_inline
from contentsvc_http.app import Services, create_application
from contentsvc_http.deliveries import Receiving
from contentsvc_http.logs import AnswerObserver, Requests
from contentsvc_http.webhooks import Webhooks


def with_webhooks(receiver: Receiving, services: Services, answered: AnswerObserver | None = None) -> ASGIApp:
    requests = Requests(answered)
    return Webhooks(receiver, create_application(services, requests), offload=run_inline, requests=requests)
