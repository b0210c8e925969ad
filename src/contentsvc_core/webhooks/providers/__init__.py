"""The providers. Those of other packages are modules of the namespace package ``contentsvc_providers``."""

from typing import TYPE_CHECKING

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_core.webhooks.providers.provider import Provider as Provider
    from contentsvc_core.webhooks.providers.shipped import DEFAULT_PROVIDER as DEFAULT_PROVIDER
    from contentsvc_core.webhooks.providers.shipped import HOSTED_PROVIDER as HOSTED_PROVIDER
    from contentsvc_core.webhooks.providers.shipped import PROVIDERS as PROVIDERS
    from contentsvc_core.webhooks.providers.shipped import provider_named as provider_named

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__)
