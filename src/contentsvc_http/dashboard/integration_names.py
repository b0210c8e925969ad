"""What people know integrations by."""

from collections.abc import Iterable, Mapping

from contentsvc_core.organizations import Integration


def name_of(integration: Integration) -> str:
    """Give an integration's name: its repositories."""
    return ", ".join(repository.full_name for repository in integration.repositories) or integration.id


def names_of(integrations: Iterable[Integration]) -> Mapping[str, str]:
    """Give integrations' names, by their ids; log entries may be of one that was removed, and has none any more."""
    return {integration.id: name_of(integration) for integration in integrations}
