"""The shipped providers; a new provider is a file in this package and a line in the tuple."""

from typing import Final

from contentsvc_core.webhooks.providers.codehost import CODEHOST
from contentsvc_core.webhooks.providers.github import GITHUB
from contentsvc_core.webhooks.providers.provider import Provider

#: All providers.
PROVIDERS: Final[tuple[Provider, ...]] = (CODEHOST, GITHUB)

_BY_SLUG: Final = {provider.slug: provider for provider in PROVIDERS}

__all__ = ["CODEHOST", "GITHUB", "PROVIDERS", "Provider", "provider_named"]


def provider_named(slug: str) -> Provider | None:
    """Find a provider by its slug."""
    return _BY_SLUG.get(slug)
