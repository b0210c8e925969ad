from typing import Annotated, Final, TypedDict

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.access.keys import Scope
from contentsvc_core.outgoing.endpoints import UNKNOWN_ENDPOINT, ChangeEndpoint, CreateEndpoint, EndpointBody
from contentsvc_core.usecases.consents import AskedBody, confirmations_body
from contentsvc_core.usecases.webhook_endpoints import NewSecret
from contentsvc_http.errors import accepted, refused
from contentsvc_http.v1.bodies import SecretRotation
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations

_READING: Final = (
    "The URL of a chat is a secret: without the scope `write`, the answer has its host only, such as "
    "`https://hooks.slack.com/…`."
)
_Id = Annotated[str, Parameter(description="Id of the webhook endpoint.")]


class EndpointListBody(TypedDict):
    """An organization's webhook endpoints, oldest first."""

    webhookEndpoints: list[EndpointBody]


class OneEndpointBody(TypedDict):
    """A webhook endpoint."""

    webhookEndpoint: EndpointBody


class NewSecretBody(TypedDict):
    """A webhook endpoint and its new secret, which is shown only once."""

    webhookEndpoint: EndpointBody
    secret: str | None


class EndpointRemovedBody(TypedDict):
    """The id of the deleted webhook endpoint."""

    id: str


class TestSentBody(TypedDict):
    """The id of the test message: the ``referenceId`` of its log entry."""

    messageId: str


def webhook_endpoint_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "webhook endpoints")
    endpoints, editor, consents = gate.app.stores.endpoints, gate.app.endpoint_editor, gate.app.consents

    @operation("GET /v1/webhook-endpoints", "listWebhookEndpoints", "List webhook endpoints", description=_READING)
    async def list_endpoints(key: Caller) -> Response[EndpointListBody]:
        writes = Scope.WRITE in key.scopes
        listed = [each.shown(to_writer=writes) for each in await endpoints.endpoints(key.organization_id)]
        return await gate.answer(key, {"webhookEndpoints": await consents.bodies(key.organization_id, listed)})

    @operation(
        "GET /v1/webhook-endpoints/{endpoint_id:str}",
        "getWebhookEndpoint",
        "Get a webhook endpoint",
        description=_READING,
    )
    async def get_endpoint(key: Caller, endpoint_id: _Id) -> Response[OneEndpointBody]:
        endpoint = await endpoints.endpoint(key.organization_id, endpoint_id)
        body = await consents.body(accepted(endpoint or UNKNOWN_ENDPOINT).shown(to_writer=Scope.WRITE in key.scopes))
        return await gate.answer(key, {"webhookEndpoint": body})

    @operation(
        "POST /v1/webhook-endpoints",
        "createWebhookEndpoint",
        "Create a webhook endpoint",
        description="`url` is the URL of a webhook, or `mailto:` and up to ten e-mail addresses. Unless you name a "
        "format, the host decides: URLs of Slack, Discord and Microsoft Teams are recognized. For the format "
        "`standard`, the response contains the signing secret. Store it: it is not shown again. E-mail addresses get a "
        "mail with a link first; messages go to confirmed addresses only.",
        body=CreateEndpoint,
        status=201,
        headers=[LOCATED],
        fails=[409],
    )
    async def create_endpoint(key: Caller, command: Sent[CreateEndpoint]) -> Response[NewSecretBody]:
        created = accepted(await editor.create(key.organization_id, command))
        location = f"/v1/webhook-endpoints/{created.endpoint.id}"
        return await gate.answer(key, await _with_secret(gate, created), location=location)

    @operation(
        "PATCH /v1/webhook-endpoints/{endpoint_id:str}",
        "updateWebhookEndpoint",
        "Update a webhook endpoint",
        description="A disabled endpoint receives no new messages. Messages that are already waiting are sent when you "
        "enable it again.",
        body=ChangeEndpoint,
    )
    async def change_endpoint(
        key: Caller, command: Sent[ChangeEndpoint], endpoint_id: _Id
    ) -> Response[OneEndpointBody]:
        changed = accepted(await editor.change(key.organization_id, endpoint_id, command))
        return await gate.answer(key, {"webhookEndpoint": await consents.body(changed)})

    @operation(
        "DELETE /v1/webhook-endpoints/{endpoint_id:str}",
        "deleteWebhookEndpoint",
        "Delete a webhook endpoint and its waiting messages",
    )
    async def delete_endpoint(key: Caller, endpoint_id: _Id) -> Response[EndpointRemovedBody]:
        if not await editor.remove(key.organization_id, endpoint_id):
            raise refused(UNKNOWN_ENDPOINT)
        return await gate.answer(key, {"id": endpoint_id})

    _add_actions(operation, gate)
    return operation.routes


async def _with_secret(gate: Gate, created: NewSecret) -> NewSecretBody:
    secret = created.secret if created.endpoint.is_signed else None
    return {"webhookEndpoint": await gate.app.consents.body(created.endpoint), "secret": secret}


def _add_actions(operation: Operations, gate: Gate) -> None:
    editor = gate.app.endpoint_editor

    @operation(
        "POST /v1/webhook-endpoints/{endpoint_id:str}/rotate-secret",
        "rotateWebhookEndpointSecret",
        "Rotate the secret of a webhook endpoint",
        description="Until the overlap ends, each message has two signatures: one with the new secret and one with the "
        "previous secret.",
        body=SecretRotation,
        body_required=False,
        fails=[409],
    )
    async def rotate_secret(key: Caller, command: Sent[SecretRotation], endpoint_id: _Id) -> Response[NewSecretBody]:
        rotated = await editor.rotate(key.organization_id, endpoint_id, overlap=command.overlap)
        return await gate.answer(key, await _with_secret(gate, accepted(rotated)))

    @operation(
        "POST /v1/webhook-endpoints/{endpoint_id:str}/test",
        "testWebhookEndpoint",
        "Send a test message",
        description="409 for e-mail if no address is confirmed yet.",
        status=202,
        fails=[409],
    )
    async def test_endpoint(key: Caller, endpoint_id: _Id) -> Response[TestSentBody]:
        message_id = accepted(await editor.test(key.organization_id, endpoint_id))
        return await gate.answer(key, {"messageId": message_id})

    @operation(
        "POST /v1/webhook-endpoints/{endpoint_id:str}/confirmations",
        "confirmWebhookEndpoint",
        "Send the confirmation mail again",
        description="Asks the unconfirmed e-mail addresses of the endpoint again. An address gets one mail an hour. An "
        "organization sends 20 a day.",
        status=202,
        fails=[409],
    )
    async def confirm_endpoint(key: Caller, endpoint_id: _Id) -> Response[AskedBody]:
        asked = accepted(await editor.ask(key.organization_id, endpoint_id))
        return await gate.answer(key, confirmations_body(asked))
