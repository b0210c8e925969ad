"""The webhook receiver (specification 4.1): a driver of :class:`~contentsvc_core.usecases.receive.Receiver`."""

from typing import Annotated, Any, Final, Protocol, final

from attrs import evolve
from litestar import Request, Response, post
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter

from contentsvc_core.webhooks.decision import BODY_TOO_LARGE, MAX_BODY, locate
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Outcome, Rejected, answer
from contentsvc_http.errors import Refused
from contentsvc_http.responses import AnswerBody, ErrorBody

_PATH: Final = "/api/webhooks/{provider:str}/{organization_id:str}/{integration_id:str}/{repository_id:str}"
_ERRORS: Final = {
    400: "invalid parameters, headers or payload",
    401: "invalid signature",
    403: "integration disabled, or repository not of this integration",
    404: "integration or repository not found",
    413: "body over 25 MiB",
    415: "encoded body",
    500: "server error; nothing was stored",
    503: "overloaded or the store is away: send it again",
}


class Receiving(Protocol):
    """What receives: :class:`~contentsvc_core.usecases.receive.Receiver`, or something that watches one."""

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
        ...

    async def receive(self, delivery: Delivery) -> Outcome:
        """Decide a delivery and make the decision durable."""
        ...


def webhook_route(receiver: Receiving) -> HTTPRouteHandler:
    """Give the receiver's route."""

    @post(
        _PATH,
        status_code=200,
        name="receive_delivery",
        summary="Receive a delivery",
        tags=["webhooks"],
        # The framework's own cap is lower; the body is counted here while it streams in.
        request_max_body_size=None,
        responses={
            status: ResponseSpec(ErrorBody, description=text, generate_examples=False)
            for status, text in _ERRORS.items()
        },
    )
    async def receive_delivery(
        request: Request[Any, Any, Any],
        provider: Annotated[str, Parameter(description="the provider's slug")],
        organization_id: Annotated[str, Parameter(description="the organization's id")],
        integration_id: Annotated[str, Parameter(description="the integration's id")],
        # A text, since the framework's integers take 1_0, Arabic digits, and what overflows a database.
        repository_id: Annotated[str, Parameter(description="the repository's id at the code host")],
    ) -> Response[AnswerBody]:
        address = locate(provider, organization_id, integration_id, repository_id)
        if isinstance(address, Rejected):
            return _respond(address)
        delivery = Delivery(address=address, headers=tuple(request.scope["headers"]), body=b"")
        if (refused := await receiver.preflight(delivery)) is not None:
            return _respond(refused)
        try:
            body = await _read(request)
        except _HungUp:
            raise Refused(400, {"error": "The body was cut off"}) from None
        if body is None:
            return _respond(BODY_TOO_LARGE)
        return _respond(await receiver.receive(evolve(delivery, body=body)))

    return receive_delivery


async def _read(request: Request[Any, Any, Any]) -> bytes | None:
    """Read the body as far as it may go; ``None``: it goes further.

    Raises:
        _HungUp: The sender went away before the end.
    """
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise _HungUp
        chunk = message["body"]
        size += len(chunk)
        if size > MAX_BODY:
            return None
        chunks.append(chunk)
        if not message["more_body"]:
            return b"".join(chunks)


@final
class _HungUp(Exception):
    """The sender went away in the middle of a body: nobody reads the answer, and nothing is wrong here."""


def _respond(outcome: Outcome) -> Response[Any]:
    # The rest of the body is not worth waiting for.
    headers = {"Connection": "close"} if outcome is BODY_TOO_LARGE else None
    return Response(answer(outcome), status_code=outcome.status, headers=headers)
