"""Spans and metrics of a run to a collector, by OTLP over HTTP, in the background: a collector that is away costs little.

A run is also log lines: one JSON object for each event, with the ids of its trace; what was said is left out unless asked for.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, TextIO, cast

from agentforge.errors import ToolchainError
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.events.storage.state_codec import encode
from agentforge.installation import command_for
from agentforge.telemetry.spans import Span, SpanBuilder, Value, trace_id_of

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import BatchSpanProcessor


_TIMEOUT_S = 5
_FLUSH_MS = 6_000
_SCOPE = "agentforge"
_SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
_NEVER_MS = 86_400_000.0
_PLAIN = frozenset(
    {
        "stage", "step", "attempt", "index", "name", "status", "slug", "outcome", "passed", "model", "finish", "cost_usd",
        "duration_ms", "escalation_id", "kind", "decision", "by", "branch", "commit", "effect", "error_type", "about",
        "channel", "notice", "remote", "run_id", "usage", "requests", "exit_code", "verdict", "trigger",
    }
)  # fmt: skip
_SEVERE = {"ModelFailed": "ERROR", "RunInterrupted": "WARN", "EscalationRaised": "WARN", "LogRecovered": "WARN"}


class Exporter:
    """Subscribes to a run and sends what it makes of the events.

    Args:
        endpoint: of the collector, without `/v1/traces`; "" = as the OTEL_* variables say.
        version: of AgentForge.
        contents: spans hold what was said.
    Raises:
        ToolchainError: the extra `otel` is not installed.
    """

    def __init__(self, *, endpoint: str, version: str, contents: bool) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
        except ImportError as exc:
            raise ToolchainError(
                "telemetry is asked for and opentelemetry is not installed", hint=command_for("otel")
            ) from exc
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # its words are no output of a run
        self._resource = Resource.create({"service.name": _SCOPE, "service.version": version})
        self._builder = SpanBuilder(contents=contents)
        self._processor = _processor(endpoint)
        self._meters = _meters(endpoint, self._resource)
        meter = self._meters.get_meter(_SCOPE, version, _SCHEMA)
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens of requests and replies.")
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "Duration of requests to models."
        )
        self._version = version

    def learn(self, event: Event, at: str) -> None:
        """Take an event of an earlier process: what it ended was sent then."""
        for _ in self._builder.take(event, at):
            continue

    def __call__(self, event: Event, state: RunState) -> None:
        """Take an event of this process."""
        for span in self._builder.take(event, state.progress.last_at):
            self._processor.on_end(_readable(span, self._resource, version=self._version))
            if span.attributes.get("gen_ai.operation.name") == "chat":
                self._measure(span)

    def close(self) -> None:
        """Send what is left; a collector that does not answer is given up after some seconds."""
        self._processor.force_flush(_FLUSH_MS)
        self._processor.shutdown()  # type: ignore[no-untyped-call] # the SDK does not annotate it
        self._meters.shutdown(timeout_millis=_FLUSH_MS)

    def _measure(self, span: Span) -> None:
        about = {name: span.attributes[name] for name in _DIMENSIONS if name in span.attributes}
        self._seconds.record((span.end_ns - span.start_ns) / 1e9, about)
        for kind in ("input", "output"):
            count = span.attributes.get(f"gen_ai.usage.{kind}_tokens")
            if isinstance(count, int):
                self._tokens.record(count, {**about, "gen_ai.token.type": kind})


_DIMENSIONS = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "error.type",
)


def _processor(endpoint: str) -> BatchSpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    address = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    return BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=_TIMEOUT_S))


def _meters(endpoint: str, resource: Resource) -> MeterProvider:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    address = f"{endpoint.rstrip('/')}/v1/metrics" if endpoint else None
    exporter = OTLPMetricExporter(endpoint=address, timeout=_TIMEOUT_S)
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=_NEVER_MS, export_timeout_millis=_FLUSH_MS)
    return MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)


def _readable(span: Span, resource: Resource, *, version: str) -> ReadableSpan:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(span_id: str) -> SpanContext:
        return SpanContext(int(span.trace_id, 16), int(span_id, 16), False, TraceFlags(TraceFlags.SAMPLED))

    return ReadableSpan(
        name=span.name,
        context=context(span.span_id),
        parent=context(span.parent_id) if span.parent_id else None,
        resource=resource,
        attributes=cast("dict[str, Value]", dict(span.attributes)),
        kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.error) if span.error else Status(StatusCode.UNSET),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=InstrumentationScope(_SCOPE, version, _SCHEMA),
    )


class LogLines:
    """Writes a line for each event; a reader that left is no matter of the run's.

    Args:
        contents: lines hold everything that the events hold.
    """

    def __init__(self, stream: TextIO, *, contents: bool) -> None:
        self._stream = stream
        self._contents = contents
        self._gone = False

    def __call__(self, event: Event, state: RunState) -> None:
        """Write one line."""
        name, data = encode(event)
        known = data if self._contents else {key: value for key, value in data.items() if key in _PLAIN}
        failed = bool(data.get("error")) or data.get("passed") is False
        line = {
            "timestamp": state.progress.last_at,
            "severity": _SEVERE.get(name, "WARN" if failed else "INFO"),
            "event": name,
            "task_id": state.identity.run_id,
            "trace_id": trace_id_of(state.identity.run_id),
            **{f"agentforge.{key}": value for key, value in known.items()},
        }
        try:
            if not self._gone:
                self._stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
                self._stream.flush()
        except BrokenPipeError:
            self._gone = True
