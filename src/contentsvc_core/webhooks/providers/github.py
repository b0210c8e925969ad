"""The provider ``github``: GitHub itself, and Forgejo and Gitea, which send the same headers and bodies."""

from typing import Final

from contentsvc_core.webhooks.providers.native import read_push, read_release
from contentsvc_core.webhooks.providers.provider import Provider

GITHUB: Final = Provider(
    slug="github",
    event_header="X-GitHub-Event",
    delivery_header="X-GitHub-Delivery",
    readers={"push": read_push, "release": read_release},
)
