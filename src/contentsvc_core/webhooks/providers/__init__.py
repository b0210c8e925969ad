"""The providers. Those of other packages are modules of the namespace package ``contentsvc_providers``."""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.webhooks.providers.provider import Provider
    from contentsvc_core.webhooks.providers.shipped import (
        DEFAULT_PROVIDER,
        HOSTED_PROVIDER,
        PROVIDERS,
        provider_named,
    )

__all__ = ["DEFAULT_PROVIDER", "HOSTED_PROVIDER", "PROVIDERS", "Provider", "provider_named"]

_HOMES: Final = {"provider": "Provider", "shipped": "DEFAULT_PROVIDER HOSTED_PROVIDER PROVIDERS provider_named"}
__getattr__ = names_on_demand(__name__, _HOMES)
