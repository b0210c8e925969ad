"""Traces at a collector: a real server, real sockets, and the protocol's own types."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final, final

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from tests.drivers.delivering import deliver
from tests.drivers.importing import modules_of_a_server
from tests.http_server import HttpServer, ReceivedRequest, Reply
from tests.server_process import PATIENCE_S, Installation, Prepared, ServerProcess, prepare, serving, until

pytestmark = pytest.mark.slow("starts servers that export to a collector")

TRACE: Final = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT: Final = f"00-{TRACE}-b7ad6b7169203331-01"
IN_BODY: Final = "nobody's business"


@final
class Collector(HttpServer):
    """Receives OTLP over HTTP."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__()
        self._hangs = hangs
        self.received: list[ReceivedRequest] = []

    def reply(self, request: ReceivedRequest, /) -> Reply:
        if self._hangs:
            threading.Event().wait()
        assert request.path == "/v1/traces"
        self.received.append(request)
        return 200, {}, b""

    @property
    def exported(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(each.raw) for each in list(self.received)]

    def spans(self, name: str) -> list[Span]:
        return [
            span
            for request in self.exported
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if span.name == name
        ]


def attributes(of: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in of.attributes}


@pytest.fixture(autouse=True)
def standard(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Send soon, so that no test waits."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    return monkeypatch


def sent(server: ServerProcess, prepared: Prepared, delivery: str, **headers: str) -> int:
    return deliver(prepared, server, delivery, f"feat: {IN_BODY}", **headers).status_code


def test_a_delivery_and_its_runs_are_spans_that_hold_ids_and_no_secrets(
    tmp_path: Path, standard: pytest.MonkeyPatch
) -> None:
    prepared = prepare(tmp_path, traces="otlp")
    hook = prepared.hook
    with Collector() as collector:
        standard.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        standard.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=lamp")
        standard.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        with serving(prepared.installation) as server:
            assert sent(server, prepared, "d-1", Traceparent=TRACEPARENT) == 200
            forged = {"X-Hub-Signature-256": f"sha256={'0' * 64}", "Traceparent": TRACEPARENT}
            assert sent(server, prepared, "d-2", **forged) == 401
            until(lambda: len(collector.spans("perform run")) == 2, "both runs are spans")
            until(lambda: len(collector.spans("receive delivery")) == 2, "both deliveries are spans")

    received, refused = sorted(collector.spans("receive delivery"), key=lambda span: span.start_time_unix_nano)
    address = {
        "contentsvc.provider": "codehost",
        "contentsvc.organization_id": hook.organization_id,
        "contentsvc.integration_id": hook.integration_id,
        "contentsvc.repository_id": hook.repository_id,
    }
    assert attributes(received) == address | {
        "contentsvc.outcome": "processed",
        "contentsvc.delivery_id": "d-1",
        "http.response.status_code": 200,
    }
    assert received.kind == Span.SpanKind.SPAN_KIND_SERVER
    settle = next(span for span in collector.spans("settle") if span.parent_span_id == received.span_id)
    assert settle.trace_id == received.trace_id
    assert attributes(settle) == {"contentsvc.settled": "as_decided", "contentsvc.runs": 2}
    assert attributes(refused)["contentsvc.outcome"] == "rejected"
    assert attributes(refused)["http.response.status_code"] == 401

    # A foreign trace is never a parent; that of a delivery with a valid signature becomes a link.
    assert [link.trace_id.hex() for link in received.links] == [TRACE]
    assert not refused.links
    assert TRACE not in {
        span.trace_id.hex() for name in ("receive delivery", "settle", "perform run") for span in collector.spans(name)
    }

    run = collector.spans("perform run")[0]
    assert not run.parent_span_id
    assert run.status.code == Status.StatusCode.STATUS_CODE_UNSET
    assert attributes(run)["contentsvc.delivery_id"] == "d-1"
    assert attributes(run)["contentsvc.attempt"] == 1
    assert {attributes(each)["contentsvc.trigger_id"] for each in collector.spans("perform run")} == {
        prepared.on_all,
        prepared.on_push,
    }

    (resource,) = {json.dumps(attributes(each.resource_spans[0].resource)) for each in collector.exported}
    resource_attributes = json.loads(resource)
    assert resource_attributes["service.name"] == "contentsvc"
    assert resource_attributes["service.version"]
    assert resource_attributes["deployment.environment.name"] == "test"
    assert all(each.headers["x-tenant"] == "lamp" for each in collector.received)
    everything = b"".join(each.raw for each in collector.received)
    for hidden in (IN_BODY, hook.secret, "sha256=", prepared.key, "lighthouse"):
        assert hidden.encode() not in everything


def test_the_operator_names_the_service(tmp_path: Path, standard: pytest.MonkeyPatch) -> None:
    prepared = prepare(tmp_path, traces="otlp")
    with Collector() as collector:
        standard.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        standard.setenv("OTEL_SERVICE_NAME", "beam")
        # The exporter sends at the end.
        standard.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
        with serving(prepared.installation) as server:
            assert sent(server, prepared, "d-1") == 200
            assert not collector.received
            server.terminate()
            assert server.process.wait(timeout=30) == 0
        assert attributes(collector.exported[0].resource_spans[0].resource)["service.name"] == "beam"
        assert collector.spans("receive delivery")


def test_a_collector_that_hangs_holds_up_neither_deliveries_nor_a_stop(
    tmp_path: Path, standard: pytest.MonkeyPatch
) -> None:
    prepared = prepare(tmp_path, traces="otlp")
    with Collector(hangs=True) as collector:
        standard.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        # Longer than any wait of this test.
        standard.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600")
        with serving(prepared.installation) as server:
            for number in range(3):
                assert sent(server, prepared, f"d-{number}") == 200
            prepared.installation.until_runs_ended()
            server.terminate()
            assert server.process.wait(timeout=PATIENCE_S) == 0


_WITHOUT: Final = """
import sys
sys.modules["opentelemetry.sdk"] = None
sys.modules["opentelemetry.exporter"] = None
from contentsvc_cli.main import main
main(["serve", "--port", "0"])
"""


@pytest.mark.parametrize(
    ("script", "more", "message"),
    [
        (_WITHOUT, {}, "CONTENTSVC_TRACES=otlp needs packages that are not installed: pip install 'contentsvc[otel]'"),
        (
            "from contentsvc_cli.main import main; main(['serve', '--port', '0'])",
            {"OTEL_BSP_SCHEDULE_DELAY": "-1"},
            "a variable OTEL_* cannot be used: ",
        ),
    ],
    ids=["without the extra", "with a variable that cannot be used"],
)
def test_traces_that_cannot_be_sent_are_refused_in_one_line(
    tmp_path: Path, script: str, more: dict[str, str], message: str
) -> None:
    environment = Installation(tmp_path, traces="otlp").environment | more

    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {message}")
    assert done.stderr.count("\n") == 1


def test_disabled_features_are_not_imported(tmp_path: Path, standard: pytest.MonkeyPatch) -> None:
    installation = Installation(tmp_path, metrics="off")
    # Otherwise the server would upgrade the schema, which needs further imports.
    assert installation.run("migrate").returncode == 0
    imported = modules_of_a_server(installation, expecting=404)
    assert "litestar" in imported
    assert not {name for name in imported if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))}
    # Neither metrics, nor the modules for agents before their first call.
    assert not {"prometheus_client.metrics", "mcp", "mcp_types", "pydantic"} & imported
    # Neither the console parts of structlog, nor SQLAlchemy's object mapper.
    assert not {"rich.console", "sqlalchemy.orm", "sqlalchemy.ext.asyncio"} & imported

    with Collector() as collector:
        standard.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        on = modules_of_a_server(Installation(tmp_path, traces="otlp"), expecting=200)
        assert {"opentelemetry.sdk", "prometheus_client.metrics"} <= on
