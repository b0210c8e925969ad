"""The provider ``github``: GitHub itself, and Forgejo and Gitea, which send the same headers and bodies."""

from typing import Final

from contentsvc_core.webhooks.providers.native import read_push, read_release, write
from contentsvc_core.webhooks.providers.provider import Provider, Setup
from contentsvc_core.webhooks.signature import SPECIFIED

GITHUB: Final = Provider(
    slug="github",
    name="GitHub, Forgejo or Gitea",
    scheme=SPECIFIED,
    event_header="X-GitHub-Event",
    delivery_header="X-GitHub-Delivery",
    readers={"push": read_push, "release": read_release},
    write=write,
    setup=Setup(where="In the repository's settings there, under Webhooks", events=("push", "release")),
    operation_id="createGitHubIntegration",
    api_url="https://api.github.com",
    own_api_url="https://HOST/api/v3, or https://HOST/api/v1 for Forgejo and Gitea",
    hosts={"github": "", "forgejo": "https://HOST/api/v1", "gitea": "https://HOST/api/v1"},
    is_hosted=True,
)
