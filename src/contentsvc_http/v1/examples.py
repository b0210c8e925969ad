"""Examples of request bodies in the OpenAPI document, by operation id. Its page offers them to send."""

from collections.abc import Mapping
from typing import Any, Final

from contentsvc_core.webhooks.providers import PROVIDERS

_REPOSITORY: Final = {"owner": "acme", "repo": "beacon"}
_TARGETS: Final = {"repositoryIds": ["7001"]}
_WEEKLY: Final = {"cron": {"frequency": "weekly", "dayOfWeek": 1, "hour": 9, "minute": 0}}

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    # Packages of others add providers.
    **{provider.operation_id: {**_REPOSITORY, "repositoryId": "7001"} for provider in PROVIDERS},
    "connectBitbucket": {**_REPOSITORY, "repositoryId": "7002"},
    "connectGitlab": {**_REPOSITORY, "owner": "acme/products", "repositoryId": "7003"},
    "createBrandIdentity": {"name": "Acme", "websiteUrl": "https://acme.example"},
    "createChangelog": {
        "slug": "beacon",
        "title": "Beacon changelog",
        "description": "What is new in Beacon.",
        "isPublic": True,
        "repositories": ["acme/beacon"],
        "headerLinks": [{"label": "Documentation", "url": "https://docs.acme.example"}],
    },
    "createEventTrigger": {
        "name": "Changelog of each release",
        "sourceConfig": {"eventTypes": ["release"]},
        "targets": _TARGETS,
        "outputType": "changelog",
        "tags": ["v*"],
        "preReleases": False,
    },
    "createGitHubIntegration": {**_REPOSITORY, "branch": "main", "repositoryId": "7004"},
    "createPost": {
        "title": "Beacon 1.2",
        "markdown": "## New\n\n- The lamp has a slow mode.",
        "summary": "The lamp has a slow mode.",
        "labels": ["new"],
        "status": "draft",
    },
    "createPostGeneration": {
        "contentType": "blog_post",
        "lookbackWindow": "last_30_days",
        "repositoryIds": ["7001"],
        "dataPoints": {"includeCommits": True, "includeReleases": True},
    },
    "createSchedule": {
        "name": "Each Monday",
        "sourceType": "cron",
        "sourceConfig": _WEEKLY,
        "targets": _TARGETS,
        "outputType": "changelog",
        "lookbackWindow": "last_7_days",
    },
    "createWebhookEndpoint": {
        "url": "https://acme.example/webhooks/posts",
        "eventTypes": ["post.published"],
        "description": "Website",
    },
    "reconcileIntegration": {"lookBackHours": 24, "dryRun": True},
    "replayWebhookLogs": {
        "requestId": "after-the-outage",
        "statuses": ["failed"],
        "since": "2026-11-22T08:00:00Z",
    },
    "rotateIntegrationSecret": {"overlapHours": 24},
    "rotateWebhookEndpointSecret": {"overlapHours": 24},
    "setHouseStyle": {"houseStyle": {"audience": "public", "emoji": False, "headings": {"added": "New"}}},
    "updateBrandIdentity": {"audience": "developers", "toneProfile": "Conversational"},
    "updateChangelog": {"accent": "#0b6b63", "showDetails": True},
    "updateEventTrigger": {"branches": ["main", "release/*"], "autoPublish": True},
    "updateIntegration": {"enabled": False},
    "updateOrganization": {"timeZone": "Europe/Berlin"},
    "updatePost": {"title": "Beacon 1.2.0", "status": "published"},
    "updatePosts": {"action": "publish", "filter": {"contentType": "changelog", "status": "draft"}},
    "updateSchedule": {"lookbackWindow": "last_14_days", "enabled": True},
    "updateWebhookEndpoint": {"eventTypes": ["post.created", "post.published"]},
}
