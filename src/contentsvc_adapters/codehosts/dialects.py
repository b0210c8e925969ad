"""The differences between GitHub's REST API and those of Forgejo and Gitea, which end with ``/api/v1``."""

from collections.abc import Mapping
from typing import Any, Final, final
from urllib.parse import urlsplit

from attrs import evolve, frozen

from contentsvc_core.code_hosts import HOOK_EVENTS, Hook

_FORGE_PATH: Final = "/api/v1"
#: Of a self-hosted GitHub server, whose GraphQL endpoint is beside this path.
_SERVER_PATH: Final = "/api/v3"


@frozen(kw_only=True)
class ApiConventions:
    #: The scheme of the token in the header ``Authorization``.
    scheme: str
    headers: Mapping[str, str]
    #: The rights that a token needs for hooks, and to read pull requests and commits; for people.
    grant: str
    reading_grant: str
    #: A path that answers JSON without a token, whatever the status.
    probe: str = "/"
    #: What users do instead if the API does not list deliveries.
    no_deliveries: str | None = None


@final
@frozen(kw_only=True)
class HostDialect(ApiConventions):
    new_hook: Mapping[str, str]
    hook_config: Mapping[str, str]
    #: The path below the hook that changes its configuration alone; empty: the configuration is changed with the hook.
    config_path: str
    graphql_path: str | None = None
    #: Whether its REST API finds the pull request of a commit.
    finds_by_commit: bool = False
    #: Whether a push lists its newest commits only, and the REST API the others.
    cuts_pushes: bool = False

    def new_body(self, hook: Hook) -> dict[str, Any]:
        config = {"url": hook.url, "content_type": "json", "secret": hook.secret, **self.hook_config}
        return {**self.new_hook, "active": True, "events": list(HOOK_EVENTS), "config": config}

    def secret_body(self, secret: str) -> dict[str, Any]:
        config = {"content_type": "json", "secret": secret, **self.hook_config}
        # One dialect keeps fields that the configuration omits; the other resets a hook's events if they are omitted.
        return config if self.config_path else {"active": True, "events": list(HOOK_EVENTS), "config": config}


_GITHUB: Final = HostDialect(
    scheme="Bearer",
    headers={"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
    new_hook={"name": "web"},
    hook_config={"insecure_ssl": "0"},
    config_path="config",
    grant=(
        "a fine-grained token needs this repository with 'Webhooks: read and write' and 'Metadata: read'; "
        "a classic token needs the scope 'admin:repo_hook', and 'repo' for a private repository"
    ),
    reading_grant=(
        "a fine-grained token needs this repository with 'Pull requests: read', and 'Contents: read' for commits; "
        "a classic token needs the scope 'repo' for a private repository"
    ),
)
_FORGE: Final = HostDialect(
    scheme="token",
    probe="/version",
    headers={"Accept": "application/json"},
    # Forgejo takes the older name as well.
    new_hook={"type": "gitea"},
    hook_config={},
    config_path="",
    no_deliveries=(
        "this code host's API does not list deliveries: open the webhook in the repository's settings there, "
        "and use 'redeliver' on each that failed"
    ),
    grant="the token needs the scope 'write:repository', and its owner must administer this repository",
    reading_grant="the token needs the scope 'read:repository'",
    finds_by_commit=True,
    cuts_pushes=True,
)


def host_dialect(api_url: str) -> HostDialect:
    if api_url.endswith(_FORGE_PATH):
        return _FORGE
    path = urlsplit(api_url).path
    above = path.removesuffix(_SERVER_PATH)
    return evolve(_GITHUB, graphql_path=f"{path}/graphql" if above == path else f"{above}/api/graphql")
