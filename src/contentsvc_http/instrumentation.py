"""Instrumentation: metrics and traces around the use cases. Disabled ones are not imported."""

import asyncio
import contextlib
import importlib.metadata
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Final, final

from attrs import evolve, frozen

from contentsvc_core.outgoing.retries import AttemptResult
from contentsvc_core.ports import Workflow
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.bounds import Counting, uncounted
from contentsvc_http.deliveries import Observer
from contentsvc_http.logs import AnswerObserver
from contentsvc_http.settings import InvalidSetting, Settings

if TYPE_CHECKING:
    from litestar.handlers import HTTPRouteHandler

    from contentsvc_core.outgoing.letters import MailResult
    from contentsvc_http.scrape import RunBacklog

#: Timeout for sending the last spans at shutdown, in seconds.
_LAST_SPANS_S: Final = 1.0


@final
@frozen(kw_only=True)
class Instrumentation:
    """Instrumentation hooks: decorators for receiver, store and workflow, and callbacks for events."""

    workflow: Callable[[Workflow], Workflow] = lambda workflow: workflow
    deliveries: tuple[Observer, ...] = ()
    answered: AnswerObserver | None = None
    #: Counts what connections drop and refuse.
    counting: Counting = uncounted
    batch: Callable[[int], object] | None = None
    ended: Callable[[RunStatus], None] = lambda _status: None
    sent: Callable[[AttemptResult], None] = lambda _result: None
    #: Counts attempts to send mails to subscribers.
    posted: "Callable[[MailResult], None] | None" = None
    routes: "Callable[[], tuple[HTTPRouteHandler, ...]]" = tuple


@contextlib.asynccontextmanager
async def watching(
    settings: Settings,
    *,
    backlog: "Callable[[], Awaitable[RunBacklog]]",
    connections: Callable[[], tuple[int, int]],
) -> AsyncGenerator[Instrumentation]:
    """Open the instrumentation; send the remaining spans when it is closed.

    ``backlog`` may raise any exception; ``connections`` returns the number in use, and the maximum.
    """
    async with contextlib.AsyncExitStack() as stack:
        instrumentation = Instrumentation()
        if settings.metrics != "off":
            measured = _measuring(backlog, connections, local=settings.metrics == "local")
            instrumentation = await stack.enter_async_context(measured)
        if settings.traces != "off":
            instrumentation = await stack.enter_async_context(_tracing(instrumentation))
        yield instrumentation


@contextlib.asynccontextmanager
async def _measuring(
    backlog: "Callable[[], Awaitable[RunBacklog]]",
    connections: Callable[[], tuple[int, int]],
    *,
    local: bool,
) -> AsyncGenerator[Instrumentation]:
    # Imported late: the library reads the environment at import to choose the storage of its numbers.
    from contentsvc_http.metrics import MeasuredWorkflow  # noqa: PLC0415  # as above
    from contentsvc_http.scrape import Scrape  # noqa: PLC0415  # as above

    scrape = Scrape(_version, backlog, connections)
    metrics = scrape.metrics
    sampling = asyncio.create_task(scrape.keep_sampling(), name="sample")

    def routes() -> "tuple[HTTPRouteHandler, ...]":
        from contentsvc_http.metrics_page import metrics_route  # noqa: PLC0415  # imports the framework

        return (metrics_route(scrape, local=local),)

    try:
        yield Instrumentation(
            workflow=lambda workflow: MeasuredWorkflow(workflow, metrics),
            deliveries=(metrics,),
            answered=metrics.answered,
            counting=metrics.refused,
            batch=metrics.settle_batch.observe,
            ended=metrics.run_ended,
            sent=metrics.sent,
            posted=metrics.posted,
            routes=routes,
        )
    finally:
        sampling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sampling


@contextlib.asynccontextmanager
async def _tracing(inner: Instrumentation) -> AsyncGenerator[Instrumentation]:
    from contentsvc_http.traces import (  # noqa: PLC0415  # the packages are an extra; the settings check them
        DeliveryTraces,
        TracedWorkflow,
        Traces,
    )

    try:
        traces = Traces(_version())
    except ValueError as exc:
        message = f"a variable OTEL_* cannot be used: {exc}"
        raise InvalidSetting(message) from exc
    tracer = traces.tracer

    def traced(workflow: Workflow) -> Workflow:
        return TracedWorkflow(inner.workflow(workflow), tracer)

    try:
        yield evolve(inner, workflow=traced, deliveries=(*inner.deliveries, DeliveryTraces(tracer)))
    finally:
        await traces.close(within_s=_LAST_SPANS_S)


def _version() -> str:
    return importlib.metadata.version("contentsvc")
