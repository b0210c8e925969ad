from collections.abc import Mapping, Sequence
from typing import Any, Final

from litestar import Response

from contentsvc_core.workflows.jobs import Job, JobEventType, job_events, job_status
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.pages import nothing_new
from contentsvc_http.dashboard.session import DashboardSession

_UNDER_WAY: Final = frozenset({"queued", "running"})
_KINDS: Final[Mapping[JobEventType, str]] = {
    JobEventType.POST_CREATED: "good",
    JobEventType.COMPLETED: "good",
    JobEventType.FAILED: "bad",
}


def job_page(  # the parameters of both kinds of jobs
    session: DashboardSession,
    job: Job,
    *,
    path: str,
    title: str,
    section: str,
    facts: Sequence[tuple[str, str]],
    result: tuple[str, str] | None,
    again: tuple[str, str],
) -> Response[Any]:
    """Return the page of a job, whose script polls each second; ``result`` and ``again`` are path and text of links."""
    status, events = job_status(job), job_events(job)
    version = f"{status}-{len(events)}"
    if session.is_partial and session.query.get("seen") == version and status in _UNDER_WAY:
        return nothing_new()
    context = {
        "path": path,
        "version": version,
        "status": status,
        "under_way": status in _UNDER_WAY,
        "events": [(_KINDS.get(event.type, ""), event) for event in events],
        # The faults of earlier attempts are for the operator only.
        "reason": None if status in _UNDER_WAY else job.run.error,
        "run_id": job.run.id,
        "facts": facts,
        "made": result,
        "again": again,
    }
    if session.is_partial:
        return pages.part(session, "job_now.html", context)
    return pages.page(session, "job.html", context, title=title, section=section)
