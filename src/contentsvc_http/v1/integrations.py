from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar

from litestar import Request, Response, delete, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import Meta, Struct

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import connecting_path
from contentsvc_core.code_hosts import HostAnswer, HostRefusal
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.organizations import LOOK_BACK_HOURS, MAX_LOOK_BACK_HOURS, Integration, Repository
from contentsvc_core.ports import Directory
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.connect import UNKNOWN, Connected, Connector
from contentsvc_core.usecases.reconcile import Reconciler
from contentsvc_core.usecases.rotate import Rotator
from contentsvc_core.webhooks.providers import PROVIDERS, Provider
from contentsvc_http.errors import accepted, refused
from contentsvc_http.v1.bodies import SecretRotation, read_body, takes
from contentsvc_http.v1.gate import Gate, errors
from contentsvc_http.v1.repository_ids import RepositoryId, read_repository_id
from contentsvc_http.v1.schemas_integrations import (
    IntegrationBody,
    IntegrationListBody,
    IntegrationRemovedBody,
    IntegrationSecretBody,
    IntegrationStateBody,
    ReconciledShape,
    connected_body,
)

_TAGS: Final = ["integrations"]
_ERRORS: Final = (400, 409, 413, 415, 502)
_Part = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]
_Handler = TypeVar("_Handler", bound=Callable[..., Any])
_Id = Annotated[str, Parameter(description="Id of the integration.")]


class NewIntegration(Struct, forbid_unknown_fields=True, rename="camel"):
    """The repository to connect. If you send a token, contentsvc creates the webhook at the code host."""

    owner: _Part
    repo: _Part
    #: Looked up at the code host if absent.
    repository_id: RepositoryId | None = None
    branch: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    token: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None


class NewNestedIntegration(NewIntegration, forbid_unknown_fields=True, rename="camel"):
    """The repository to connect. If you send a token, contentsvc creates the webhook at the code host."""

    #: A group, or a path of groups such as ``group/subgroup``.
    owner: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,100}(?:/[A-Za-z0-9_.-]{1,100}){0,20}$")]


class Reconciliation(Struct, forbid_unknown_fields=True, rename="camel"):
    """The deliveries to check."""

    #: The age of the oldest delivery.
    look_back_hours: Annotated[int, Meta(ge=1, le=MAX_LOOK_BACK_HOURS)] = LOOK_BACK_HOURS
    #: Only name the deliveries that would be requested.
    dry_run: bool = False


class ChangeIntegration(Struct, forbid_unknown_fields=True, rename="camel"):
    """The new state of an integration."""

    enabled: bool


def integration_routes(
    gate: Gate, connector: Connector, rotator: Rotator, reconciler: Reconciler, directory: Directory
) -> list[HTTPRouteHandler]:
    # The body has a key for each provider: its type is made at start.
    @get(
        "/v1/integrations",
        operation_id="listIntegrations",
        summary="List integrations",
        tags=_TAGS,
        responses=errors(),
    )
    @_answers(IntegrationListBody)
    async def list_integrations(request: Request[Any, Any, Any]) -> Response[Any]:
        key = await gate.caller(request, Scope.READ)
        body: dict[str, list[IntegrationBody]] = {provider.slug: [] for provider in PROVIDERS}
        for integration in await directory.integrations(key.organization_id):
            # An integration of a provider that no longer exists is not listed.
            body.get(integration.provider, []).extend(
                _body(integration, repository) for repository in integration.repositories
            )
        return await gate.answer(key, gate.answers.integrations(body))

    def connecting(provider: Provider) -> HTTPRouteHandler:
        shape = NewNestedIntegration if provider.has_nested_owners else NewIntegration
        slug = provider.slug

        @post(
            connecting_path(slug),
            status_code=201,
            operation_id=provider.operation_id,
            summary=f"Connect a repository of the provider {slug}",
            tags=_TAGS,
            operation_class=takes(shape),
            responses=errors(*_ERRORS),
        )
        @_answers(connected_body(slug))
        async def connect(request: Request[Any, Any, Any]) -> Response[Any]:
            key = await gate.caller(request, Scope.WRITE)
            connected = await _connect(connector, key, slug, await read_body(request, shape))
            integration = connected.integration
            webhook = {
                "url": connected.url,
                "secret": None if connected.created_at_host else connected.secret,
                "createdAtHost": connected.created_at_host,
            }
            return await gate.answer(
                key, {slug: _body(integration, integration.repositories[0]), "webhook": webhook}, status=201
            )

        return connect

    @delete(
        "/v1/integrations/{integration_id:str}",
        status_code=200,
        operation_id="deleteIntegration",
        summary="Delete an integration",
        description="Also deletes its webhook at the code host, and disables the schedules and triggers that use the "
        "integration.",
        tags=_TAGS,
        # The paths of providers do not support this method.
        responses=errors(404, 405),
    )
    async def delete_integration(
        request: Request[Any, Any, Any], integration_id: _Id
    ) -> Response[IntegrationRemovedBody]:
        key = await gate.caller(request, Scope.WRITE)
        gone = await connector.disconnect(key.organization_id, integration_id)
        if gone is None:
            raise refused(UNKNOWN)
        return await gate.answer(key, {"id": gone.id, **gate.answers.disabled(gone.removed)})

    return [
        list_integrations,
        *map(connecting, PROVIDERS),
        delete_integration,
        *_changing(gate, rotator, directory),
        _reconciling(gate, reconciler),
    ]


