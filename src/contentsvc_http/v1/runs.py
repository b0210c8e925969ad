from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.lists.cursors import Cursor, written_cursor
from contentsvc_core.lists.pagination import read_limit
from contentsvc_core.lists.parameters import choices
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.runs import CANCELLED, ListedRun, RunBody, RunStatus
from contentsvc_http.errors import accepted, refused
from contentsvc_http.v1.context import read_before
from contentsvc_http.v1.gate import Caller, Gate
from contentsvc_http.v1.operations import Operations
from contentsvc_http.v1.pages import read_parameters

_UNKNOWN: Final = Refusal(RefusalKind.NOT_FOUND, "Run not found")
_ENDED: Final = Refusal(RefusalKind.CONFLICT, "The run has ended already")
_NOT_ENDED: Final = Refusal(RefusalKind.CONFLICT, "The run has not ended, or has its post")
_Id = Annotated[str, Parameter(description="Id of the run.")]


class RunListBody(TypedDict):
    """Workflow runs, newest first."""

    runs: list[RunBody]
    next: str | None


class OneRunBody(TypedDict):
    """A workflow run."""

    run: RunBody


_STATUSES: Final = ", ".join(f"`{status.value}`" for status in RunStatus)


def run_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "runs")
    run_lists, ledger, clock = gate.app.stores.run_lists, gate.app.stores.ledger, gate.app.clock

    @operation(
        "GET /v1/runs",
        "listRuns",
        "List workflow runs, newest first",
        query={
            "limit": (int, "Number of runs, 1 to 100. Default: 10."),
            "before": "Cursor: the `next` of the previous page.",
            "status": (
                list[RunStatus],
                f"Only runs with these statuses: a comma-separated list of {_STATUSES}.",
            ),
        },
    )
    async def list_runs(request: Request[Any, Any, Any], key: Caller) -> Response[RunListBody]:
        parameters = read_parameters(request, "status")
        statuses = accepted(choices("status", parameters.get("status", ""), RunStatus))
        limit = read_limit(parameters.get("limit"))
        before = read_before(parameters.get("before", ""))
        listed_runs = await run_lists.runs(key.organization_id, statuses=statuses, limit=limit + 1, before=before)
        following = written_cursor(Cursor.of(listed_runs[limit - 1])) if len(listed_runs) > limit else None
        return await gate.answer(key, {"runs": [RunBody.of(run) for run in listed_runs[:limit]], "next": following})

    async def find(organization_id: str, run_id: str) -> ListedRun:
        run = await run_lists.run(organization_id, run_id)
        return accepted(run or _UNKNOWN)

    @operation("GET /v1/runs/{run_id:str}", "getRun", "Get a workflow run")
    async def get_run(key: Caller, run_id: _Id) -> Response[OneRunBody]:
        return await gate.answer(key, {"run": RunBody.of(await find(key.organization_id, run_id))})

    async def changed(
        key: ApiKey, run_id: str, change: Callable[[str], Awaitable[bool]], otherwise: Refusal
    ) -> Response[OneRunBody]:
        await find(key.organization_id, run_id)
        if not await change(key.organization_id):
            raise refused(otherwise)
        return await gate.answer(key, {"run": RunBody.of(await find(key.organization_id, run_id))})

    @operation(
        "POST /v1/runs/{run_id:str}/cancel", "cancelRun", "Cancel a workflow run that has not ended", fails=[409]
    )
    async def cancel_run(key: Caller, run_id: _Id) -> Response[OneRunBody]:
        return await changed(key, run_id, lambda owner: ledger.cancel(owner, run_id, CANCELLED), _ENDED)

    @operation(
        "POST /v1/runs/{run_id:str}/retry", "retryRun", "Retry a workflow run that ended without a post", fails=[409]
    )
    async def retry_run(key: Caller, run_id: _Id) -> Response[OneRunBody]:
        return await changed(key, run_id, lambda owner: ledger.restart(owner, run_id, due_at=clock.now()), _NOT_ENDED)

    return operation.routes
