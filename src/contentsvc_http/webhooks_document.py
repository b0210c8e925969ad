"""The receiver's part of the OpenAPI document, by hand: the receiver is not a route of the framework."""

from collections.abc import Sequence
from typing import Any, Final, Literal

from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_core.webhooks.signature import Scheme

#: As the specification spells it.
WEBHOOK_PATH: Final = "/api/webhooks/{provider}/{organizationId}/{integrationId}/{repositoryId}"
_ERROR: Final = {"$ref": "#/components/schemas/ErrorBody"}
_ERRORS: Final = {
    400: "A parameter, a header or the payload is invalid, or the body is incomplete.",
    401: "The signature is invalid.",
    403: "The integration is disabled, or the repository does not belong to it.",
    404: "The integration or the repository does not exist.",
    408: "The body did not arrive in time.",
    413: "The body is larger than 25 MiB.",
    415: "The body has a content encoding.",
    500: "Server error. Nothing was stored.",
    503: "The service is overloaded, or its database is unavailable. Send the delivery again.",
}
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
    return {
        "post": {
            "tags": ["webhooks"],
            "summary": "Receive a webhook delivery",
            "operationId": "receiveDelivery",
            "security": [],
            "parameters": [
                _parameter(
                    "path", "provider", "Slug of the provider.", {"enum": [provider.slug for provider in PROVIDERS]}
                ),
                _parameter("path", "organizationId", "Id of the organization.", {}),
                _parameter("path", "integrationId", "Id of the integration.", {}),
                _parameter(
                    "path", "repositoryId", "Id of the repository at the code host.", {"pattern": "^[1-9][0-9]{0,18}$"}
                ),
                *map(_proof, dict.fromkeys(provider.scheme for provider in PROVIDERS)),
                *(header for provider in PROVIDERS for header in _headers_of(provider)),
            ],
            "requestBody": {
                "description": "The event in the code host's own format, byte for byte as it was signed.",
                "required": True,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "responses": {
                "200": {
                    "description": "The delivery was processed, filtered, ignored, or is a duplicate. See `data`.",
                    "content": _json({"$ref": "#/components/schemas/AnswerBody"}),
                },
                **{str(status): _refusal(status, text) for status, text in _ERRORS.items()},
            },
        }
    }


def _headers_of(provider: Provider) -> Sequence[dict[str, Any]]:
    only = f"(provider `{provider.slug}` only)."
    return [
        _parameter("header", provider.event_header, f"Event type {only}", {}),
        _parameter("header", provider.delivery_header, f"Delivery id {only}", {"pattern": "^[!-~]{1,255}$"}),
    ]


def _proof(scheme: Scheme) -> dict[str, Any]:
    slugs = ", ".join(f"`{provider.slug}`" for provider in PROVIDERS if provider.scheme == scheme)
    form = {} if scheme.pattern is None else {"pattern": scheme.pattern}
    return _parameter("header", scheme.header, f"{scheme.description} Required of {slugs}.", form)


def _parameter(place: Literal["path", "header"], name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "string", **schema}
    return {"name": name, "in": place, "required": place == "path", "description": description, "schema": schema}


def _refusal(status: int, description: str) -> dict[str, Any]:
    refusal: dict[str, Any] = {"description": description, "content": _json(_ERROR)}
    if status == 503:  # noqa: PLR2004  # the only status that a retry may resolve
        schema = {"type": "integer", "minimum": 1}
        refusal["headers"] = {"Retry-After": {"description": "Seconds to wait before you try again.", "schema": schema}}
    return refusal


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
