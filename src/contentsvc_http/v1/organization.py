from typing import Literal, TypedDict

from litestar import Response
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.organizations import ChangeOrganization, Organization, OrganizationBody
from contentsvc_http.auth import CHALLENGE
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import Operations


class OwnKeyBody(TypedDict):
    """The API key of the request."""

    prefix: str
    name: str
    scopes: list[Literal["read", "write", "admin"]]


class OneOrganizationBody(TypedDict):
    """The organization that an API key belongs to, and the key without its secret part."""

    organization: OrganizationBody
    key: OwnKeyBody


def organization_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "organization")
    app = gate.app

    async def read_organization(key: ApiKey) -> Organization:
        organization = await app.stores.directory.organization_of(key.organization_id)
        if organization is None:
            raise Refused(401, {"error": "Invalid API key"}, CHALLENGE)
        return organization

    @operation("GET /v1/organization", "getOrganization", "Get the organization and the scopes of the API key")
    async def get_organization(key: Caller) -> Response[OneOrganizationBody]:
        return _answer(await read_organization(key), key)

    @operation(
        "PATCH /v1/organization",
        "updateOrganization",
        "Update your organization",
        description="The slug and the titles of public changelogs stay. In another time zone, schedules fire at the "
        "same local times there. Timestamps stay in UTC.",
        body=ChangeOrganization,
    )
    async def change_organization(key: Caller, command: Sent[ChangeOrganization]) -> Response[OneOrganizationBody]:
        return _answer(accepted(await app.operator.change_organization(await read_organization(key), command)), key)

    return operation.routes


def _answer(organization: Organization, key: ApiKey) -> Response[OneOrganizationBody]:
    # Without the gate: clients of the hosted product do not have these operations.
    own = OwnKeyBody(prefix=key.prefix, name=key.name, scopes=[scope.value for scope in key.scopes])
    return Response(OneOrganizationBody(organization=OrganizationBody.of(organization), key=own))
