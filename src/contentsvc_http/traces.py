"""Spans of deliveries and runs, for a collector of OpenTelemetry: ids and outcomes, no secret, no body, no free text.

Imported only where it is switched on; the packages are an extra, ``contentsvc[otel]``.
"""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from contentsvc_core.ports import DeliveryStore, Steps, Workflow
from contentsvc_core.webhooks.delivery import Address, Delivery, Endpoint
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Rejected
from contentsvc_core.webhooks.settlement import Settled, Settlement
from contentsvc_core.workflows.causes import Cause, Delivered
from contentsvc_core.workflows.runs import RunGone, WorkflowRun
from contentsvc_http.webhooks import Receiving

_TRACEPARENT: Final = "traceparent"
_PROPAGATOR: Final = TraceContextTextMapPropagator()


@final
class Traces:
    """Makes spans, and sends them by OTLP over HTTP, as the standard variables ``OTEL_*`` say."""

    def __init__(self, version: str) -> None:
        """Begin to send.

        Raises:
            ValueError: One of the standard variables cannot be used.
        """
        ours = Resource.create({"service.name": "contentsvc", "service.version": version})
        self._provider: Final = TracerProvider(
            # What the operator says of the service counts more than what we do.
            resource=ours.merge(OTELResourceDetector().detect()),
            # close() does so, in bounded time.
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer: Final = self._provider.get_tracer("contentsvc", version)

    async def close(self, *, within_s: float) -> None:
        """Send what is left, unless that takes too long: a collector that hangs must not hold up a stop."""
        loop = asyncio.get_running_loop()
        sent = asyncio.Event()

        def send() -> None:
            self._provider.shutdown()
            loop.call_soon_threadsafe(sent.set)

        # No thread of the loop's: those are waited for in the end.
        threading.Thread(target=send, name="last spans", daemon=True).start()
        try:
            await asyncio.wait_for(sent.wait(), within_s)
        except TimeoutError:
            return


@final
class TracedReceiver:
    """Makes a span of each delivery whose body was read."""

    def __init__(self, receiver: Receiving, tracer: Tracer) -> None:
        """Take the receiver."""
        self._receiver = receiver
        self._tracer = tracer

    async def preflight(self, delivery: Delivery) -> Rejected | None:
        """Refuse what can be refused before the body is read."""
        return await self._receiver.preflight(delivery)

    async def refuse(self, delivery: Delivery, fault: Fault, error: str) -> None:
        """Log that a delivery is refused whose body was not read whole."""
        await self._receiver.refuse(delivery, fault, error)

    async def receive(self, delivery: Delivery) -> Outcome:
        """Receive."""
        address = delivery.address
        attributes = {
            "contentsvc.provider": address.provider,
            "contentsvc.organization_id": address.organization_id,
            "contentsvc.integration_id": address.integration_id,
            "contentsvc.repository_id": address.repository_id,
        }
        with (
            self._tracer.start_as_current_span(
                "receive delivery",
                Context(),
                SpanKind.SERVER,
                attributes,
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _failing(span),
        ):
            outcome = await self._receiver.receive(delivery)
            _describe(span, delivery, outcome)
            return outcome


@final
class TracedStore:
    """Makes a span of each settlement."""

    def __init__(self, store: DeliveryStore, tracer: Tracer) -> None:
        """Take the store."""
        self._store = store
        self._tracer = tracer

    async def endpoint(self, address: Address, now: datetime, *, recall: bool = False) -> Endpoint | None:
        """Give what is known at an address."""
        return await self._store.endpoint(address, now, recall=recall)

    async def settle(self, settlement: Settlement) -> Settled:
        """Settle."""
        with (
            self._tracer.start_as_current_span("settle", record_exception=False, set_status_on_exception=False) as span,
            _failing(span),
        ):
            settled = await self._store.settle(settlement)
            span.set_attributes({"contentsvc.settled": settled.name.lower(), "contentsvc.runs": len(settlement.runs)})
            return settled


@final
class TracedWorkflow:
    """Makes a span of each performance of a run. The delivery's span has ended long ago: its id leads there."""

    def __init__(self, workflow: Workflow, tracer: Tracer) -> None:
        """Take the workflow."""
        self._workflow = workflow
        self._tracer = tracer

    async def perform(self, run: WorkflowRun, steps: Steps) -> None:
        """Perform a run."""
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
        """Have a run tried again, or end it."""
        await self._workflow.failed(run, exc)


@contextmanager
def _failing(span: Span) -> Generator[None]:
    """Say what failed by its kind alone: what an exception says may be anybody's text."""
    try:
        yield
    except RunGone:
        # Nothing failed: the run was taken away.
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
    # Anybody may name a trace, and ask for it to be recorded: so the caller's is linked to and never joined, and only
    # once the signature has told who asks.
    claimed = delivery.sole(_TRACEPARENT)
    if claimed is not None:
        theirs = _PROPAGATOR.extract({_TRACEPARENT: claimed.decode("latin-1")}, Context())
        linked = get_current_span(theirs).get_span_context()
        if linked.is_valid:
            span.add_link(linked)


def _delivered(cause: Cause) -> dict[str, str | int]:
    """Give what leads from a run to the delivery that it is for."""
    if not isinstance(cause, Delivered):
        return {}
    return {
        "contentsvc.trigger_id": cause.trigger_id,
        "contentsvc.provider": cause.provider,
        "contentsvc.repository_id": cause.repository_id,
        "contentsvc.delivery_id": cause.delivery_id,
        "contentsvc.event": cause.event.type,
    }
