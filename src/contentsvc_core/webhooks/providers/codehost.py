"""The provider ``codehost`` of the specification."""

from typing import Final

from contentsvc_core.webhooks.providers.native import read_push, read_release
from contentsvc_core.webhooks.providers.provider import Provider

CODEHOST: Final = Provider(
    slug="codehost",
    event_header="X-Host-Event",
    delivery_header="X-Host-Delivery",
    readers={"push": read_push, "release": read_release},
)
