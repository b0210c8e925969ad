"""OpenTelemetry spans of deliveries and runs: ids and outcomes, without secrets, bodies and free text."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from time import perf_counter, time
from typing import Final, final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from contentsvc_core.ports import Steps, Workflow
from contentsvc_core.webhooks.delivery import Delivery
from contentsvc_core.webhooks.outcomes import Outcome, Rejected
from contentsvc_core.webhooks.settlement import Settled
from contentsvc_core.workflows.causes import Cause, Delivered
from contentsvc_core.workflows.runs import RunLost, WorkflowRun
from contentsvc_http.deliveries import Deliveries, DeliveryProgress

_TRACEPARENT: Final = "traceparent"
_PROPAGATOR: Final = TraceContextTextMapPropagator()


@final
class Traces:
    """Creates spans and exports them by OTLP over HTTP, configured by the standard variables ``OTEL_*``."""

    def __init__(self, version: str) -> None:
        """Start the export; an invalid standard variable is a ``ValueError``."""
        resource = Resource.create({"service.name": "contentsvc", "service.version": version})
        self._provider: Final = TracerProvider(
            # The attributes of the operator have precedence.
            resource=resource.merge(OTELResourceDetector().detect()),
            # close() shuts down in bounded time.
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer: Final = self._provider.get_tracer("contentsvc", version)

    async def close(self, *, within_s: float) -> None:
        """Export the remaining spans within a time limit: a collector that hangs must not delay a stop."""
        loop = asyncio.get_running_loop()
        sent = asyncio.Event()

        def send() -> None:
            self._provider.shutdown()
            loop.call_soon_threadsafe(sent.set)

        # Not a thread of the loop's executor, which the loop joins at its end.
        threading.Thread(target=send, name="last spans", daemon=True).start()
        try:
            await asyncio.wait_for(sent.wait(), within_s)
        except TimeoutError:
            return


@final
class DeliveryTraces:
    """Creates a span for each delivery whose body was read, and one for each of its settlements."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def observe(self, deliveries: Deliveries) -> None:
        """Do nothing: a span is created at the end of its delivery."""

    def ended(self, passages: Sequence[DeliveryProgress]) -> None:
        # Spans have wall-clock times, deliveries have monotonic ones.
        epoch_s = time() - perf_counter()
        for passage in passages:
            if passage.steps is not None:
                self._trace(passage, epoch_s)

    def unread(self, exc: Exception) -> None:
        """Do nothing: the delivery's span has the failure."""

    def _trace(self, passage: DeliveryProgress, epoch_s: float) -> None:
        address = passage.delivery.address
        attributes = {
            "contentsvc.provider": address.provider,
            "contentsvc.organization_id": address.organization_id,
            "contentsvc.integration_id": address.integration_id,
            "contentsvc.repository_id": address.repository_id,
        }
        span = self._tracer.start_span(
            "receive delivery", Context(), SpanKind.SERVER, attributes, start_time=_ns(epoch_s + passage.began_s)
        )
        within = set_span_in_context(span, Context())
        for part in passage.settlings:
            settling = self._tracer.start_span("settle", within, start_time=_ns(epoch_s + part.began_s))
            if isinstance(part.answer, Settled):
                settling.set_attributes(
                    {"contentsvc.settled": part.answer.name.lower(), "contentsvc.runs": len(part.settlement.started)}
                )
            elif part.answer is not None:
                settling.set_status(Status(StatusCode.ERROR, type(part.answer).__name__))
            settling.end(_ns(epoch_s + part.ended_s))
        if isinstance(passage.end, Exception):
            # Only the class of an exception: its message may contain untrusted text.
            span.set_status(Status(StatusCode.ERROR, type(passage.end).__name__))
        elif passage.end is not None:
            _describe(span, passage.delivery, passage.end)
        span.end(_ns(epoch_s + passage.ended_s))


def _ns(at_s: float) -> int:
    return int(at_s * 1_000_000_000)


@final
class TracedWorkflow:
    """Creates a span for each execution of a run; it links to the delivery by id, whose span has ended."""

    def __init__(self, workflow: Workflow, tracer: Tracer) -> None:
        self._workflow = workflow
        self._tracer = tracer

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        attributes = {
            "contentsvc.run_id": run.id,
            "contentsvc.organization_id": run.organization_id,
            "contentsvc.started_by": run.cause.started_by,
            "contentsvc.attempt": run.attempts,
            **_delivered(run.cause),
        }
        with (
            self._tracer.start_as_current_span(
                "perform run",
                Context(),
                SpanKind.CONSUMER,
                attributes,
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _failing(span),
        ):
            await self._workflow.perform(run, steps)

    async def failed(self, run: WorkflowRun, exc: Exception) -> None:
        await self._workflow.failed(run, exc)


@contextmanager
def _failing(span: Span) -> Generator[None]:
    """Mark the span as failed by the class of an exception only: its message may contain untrusted text."""
    try:
        yield
    except RunLost:
        raise
    except Exception as exc:
        span.set_status(Status(StatusCode.ERROR, type(exc).__name__))
        raise


def _describe(span: Span, delivery: Delivery, outcome: Outcome) -> None:
    span.set_attributes(
        {
            "contentsvc.outcome": type(outcome).__name__.lower(),
            "contentsvc.delivery_id": outcome.delivery_id or "",
            "http.response.status_code": outcome.status,
        }
    )
    if isinstance(outcome, Rejected):
        return
    # A client can send any trace id and ask for recording. So the client's trace is linked and never joined, and only
    # after the signature was verified.
    claimed = delivery.headers.sole.get(_TRACEPARENT.encode())
    if claimed is not None:
        context = _PROPAGATOR.extract({_TRACEPARENT: claimed.decode("latin-1")}, Context())
        linked = get_current_span(context).get_span_context()
        if linked.is_valid:
            span.add_link(linked)


def _delivered(cause: Cause) -> dict[str, str | int]:
    if not isinstance(cause, Delivered):
        return {}
    return {
        "contentsvc.trigger_id": cause.trigger_id,
        "contentsvc.provider": cause.provider,
        "contentsvc.repository_id": cause.repository_id,
        "contentsvc.delivery_id": cause.delivery_id,
        "contentsvc.event": cause.event.type,
    }
