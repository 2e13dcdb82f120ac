"""A task is one trace at a real OTLP receiver, over two processes; nothing of what was said is in it unless asked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentforge.telemetry.spans import trace_id_of
from tests.support.loopback.inbox import Inbox, serving
from tests.support.world import own_settings

if TYPE_CHECKING:
    from tests.support.world import World


class Collector(Inbox):
    """What an OTLP receiver on loopback was sent."""

    @property
    def spans(self) -> list[Any]:
        """All spans."""
        return [span for row in self._traces() for scope in row.scope_spans for span in scope.spans]

    @property
    def resources(self) -> list[dict[str, Any]]:
        """The attributes of each export's resource."""
        return [attributes(row.resource) for row in self._traces()]

    @property
    def metrics(self) -> list[Any]:
        """All metrics."""
        exports = [ExportMetricsServiceRequest.FromString(body) for body in self._bodies("/v1/metrics")]
        rows = [row for export in exports for row in export.resource_metrics]
        return [metric for row in rows for scope in row.scope_metrics for metric in scope.metrics]

    def named(self, beginning: str) -> list[Any]:
        """The spans whose name begins so."""
        return [span for span in self.spans if span.name.startswith(beginning)]

    def _traces(self) -> list[Any]:
        exports = [ExportTraceServiceRequest.FromString(body) for body in self._bodies("/v1/traces")]
        return [row for export in exports for row in export.resource_spans]

    def _bodies(self, path: str) -> list[bytes]:
        return [
            gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
            for posted, headers, body in self.got
            if posted == path
        ]


def attributes(holder: Any) -> dict[str, Any]:
    """Attributes as a dict of plain values."""
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in holder.attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    box = Collector(status=200)
    with serving(box):
        yield box


def test_a_task_over_two_processes_is_one_trace_with_the_names_of_the_conventions(
    world: World, collector: Collector
) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    assert world.start(None, "--max-steps", "3", env=env).code == 6
    done = world.run("resume", world.task, "--max-steps", "50", "--json", env=env)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert {span.trace_id.hex() for span in collector.spans} == {trace_id_of(world.task)}
    ids = [span.span_id for span in collector.spans]
    assert len(ids) == len(set(ids)), "no span is sent twice"
    (root,) = collector.named("invoke_workflow")
    assert root.parent_span_id == b"" and attributes(root)["agentforge.outcome"] == "delivered"
    assert {span.parent_span_id for span in collector.spans if span.span_id != root.span_id} <= set(ids)
    stages = collector.named("invoke_agent")
    assert {attributes(span)["gen_ai.agent.name"] for span in stages} >= {"intake", "spec", "red", "green", "deliver"}
    assert all(root.start_time_unix_nano <= span.start_time_unix_nano for span in stages)
    chats = collector.named("chat ")
    assert len(chats) == len(world.events("ModelReplied")) == 5
    said = attributes(chats[0])
    assert said["gen_ai.operation.name"] == "chat" and said["gen_ai.provider.name"] == "scripted"
    assert said["gen_ai.usage.input_tokens"] > 0 and chats[0].kind == 3
    tools = collector.named("execute_tool ")
    assert len(tools) == len(world.events("ToolFinished"))
    assert {attributes(span)["gen_ai.tool.name"] for span in tools} >= {"edit", "write_file", "submit_artifact"}
    assert len(collector.named("step ")) == 5
    everything = "".join(str(span) for span in collector.spans)
    assert "hyphens" not in everything and "gen_ai.output.messages" not in everything
    names = {metric.name for metric in collector.metrics}
    assert names == {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"}
    counted = [
        point for metric in collector.metrics if "token" in metric.name for point in metric.histogram.data_points
    ]
    assert sum(point.count for point in counted) == 10
    assert collector.resources[0]["service.name"] == "agentforge"


def test_contents_are_in_spans_when_they_are_asked_for(world: World, collector: Collector) -> None:
    own_settings(world.home, f'[telemetry]\nendpoint = "{collector.url}"\ncontents = true\n')
    assert world.start().code == 0
    (edit,) = collector.named("execute_tool edit")
    assert "hyphens" in attributes(edit)["gen_ai.tool.call.arguments"]
    said = json.loads(attributes(collector.named("chat ")[0])["gen_ai.output.messages"])
    assert said[0]["role"] == "assistant" and said[0]["parts"][0]["type"] == "tool_call"


def test_a_collector_that_is_away_costs_no_verdict_and_no_word(world: World) -> None:
    done = world.start(env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
    assert (done.code, done.json["outcome"], done.err) == (0, "delivered", "")


def test_log_lines_are_json_and_hold_nothing_that_was_said(world: World) -> None:
    done = world.start(None, "--log-format", "json")
    assert done.code == 0, done.out + done.err
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert len(lines) == len(world.events()) - 1, "all but the first record, which is there before anybody listens"
    assert {line["trace_id"] for line in lines} == {trace_id_of(world.task)}
    assert lines[-1]["event"] == "RunFinished" and lines[-1]["agentforge.outcome"] == "delivered"
    assert "hyphens" not in done.err and "slugify(" not in done.err
