from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.rates import connecting_path
from contentsvc_core.organizations import LOOK_BACK_HOURS, MAX_LOOK_BACK_HOURS
from contentsvc_core.refusals import NAME_FORM, NESTED_NAME_FORM
from contentsvc_core.usecases.connect import UNKNOWN, Connected, Connector
from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_http.errors import accepted, refused
from contentsvc_http.v1.bodies import SecretRotation
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations
from contentsvc_http.v1.repository_ids import RepositoryId, read_repository_id
from contentsvc_http.v1.schemas_integrations import (
    IntegrationBody,
    IntegrationListBody,
    IntegrationRemovedBody,
    IntegrationSecretBody,
    IntegrationStateBody,
    ReconciledBody,
    connected_body,
    integration_body,
    integration_secret_body,
    webhook_body,
)

#: The paths of providers do not support the methods of an integration.
_NOT_OF_PROVIDERS: Final = [405]
_Part = Annotated[str, Meta(pattern=NAME_FORM)]
_Handler = TypeVar("_Handler", bound=Callable[..., Any])
_Id = Annotated[str, Parameter(description="Id of the integration.")]


class NewIntegration(Struct, forbid_unknown_fields=True, rename="camel"):
    """The repository to connect. If you send a token, contentsvc creates the webhook at the code host."""

    owner: _Part
    repo: _Part
    repository_id: RepositoryId | None = None
    branch: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    token: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None


class NewNestedIntegration(NewIntegration, forbid_unknown_fields=True, rename="camel"):
    """The repository to connect. If you send a token, contentsvc creates the webhook at the code host."""

    owner: Annotated[str, Meta(pattern=NESTED_NAME_FORM)]


class Reconciliation(Struct, forbid_unknown_fields=True, rename="camel"):
    """The deliveries to check."""

    look_back_hours: Annotated[int, Meta(ge=1, le=MAX_LOOK_BACK_HOURS)] = LOOK_BACK_HOURS
    dry_run: bool = False


class ChangeIntegration(Struct, forbid_unknown_fields=True, rename="camel"):
    """The new state of an integration."""

    enabled: bool


def integration_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "integrations")
    connector, directory = gate.app.connector, gate.app.stores.directory

    # The body has a key for each provider: its type is made at start.
    @operation("GET /v1/integrations", "listIntegrations", "List integrations")
    @_answers(IntegrationListBody)
    async def list_integrations(key: Caller) -> Response[Any]:
        body: dict[str, list[IntegrationBody]] = {provider.slug: [] for provider in PROVIDERS}
        for integration in await directory.integrations(key.organization_id):
            # An integration of a provider that no longer exists is not listed.
            body.get(integration.provider, []).extend(
                integration_body(integration, repository) for repository in integration.repositories
            )
        return await gate.answer(key, gate.answers.integrations(body))

    def connecting(provider: Provider) -> None:
        shape = NewNestedIntegration if provider.has_nested_owners else NewIntegration
        slug = provider.slug

        @operation(
            f"POST {connecting_path(slug)}",
            provider.operation_id,
            f"Connect a repository of the provider {slug}",
            body=shape,
            status=201,
            headers=[LOCATED],
            fails=[409, 502],
        )
        @_answers(connected_body(slug))
        async def connect(key: Caller, command: Sent[NewIntegration]) -> Response[Any]:
            connected = await _connect(connector, key, slug, command)
            integration = connected.integration
            body = integration_body(integration, integration.repositories[0])
            answer = {slug: body, "webhook": webhook_body(connected)}
            return await gate.answer(key, answer, location=f"/v1/integrations/{integration.id}")

    for provider in PROVIDERS:
        connecting(provider)

    @operation(
        "DELETE /v1/integrations/{integration_id:str}",
        "deleteIntegration",
        "Delete an integration",
        description="Also deletes its webhook at the code host, and disables the schedules and triggers that use the "
        "integration.",
        fails=_NOT_OF_PROVIDERS,
    )
    async def delete_integration(key: Caller, integration_id: _Id) -> Response[IntegrationRemovedBody]:
        gone = await connector.disconnect(key.organization_id, integration_id)
        if gone is None:
            raise refused(UNKNOWN)
        return await gate.answer(key, {"id": gone.id, **gate.answers.disabled(gone.removed)})

    _add_changing(operation, gate)
    _add_reconciling(operation, gate)
    return operation.routes


