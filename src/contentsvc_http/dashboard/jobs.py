"""Jobs on pages: what was asked for, followed until it is there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from litestar import Response

from contentsvc_core.content.jobs import Job, JobEventType, job_events, job_status
from contentsvc_core.identifiers import is_own_id
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.pages import Pages, nothing_new
from contentsvc_http.dashboard.visits import Visit

_UNDER_WAY: Final = frozenset({"queued", "running"})
#: How the timeline shows what has happened.
_KINDS: Final[Mapping[JobEventType, str]] = {
    JobEventType.POST_CREATED: "good",
    JobEventType.COMPLETED: "good",
    JobEventType.FAILED: "bad",
}


async def job_of(dashboard: Dashboard, found: Visit, job_id: str) -> Job | None:
    """Find a job of the organization."""
    return await dashboard.api.jobs.job(found.organization_id, job_id) if is_own_id(job_id) else None


def job_page(  # noqa: PLR0913  # what the two kinds of jobs differ in
    pages: Pages,
    found: Visit,
    job: Job,
    *,
    path: str,
    title: str,
    section: str,
    facts: Sequence[tuple[str, str]],
    made: tuple[str, str] | None,
    again: tuple[str, str],
) -> Response[Any]:
    """Show how far a job is; a script on the page asks each second, and is told what has changed.

    Args:
        pages: Makes it.
        found: Who asks.
        job: The job as it stands.
        path: The page's, below the dashboard's root.
        title: What is being made.
        section: Of the navigation.
        facts: What was asked for.
        made: Path and text of the link to what was made; ``None``: nothing, so far.
        again: Path and text of the link to asking once more.
    """
    status, events = job_status(job), job_events(job)
    version = f"{status}-{len(events)}"
    if found.is_partial and found.query.get("seen") == version and status in _UNDER_WAY:
        return nothing_new()
    context = {
        "path": path,
        "version": version,
        "status": status,
        "under_way": status in _UNDER_WAY,
        "events": [(_KINDS.get(event.type, ""), event) for event in events],
        # Why an attempt failed that is not the last one is the operator's business.
        "reason": None if status in _UNDER_WAY else job.run.error,
        "run_id": job.run.id,
        "facts": facts,
        "made": made,
        "again": again,
    }
    if found.is_partial:
        return pages.part(found, "job_now.html", context)
    return pages.page(found, "job.html", context, title=title, section=section)
