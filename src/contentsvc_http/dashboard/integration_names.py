from collections.abc import Iterable, Mapping

from contentsvc_core.organizations import Integration
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_http.dashboard.session import DashboardSession


def name_of(integration: Integration) -> str:
    return ", ".join(repository.full_name for repository in integration.repositories) or integration.id


def endpoint_name(endpoint: WebhookEndpoint) -> str:
    # Lists are shown to all keys.
    return endpoint.description or endpoint.shown(to_writer=False).url


def names_of(integrations: Iterable[Integration], endpoints: Iterable[WebhookEndpoint] = ()) -> Mapping[str, str]:
    return {
        **{integration.id: name_of(integration) for integration in integrations},
        **{endpoint.id: endpoint_name(endpoint) for endpoint in endpoints},
    }


async def all_names(session: DashboardSession) -> Mapping[str, str]:
    integrations = await session.app.stores.directory.integrations(session.organization_id)
    return names_of(integrations, await session.app.stores.endpoints.endpoints(session.organization_id))
