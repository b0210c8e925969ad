from typing import Final, Protocol

from contentsvc_adapters.codehosts.bitbucket import BitbucketClient
from contentsvc_adapters.codehosts.dialects import ApiConventions
from contentsvc_adapters.codehosts.gitlab import GitlabClient
from contentsvc_adapters.codehosts.rest import RestCodeHost
from contentsvc_core.ports import CodeHost
from contentsvc_core.webhooks.providers.bitbucket import BITBUCKET
from contentsvc_core.webhooks.providers.gitlab import GITLAB


class HostClient(CodeHost, Protocol):
    async def close(self) -> None: ...


class ClientClass(Protocol):
    def __call__(self, api_url: str) -> HostClient: ...

    def dialect_at(self, api_url: str, /) -> ApiConventions: ...


#: The APIs of their own; the API of any other provider is GitHub's, or follows it.
_CLIENTS: Final[dict[str, ClientClass]] = {GITLAB.slug: GitlabClient, BITBUCKET.slug: BitbucketClient}


def client_of(provider: str) -> ClientClass:
    return _CLIENTS.get(provider, RestCodeHost)
