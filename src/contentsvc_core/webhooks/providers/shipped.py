"""The table of shipped providers: a new provider is a line in the tuple."""

from typing import Final

from contentsvc_core.webhooks.providers.bitbucket import BITBUCKET
from contentsvc_core.webhooks.providers.codehost import CODEHOST
from contentsvc_core.webhooks.providers.github import GITHUB
from contentsvc_core.webhooks.providers.gitlab import GITLAB
from contentsvc_core.webhooks.providers.provider import Provider

PROVIDERS: Final[tuple[Provider, ...]] = (CODEHOST, GITHUB, GITLAB, BITBUCKET)
DEFAULT_PROVIDER: Final = PROVIDERS[0]
#: The provider that clients of the hosted product know (decision 0038).
HOSTED_PROVIDER: Final = next(provider for provider in PROVIDERS if provider.is_hosted)

_BY_SLUG: Final = {provider.slug: provider for provider in PROVIDERS}


def provider_named(slug: str) -> Provider | None:
    return _BY_SLUG.get(slug)
