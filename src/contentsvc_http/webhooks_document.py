"""What the OpenAPI document says of the receiver, which is no route of the framework that would say it by itself."""

from collections.abc import Sequence
from typing import Any, Final

from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_core.webhooks.signature import SIGNATURE_HEADER

#: As the specification spells it.
WEBHOOK_PATH: Final = "/api/webhooks/{provider}/{organizationId}/{integrationId}/{repositoryId}"
_ERROR: Final = {"$ref": "#/components/schemas/ErrorBody"}
_ERRORS: Final = {
    400: "invalid parameters, headers or payload, or the body was cut off",
    401: "invalid signature",
    403: "integration disabled, or repository not of this integration",
    404: "integration or repository not found",
    408: "the body did not arrive in time",
    413: "body over 25 MiB",
    415: "encoded body",
    500: "server error; nothing was stored",
    503: "overloaded or the store is away: send it again",
}
#: The schemas that no other operation uses.
WEBHOOK_SCHEMAS: Final[dict[str, Any]] = {
    "AnswerBody": {
        "title": "AnswerBody",
        "type": "object",
        "properties": {
            "received": {"type": "boolean"},
            "message": {"type": "string"},
            "data": {"type": "object", "additionalProperties": {}},
        },
        "required": ["data", "message", "received"],
    }
}


def webhook_operations() -> dict[str, Any]:
    """Give what can be done at :data:`WEBHOOK_PATH`."""
    return {
        "post": {
            "tags": ["webhooks"],
            "summary": "Receive a delivery",
            "operationId": "receiveDelivery",
            "parameters": [
                _in_path("provider", "the provider's slug", {"enum": [provider.slug for provider in PROVIDERS]}),
                _in_path("organizationId", "the organization's id", {}),
                _in_path("integrationId", "the integration's id", {}),
                _in_path("repositoryId", "the repository's id at the code host", {"pattern": "^[1-9][0-9]{0,18}$"}),
                _header(
                    SIGNATURE_HEADER,
                    "`sha256=` and the HMAC of the body under the webhook's secret, in hexadecimal",
                    {"pattern": "^sha256=[0-9a-f]{64}$"},
                    required=True,
                ),
                *(each for provider in PROVIDERS for each in _headers_of(provider)),
            ],
            "requestBody": {
                "description": "the event, in the code host's own form, as signed",
                "required": True,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "responses": {
                "200": {
                    "description": "processed, filtered out, ignored, or a duplicate: `data` says which",
                    "content": _json({"$ref": "#/components/schemas/AnswerBody"}),
                },
                **{str(status): _refusal(status, text) for status, text in _ERRORS.items()},
            },
        }
    }


def _headers_of(provider: Provider) -> Sequence[dict[str, Any]]:
    """Describe the headers that one provider's deliveries have, and no other's."""
    of = f"provider `{provider.slug}`: "
    return [
        _header(provider.event_header, f"{of}the kind of event", {}, required=False),
        _header(provider.delivery_header, f"{of}the delivery's id", {"pattern": "^[!-~]{1,255}$"}, required=False),
    ]


def _in_path(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "string", **schema}
    return {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


def _header(name: str, description: str, schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    schema = {"type": "string", **schema}
    return {"name": name, "in": "header", "required": required, "description": description, "schema": schema}


def _refusal(status: int, description: str) -> dict[str, Any]:
    refusal: dict[str, Any] = {"description": description, "content": _json(_ERROR)}
    if status == 503:  # noqa: PLR2004  # the one that may be sent again as it is
        schema = {"type": "integer", "minimum": 1}
        refusal["headers"] = {"Retry-After": {"description": "how many seconds to wait", "schema": schema}}
    return refusal


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
