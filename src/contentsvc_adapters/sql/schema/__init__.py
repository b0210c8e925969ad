"""The tables. Points in time are milliseconds since the epoch, JSON is text that this package wrote.

A table is created when it is first used. Its foreign keys name other tables, which need not exist until then.
"""

from typing import TYPE_CHECKING, Final

from contentsvc_core.on_demand import names_on_demand

if TYPE_CHECKING:
    from contentsvc_adapters.sql.schema.access import api_keys, keyed_requests, rate_windows, sessions
    from contentsvc_adapters.sql.schema.automation import brand_identities, schedules, triggers
    from contentsvc_adapters.sql.schema.content import post_paths, post_versions, posts, released_pushes, told_once
    from contentsvc_adapters.sql.schema.deliveries import claims, context_records, events, log_entries
    from contentsvc_adapters.sql.schema.directory import integrations, organizations, repositories, webhook_secrets
    from contentsvc_adapters.sql.schema.lists import log_counts, post_counts
    from contentsvc_adapters.sql.schema.mailing import announced_posts, mails, subscribers
    from contentsvc_adapters.sql.schema.outgoing import (
        integration_alerts,
        recipients,
        webhook_endpoints,
        webhook_messages,
    )
    from contentsvc_adapters.sql.schema.publishing import changelog_images, changelog_slugs, public_changelogs
    from contentsvc_adapters.sql.schema.searching import search_batches, search_documents, search_pending
    from contentsvc_adapters.sql.schema.whole import metadata
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
    "keyed_requests",
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
    "recipients",
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

_HOMES: Final = {
    "access": "api_keys keyed_requests rate_windows sessions",
    "automation": "brand_identities schedules triggers",
    "content": "post_paths post_versions posts released_pushes told_once",
    "deliveries": "claims context_records events log_entries",
    "directory": "integrations organizations repositories webhook_secrets",
    "lists": "log_counts post_counts",
    "mailing": "announced_posts mails subscribers",
    "outgoing": "integration_alerts recipients webhook_endpoints webhook_messages",
    "publishing": "changelog_images changelog_slugs public_changelogs",
    "searching": "search_batches search_documents search_pending",
    "whole": "metadata",
    "work": "executors job_events jobs run_drafts run_steps workflow_runs",
}

if not TYPE_CHECKING:
    __getattr__ = names_on_demand(__name__, _HOMES)