def _changing(gate: Gate, rotator: Rotator, directory: Directory) -> list[HTTPRouteHandler]:
    @get(
        "/v1/integrations/{integration_id:str}",
        operation_id="getIntegration",
        summary="Check whether an integration is enabled",
        tags=_TAGS,
        # The paths of providers do not support this method.
        responses=errors(404, 405),
    )
    async def get_integration(request: Request[Any, Any, Any], integration_id: _Id) -> Response[IntegrationStateBody]:
        key = await gate.caller(request, Scope.READ)
        known = is_own_id(integration_id)
        stored = await directory.integration(key.organization_id, integration_id) if known else None
        found = accepted(stored or UNKNOWN)
        return await gate.answer(key, {"id": found.id, "enabled": found.enabled})

    @patch(
        "/v1/integrations/{integration_id:str}",
        operation_id="updateIntegration",
        summary="Enable or disable an integration",
        tags=_TAGS,
        operation_class=takes(ChangeIntegration),
        # The paths of providers do not support this method.
        responses=errors(400, 404, 405, 413, 415),
    )
    async def change_integration(
        request: Request[Any, Any, Any], integration_id: _Id
    ) -> Response[IntegrationStateBody]:
        key = await gate.caller(request, Scope.WRITE)
        enabled = (await read_body(request, ChangeIntegration)).enabled
        is_known = is_own_id(integration_id) and await directory.enable_integration(
            key.organization_id, integration_id, enabled=enabled
        )
        if not is_known:
            raise refused(UNKNOWN)
        return await gate.answer(key, {"id": integration_id, "enabled": enabled})

    @post(
        "/v1/integrations/{integration_id:str}/rotate-secret",
        status_code=200,
        operation_id="rotateIntegrationSecret",
        summary="Rotate the webhook secret of an integration",
        description="With a token, contentsvc sets the new secret at the code host. Without a token, or if `hostError` "
        "is set, enter `secret` at the code host before the overlap ends.",
        tags=_TAGS,
        operation_class=takes(SecretRotation, required=False),
        responses=errors(400, 404, 413, 415),
    )
    async def rotate_secret(request: Request[Any, Any, Any], integration_id: _Id) -> Response[IntegrationSecretBody]:
        key = await gate.caller(request, Scope.WRITE)
        body = await read_body(request, SecretRotation) if await request.body() else SecretRotation()
        rotated = accepted(await rotator.rotate(key.organization_id, integration_id, overlap=body.overlap))
        at_host = rotated.at_host
        is_changed = isinstance(at_host, HostAnswer)
        return await gate.answer(
            key,
            {
                "id": integration_id,
                "secret": None if is_changed else rotated.secret,
                "overlapUntil": iso_ms(rotated.overlap_until),
                "changedAtHost": is_changed,
                "hostError": at_host.reason if isinstance(at_host, HostRefusal) else None,
            },
        )

    return [get_integration, change_integration, rotate_secret]


def _reconciling(gate: Gate, reconciler: Reconciler) -> HTTPRouteHandler:
    @post(
        "/v1/integrations/{integration_id:str}/reconcile",
        status_code=200,
        operation_id="reconcileIntegration",
        summary="Request failed deliveries again from the code host",
        description="Also requests deliveries that were not accepted. The integration must have a token, and the code "
        "host must list its deliveries. Repeat the request for deliveries with the result `not asked`.",
        tags=_TAGS,
        operation_class=takes(Reconciliation, required=False),
        responses=errors(400, 404, 413, 415, 502),
    )
    async def reconcile(request: Request[Any, Any, Any], integration_id: _Id) -> Response[ReconciledShape]:
        key = await gate.caller(request, Scope.WRITE)
        body = await read_body(request, Reconciliation) if await request.body() else Reconciliation()
        look_back = timedelta(hours=body.look_back_hours)
        reconciled = await reconciler.reconcile(
            key.organization_id, integration_id, lookback=look_back, dry_run=body.dry_run, patient=False
        )
        return await gate.answer(key, ReconciledShape.of(accepted(reconciled)))

    return reconcile


def _answers(body: object) -> Callable[[_Handler], _Handler]:
    def declare(handler: _Handler) -> _Handler:
        response: Any = Response
        handler.__annotations__["return"] = response[body]
        return handler

    return declare


async def _connect(connector: Connector, key: ApiKey, provider: str, body: NewIntegration) -> Connected:
    repository_id = None
    if body.repository_id is not None:
        repository_id = read_repository_id("repositoryId", body.repository_id)
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


def _body(integration: Integration, repository: Repository) -> IntegrationBody:
    owner, _, repo = repository.full_name.rpartition("/")
    return IntegrationBody(
        id=integration.id,
        displayName=repository.full_name,
        owner=owner,
        repo=repo,
        defaultBranch=repository.branch,
        repositoryId=str(repository.id),
    )
