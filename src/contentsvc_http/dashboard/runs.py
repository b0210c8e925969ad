from collections.abc import Mapping, Sequence
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.events.normalized import Release
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.parameters import choices
from contentsvc_core.timestamps import read_iso
from contentsvc_core.usecases.zones import zone_of
from contentsvc_core.workflows.causes import Generation, ListedDelivery, SiteReading
from contentsvc_core.workflows.jobs import brand_id_of
from contentsvc_core.workflows.runs import CANCELLED, MAX_ATTEMPTS, RESTARTABLE, UNENDED, ListedRun, RunStatus
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.pages import ago, digest, go, nothing_new
from contentsvc_http.dashboard.refusals import Unsaved, found
from contentsvc_http.dashboard.run_timeline import RunDetails, timeline
from contentsvc_http.dashboard.run_words import PageLink, line_of, starters_of
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Visitor, sent
from contentsvc_http.errors import accepted

_PATH: Final = f"{ROOT}/runs"
_SECTION: Final = "runs"
_AT_ONCE: Final = 50
_CONFLICT: Final = 409
_COMMITS: Final = 20
#: The largest stored event that is shown in detail, in bytes: a page must not decode 25 MiB.
_MOST_BYTES: Final = 1024 * 1024
_UNKNOWN: Final = "This run is not there."
_NO_RETRY: Final = "The run was not started again: it has not ended, or has its post."
_NO_CANCEL: Final = "The run was not cancelled: it has ended already."


async def _find(session: DashboardSession, run_id: str) -> ListedRun:
    return found(
        await session.lists(lambda: session.app.stores.run_lists.run(session.organization_id, run_id)), _UNKNOWN
    )


@get(_PATH)
async def list_runs(session: Visitor) -> Response[Any]:
    statuses = accepted(choices("status", session.query.get("status", ""), RunStatus))
    behind, organization_id = session.query.get("before", ""), session.organization_id
    before = Cursor.of(await _find(session, behind)) if behind else None
    run_lists = session.app.stores.run_lists
    listed = await session.lists(
        lambda: run_lists.runs(organization_id, statuses=statuses, limit=_AT_ONCE + 1, before=before),
    )
    starters = await starters_of(session)
    lines = [line_of(run, starters) for run in listed[:_AT_ONCE]]
    titles = await run_lists.post_titles(organization_id, {run.post_id for run in listed[:_AT_ONCE] if run.post_id})
    # Once a minute, so that "3 min ago" does not stay so.
    seen = digest(lines, titles, f"{session.app.clock.now():%H:%M}")
    if session.is_partial and session.query.get("seen") == seen:
        return nothing_new()
    shown = {
        "lines": lines,
        "titles": titles,
        "chosen": ",".join(status.value for status in statuses),
        "statuses": [status.value for status in RunStatus],
        "older": lines[-1]["run"].id if len(listed) > _AT_ONCE else None,
        "is_first": before is None,
        "digest": seen,
        "arrived": _arrived(lines, session.query.get("newest", "")) if session.is_partial else (),
    }
    if session.is_partial:
        return pages.part(session, "runs_now.html", shown)
    return pages.page(session, "runs.html", shown, title="Runs", section=_SECTION)


@get(f"{_PATH}/{{run_id:str}}")
async def show(session: Visitor, run_id: FromPath[str]) -> Response[Any]:
    run = await _find(session, run_id)
    context = await _context_of(session, run)
    if not session.is_partial:
        context |= {"arrived": False, **await _event(session, run)}
        title = ": ".join(filter(None, (context["line"]["about"], context["line"]["detail"])))
        return pages.page(session, "run.html", context, title=title, section=_SECTION)
    if session.query.get("seen") == context["digest"]:
        return nothing_new()
    return pages.part(session, "run_now.html", context | {"arrived": True})


@sent(f"{_PATH}/{{run_id:str}}/retry", page=show)
async def retry(session: Visitor, run_id: FromPath[str]) -> Response[Any]:
    run = await _find(session, run_id)
    if not await session.app.stores.ledger.restart(run.organization_id, run.id, due_at=session.app.clock.now()):
        raise Unsaved(error=_NO_RETRY, status=_CONFLICT)
    session.app.notify()
    return go(f"/runs/{run.id}", notice="retried")


@sent(f"{_PATH}/{{run_id:str}}/cancel", page=show)
async def cancel(session: Visitor, run_id: FromPath[str]) -> Response[Any]:
    run = await _find(session, run_id)
    if not await session.app.stores.ledger.cancel(run.organization_id, run.id, CANCELLED):
        raise Unsaved(error=_NO_CANCEL, status=_CONFLICT)
    return go(f"/runs/{run.id}", notice="cancelled")


async def _event(session: DashboardSession, run: ListedRun) -> dict[str, Any]:
    if not isinstance(run.cause, ListedDelivery):
        return {"summary": None, "event": None}
    event = await session.app.stores.run_lists.event_of(run.organization_id, run.id, max_bytes=_MOST_BYTES)
    published_at = read_iso(event.published_at) if isinstance(event, Release) and event.published_at else None
    return {"summary": run.cause.event, "event": event, "commits": _COMMITS, "published_at": published_at}


async def _context_of(session: DashboardSession, run: ListedRun) -> dict[str, Any]:
    details = await _details_of(session, run)
    steps = timeline(details)
    now = session.app.clock.now()
    # A countdown needs updates; the age of past steps does not.
    due = ago(run.due_at, details.zone, now) if run.status is RunStatus.PENDING and run.due_at > now else ""
    return {
        "run": run,
        "line": line_of(run, details.starters),
        "steps": steps,
        "log_id": details.log_id,
        "post": details.post,
        "brand": details.brand,
        "sources": run.cause.sources if isinstance(run.cause, Generation) else (),
        "attempts": MAX_ATTEMPTS,
        "is_unfinished": run.status in UNENDED,
        "may_retry": run.status in RESTARTABLE,
        "digest": digest(steps, run.status, due),
    }


async def _details_of(session: DashboardSession, run: ListedRun) -> RunDetails:
    organization_id, cause, stores = run.organization_id, run.cause, session.app.stores
    job_id = cause.job_id if isinstance(cause, Generation | SiteReading) else None
    return RunDetails(
        run=run,
        starters=await starters_of(session),
        zone=await zone_of(stores.directory, organization_id),
        log_id=await session.app.stores.run_lists.log_of(organization_id, run)
        if isinstance(cause, ListedDelivery)
        else None,
        job=None if job_id is None else await stores.jobs.job(organization_id, job_id),
        finished_steps=tuple(await session.app.stores.run_state.results(run)) if run.status in UNENDED else (),
        post=None if run.post_id is None else await stores.posts.post(organization_id, run.post_id),
        brand=await _brand_of(session, run),
    )


async def _brand_of(session: DashboardSession, run: ListedRun) -> PageLink | None:
    if not isinstance(run.cause, SiteReading) or run.status is not RunStatus.COMPLETED:
        return None
    brand = await session.app.stores.brands.identity(run.organization_id, brand_id_of(run))
    return None if brand is None else PageLink(text=brand.name, path=f"/brands/{brand.id}")


def _arrived(lines: Sequence[Mapping[str, Any]], newest: str) -> frozenset[str]:
    ids = [line["run"].id for line in lines]
    return frozenset(ids[: ids.index(newest)]) if newest in ids else frozenset()
