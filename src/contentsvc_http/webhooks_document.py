"""The webhooks of the OpenAPI document, received and sent, by hand: they are no routes of the framework."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from contentsvc_core.outgoing.events import TEST_TYPE, EventType
from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_core.webhooks.signature import Scheme
from contentsvc_http.described import TEXT, TEXT_OR_NULL, TIME, header, object_of, parameter, reference

#: As the specification spells it.
WEBHOOK_PATH: Final = "/api/webhooks/{provider}/{organizationId}/{integrationId}/{repositoryId}"
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
        "description": "The answer to a delivery.",
        "type": "object",
        "properties": {
            "received": {"type": "boolean"},
            "message": {"type": "string"},
            "data": {"type": "object", "additionalProperties": {}},
        },
        "required": ["data", "message", "received"],
    }
}
_REFERENCE: Final = "#/components/schemas/{name}"
_NUMBER: Final = {"type": "integer"}
_TEXTS: Final = {"type": "array", "items": TEXT}
#: The messages in the standard format, with the schema of their ``data``.
_MESSAGES: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "PostMessage": (
        [EventType.POST_CREATED.value, EventType.POST_PUBLISHED.value, EventType.DRAFT_WAITING.value],
        "SentPost",
    ),
    "RunFailedMessage": ([EventType.RUN_FAILED.value], "FailedRun"),
    "IntegrationFailingMessage": ([EventType.INTEGRATION_FAILING.value], "FailingIntegration"),
    "IntegrationRecoveredMessage": ([EventType.INTEGRATION_RECOVERED.value], "RecoveredIntegration"),
    "EndpointDisabledMessage": ([EventType.ENDPOINT_DISABLED.value], "DisabledEndpoint"),
    "TestMessage": ([TEST_TYPE], "SentTest"),
}
#: Fields of a post that messages leave out.
_TEXTS_OF_POST: Final = frozenset({"content", "markdown"})


def message_schemas(post: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas of outgoing messages; ``post`` is that of a post."""
    fields = {name: field for name, field in post["properties"].items() if name not in _TEXTS_OF_POST}
    integration = {"id": TEXT, "provider": TEXT, "repositories": _TEXTS, "failingSince": TIME}
    return {
        "PostLinks": object_of("Links of a post.", {"self": TEXT}),
        "SentPost": object_of("A post without its text.", {**fields, "links": reference("PostLinks")}),
        "FailedRun": object_of(
            "A run that has failed, and its cause.",
            {
                "id": TEXT,
                **dict.fromkeys(("triggerId", "scheduleId", "jobId", "reason"), TEXT_OR_NULL),
                "createdAt": TIME,
            },
        ),
        "FailingIntegration": object_of(
            "An integration whose deliveries are refused.",
            {
                **integration,
                **dict.fromkeys(("failed", "of"), _NUMBER),
                "cause": TEXT,
                "remedy": TEXT,
                "logId": TEXT,
            },
        ),
        "RecoveredIntegration": object_of("An integration that works again.", {**integration, "recoveredAt": TIME}),
        "DisabledEndpoint": object_of(
            "A webhook endpoint that the service has disabled.",
            {**dict.fromkeys(("id", "description", "target", "reason"), TEXT), "disabledAt": TIME},
        ),
        "SentTest": object_of("A sentence.", {"message": TEXT}),
        **{name: _message(types, data) for name, (types, data) in _MESSAGES.items()},
        "WebhookMessage": {
            "description": "A message to a webhook endpoint in the standard format. `type` tells which one.",
            "oneOf": [reference(name) for name in _MESSAGES],
            # Generators that compare only the names of fields confuse messages without it.
            "discriminator": {
                "propertyName": "type",
                "mapping": {
                    type_: _REFERENCE.format(name=name) for name, (types, _) in _MESSAGES.items() for type_ in types
                },
            },
        },
    }


def message_operations() -> dict[str, Any]:
    """Return the request that a webhook endpoint in the standard format receives."""
    return {
        "post": {
            "tags": ["messages"],
            "summary": "Receive a message in the standard format",
            "description": "Signed according to Standard Webhooks. It may arrive twice, with the same `webhook-id`.",
            "operationId": "receiveMessage",
            "security": [],
            "parameters": [
                {**parameter("header", name, text), "required": True}
                for name, text in (
                    ("webhook-id", "Id of the message, the same for each attempt."),
                    ("webhook-timestamp", "Time of the attempt, in Unix seconds."),
                    ("webhook-signature", "Signatures, separated by spaces: `v1,` and Base64."),
                )
            ],
            "requestBody": {"required": True, "content": _json(reference("WebhookMessage"))},
            "responses": {"2XX": {"description": "You have the message. After any other answer, it is sent again."}},
        }
    }


def _message(types: Sequence[str], data: str) -> dict[str, Any]:
    kind = {"type": "string", "enum": list(types)}
    return object_of(f"The message `{'`, `'.join(types)}`.", {"type": kind, "timestamp": TIME, "data": reference(data)})


def webhook_operations() -> dict[str, Any]:
    slugs = [provider.slug for provider in PROVIDERS]
    number = {**TEXT, "pattern": "^[1-9][0-9]{0,18}$"}
    return {
        "post": {
            "tags": ["webhooks"],
            "summary": "Receive a webhook delivery",
            "operationId": "receiveDelivery",
            "security": [],
            "parameters": [
                parameter("path", "provider", "Slug of the provider.", {**TEXT, "enum": slugs}),
                parameter("path", "organizationId", "Id of the organization."),
                parameter("path", "integrationId", "Id of the integration."),
                parameter("path", "repositoryId", "Id of the repository at the code host.", number),
                *map(_proof, dict.fromkeys(provider.scheme for provider in PROVIDERS)),
                *(named for provider in PROVIDERS for named in _headers_of(provider)),
            ],
            "requestBody": {
                "description": "The event in the code host's own format, byte for byte as it was signed.",
                "required": True,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "responses": {
                "200": {
                    "description": "The delivery was processed, filtered, ignored, or is a duplicate. See `data`.",
                    "content": _json(reference("AnswerBody")),
                },
                **{str(status): _refusal(status, text) for status, text in _ERRORS.items()},
            },
        }
    }


def _headers_of(provider: Provider) -> Sequence[dict[str, Any]]:
    only = f"(provider `{provider.slug}` only)."
    return [
        parameter("header", provider.event_header, f"Event type {only}"),
        parameter("header", provider.delivery_header, f"Delivery id {only}", {**TEXT, "pattern": "^[!-~]{1,255}$"}),
    ]


def _proof(scheme: Scheme) -> dict[str, Any]:
    slugs = ", ".join(f"`{provider.slug}`" for provider in PROVIDERS if provider.scheme == scheme)
    form = TEXT if scheme.pattern is None else {**TEXT, "pattern": scheme.pattern}
    return parameter("header", scheme.header, f"{scheme.description} Required of {slugs}.", form)


def _refusal(status: int, description: str) -> dict[str, Any]:
    refusal: dict[str, Any] = {"description": description, "content": _json(reference("ErrorBody"))}
    if status == 503:  # noqa: PLR2004  # the only status that a retry may resolve
        refusal["headers"] = {"Retry-After": header("Seconds to wait before you try again.", least=1)}
    return refusal


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
