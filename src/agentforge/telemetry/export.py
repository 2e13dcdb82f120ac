"""Spans and metrics of a run to a collector, by OTLP over HTTP, in the background: a collector that is away costs little."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from agentforge.errors import ToolchainError
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.installation import command_for
from agentforge.telemetry.spans import Span, SpanBuilder, Value

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
