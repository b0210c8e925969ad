"""The provider ``codehost`` of the specification."""

from typing import Final

from contentsvc_core.webhooks.providers.native import read_push, read_release, write
from contentsvc_core.webhooks.providers.provider import Provider, Setup
from contentsvc_core.webhooks.signature import SPECIFIED

CODEHOST: Final = Provider(
    slug="codehost",
    name="codehost",
    scheme=SPECIFIED,
    event_header="X-Host-Event",
    delivery_header="X-Host-Delivery",
    readers={"push": read_push, "release": read_release},
    write=write,
    setup=Setup(where="In the repository's settings there", events=("push", "release")),
    operation_id="connectCodehost",
    own_api_url="https://HOST/api/v3, or https://HOST/api/v1 for Forgejo and Gitea",
    hosts={"other": ""},
)
