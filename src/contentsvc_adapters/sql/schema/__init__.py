"""The tables. Points in time are milliseconds since the epoch, JSON is text that this package wrote."""

from contentsvc_adapters.sql.schema.columns import metadata
from contentsvc_adapters.sql.schema.content import (
    changelog_images,
    changelog_slugs,
    post_paths,
    post_versions,
    posts,
    public_changelogs,
    released_pushes,
    told_once,
)
from contentsvc_adapters.sql.schema.deliveries import claims, context_records, events, log_entries
from contentsvc_adapters.sql.schema.directory import (
    api_keys,
    brand_identities,
    integrations,
    organizations,
    rate_windows,
    repositories,
    schedules,
    sessions,
    triggers,
    webhook_secrets,
)
from contentsvc_adapters.sql.schema.lists import log_counts, post_counts
from contentsvc_adapters.sql.schema.mailing import announced_posts, mails, subscribers
from contentsvc_adapters.sql.schema.outgoing import integration_alerts, webhook_endpoints, webhook_messages
from contentsvc_adapters.sql.schema.searching import search_batches, search_documents, search_pending
from contentsvc_adapters.sql.schema.work import executors, job_events, jobs, run_drafts, run_steps, workflow_runs

__all__ = [
    "announced_posts",
    "api_keys",
    "brand_identities",
    "changelog_images",
    "changelog_slugs",
    "claims",
    "context_records",
    "events",
    "executors",
    "integration_alerts",
    "integrations",
    "job_events",
    "jobs",
    "log_counts",
    "log_entries",
    "mails",
    "metadata",
    "organizations",
    "post_counts",
    "post_paths",
    "post_versions",
    "posts",
    "public_changelogs",
    "rate_windows",
    "released_pushes",
    "repositories",
    "run_drafts",
    "run_steps",
    "schedules",
    "search_batches",
    "search_documents",
    "search_pending",
    "sessions",
    "subscribers",
    "told_once",
    "triggers",
    "webhook_endpoints",
    "webhook_messages",
    "webhook_secrets",
    "workflow_runs",
]