def _add_changing(operation: Operations, gate: Gate) -> None:
    directory = gate.app.stores.directory

    @operation(
        "GET /v1/integrations/{integration_id:str}",
        "getIntegration",
        "Check whether an integration is enabled",
        fails=_NOT_OF_PROVIDERS,
    )
    async def get_integration(key: Caller, integration_id: _Id) -> Response[IntegrationStateBody]:
        found = accepted(await directory.integration(key.organization_id, integration_id) or UNKNOWN)
        return await gate.answer(key, {"id": found.id, "enabled": found.enabled})

    @operation(
        "PATCH /v1/integrations/{integration_id:str}",
        "updateIntegration",
        "Enable or disable an integration",
        body=ChangeIntegration,
        fails=_NOT_OF_PROVIDERS,
    )
    async def change_integration(
        key: Caller, command: Sent[ChangeIntegration], integration_id: _Id
    ) -> Response[IntegrationStateBody]:
        enabled = command.enabled
        if not await directory.enable_integration(key.organization_id, integration_id, enabled=enabled):
            raise refused(UNKNOWN)
        return await gate.answer(key, {"id": integration_id, "enabled": enabled})

    @operation(
        "POST /v1/integrations/{integration_id:str}/rotate-secret",
        "rotateIntegrationSecret",
        "Rotate the webhook secret of an integration",
        description="With a token, contentsvc sets the new secret at the code host. Without a token, or if `hostError` "
        "is set, enter `secret` at the code host before the overlap ends.",
        body=SecretRotation,
        body_required=False,
    )
    async def rotate_secret(
        key: Caller, command: Sent[SecretRotation], integration_id: _Id
    ) -> Response[IntegrationSecretBody]:
        rotated = await gate.app.rotator.rotate(key.organization_id, integration_id, overlap=command.overlap)
        return await gate.answer(key, integration_secret_body(accepted(rotated)))


def _add_reconciling(operation: Operations, gate: Gate) -> None:
    @operation(
        "POST /v1/integrations/{integration_id:str}/reconcile",
        "reconcileIntegration",
        "Request failed deliveries again from the code host",
        description="Also requests deliveries that were not accepted. The integration must have a token, and the code "
        "host must list its deliveries. Repeat the request for deliveries with the result `not asked`.",
        body=Reconciliation,
        body_required=False,
        fails=[502],
    )
    async def reconcile(key: Caller, command: Sent[Reconciliation], integration_id: _Id) -> Response[ReconciledBody]:
        look_back = timedelta(hours=command.look_back_hours)
        reconciled = await gate.app.reconciler.reconcile(
            key.organization_id, integration_id, lookback=look_back, dry_run=command.dry_run, patient=False
        )
        return await gate.answer(key, ReconciledBody.of(accepted(reconciled)))


def _answers(body: object) -> Callable[[_Handler], _Handler]:
    def declare(handler: _Handler) -> _Handler:
        response: Any = Response
        handler.__annotations__["return"] = response[body]
        return handler

    return declare


async def _connect(connector: Connector, key: ApiKey, provider: str, body: NewIntegration) -> Connected:
    repository_id = None
    if body.repository_id is not None:
        repository_id = read_repository_id(body.repository_id)
    return accepted(
        await connector.connect(
            key.organization_id,
            full_name=f"{body.owner}/{body.repo}",
            provider=provider,
            repository_id=repository_id,
            branch=body.branch,
            token=body.token,
        )
    )
