"""What people know integrations and webhook endpoints by."""

from collections.abc import Iterable, Mapping

from contentsvc_core.organizations import Integration
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_http.dashboard.context import Dashboard


def name_of(integration: Integration) -> str:
    """Give an integration's name: its repositories."""
    return ", ".join(repository.full_name for repository in integration.repositories) or integration.id


def endpoint_name(endpoint: WebhookEndpoint) -> str:
    """Give a webhook endpoint's name: its description, or where it is."""
    return endpoint.description or endpoint.url


def names_of(integrations: Iterable[Integration], endpoints: Iterable[WebhookEndpoint] = ()) -> Mapping[str, str]:
    """Give the names of both, by their ids; log entries may be of one that was removed, and has none any more."""
    return {
        **{integration.id: name_of(integration) for integration in integrations},
        **{endpoint.id: endpoint_name(endpoint) for endpoint in endpoints},
    }


async def all_names(dashboard: Dashboard, organization_id: str) -> Mapping[str, str]:
    """Give the names of everything that log entries of an organization can be of."""
    integrations = await dashboard.api.directory.integrations(organization_id)
    return names_of(integrations, await dashboard.api.endpoints.endpoints(organization_id))
