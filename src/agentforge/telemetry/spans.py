"""From the events of a run to finished spans: ids follow from the task, so that a resume continues the same trace. Pure.

Names and attributes are those of the OpenTelemetry conventions for generative AI, 1.41 (status: development).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Literal, cast

from agentforge.canonical import digest_bytes
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.frozen import dataclass

Value = str | int | float | bool | tuple[str, ...]
SpanKind = Literal["internal", "client"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished span.

    Attributes:
        trace_id, span_id, parent_id: hexadecimal; parent_id "" for the root.
        start_ns, end_ns: nanoseconds since the epoch.
        error: what went wrong; "" = nothing.
    """

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int
    kind: SpanKind = "internal"
    attributes: Mapping[str, Value]
    error: str = ""


def trace_id_of(task_id: str) -> str:
    """The trace of a task: 32 hexadecimal digits, the same on every machine."""
    return digest_bytes(f"trace:{task_id}".encode())[:32]


class SpanBuilder:
    """Takes the events of one run in order and gives back every span as it ends.

    Args:
        contents: spans hold what was said: arguments and results of tools, replies of models.
    """

    def __init__(self, *, contents: bool = False) -> None:
        self._contents = contents
        self._task = ""
        self._started = 0
        self._model = ""
        self._stage: tuple[str, int, int] | None = None
        self._called: tuple[kinds.ModelCalled, int] | None = None
        self._tools: dict[int, tuple[kinds.ToolStarted, int]] = {}

    def take(self, event: Event, at: str) -> Iterator[Span]:
        """Take one event.

        Args:
            at: time stamp of its record, ISO 8601 in UTC.
        """
        now = _ns(at)
        if isinstance(event, kinds.RunStarted):
            self._task, self._started, self._model = event.run_id, now, event.model
        elif isinstance(event, kinds.RunForked):
            self._task = event.run_id
        elif isinstance(event, kinds.StageStarted):
            yield from self._end_stage(now, error="failed verification" if self._stage else "")
            self._stage = (event.stage, event.attempt, now)
        elif isinstance(event, (kinds.StagePassed, kinds.Examined)):
            yield from self._end_stage(now)
        elif isinstance(event, kinds.FactsGathered):
            yield self._measured(event, now)
        elif isinstance(event, kinds.RunFinished):
            yield from self._end_stage(now, error=event.outcome if event.error else "")
            yield self._root(event, now)
        else:
            yield from self._inside_step(event, now)

    def _inside_step(self, event: Event, now: int) -> Iterator[Span]:
        if isinstance(event, kinds.ModelCalled):
            self._called = (event, now)
            self._tools = {}
        elif isinstance(event, kinds.ModelReplied):
            yield self._chat(event, now)
        elif isinstance(event, kinds.ModelFailed):
            yield self._chat_failed(event, now)
        elif isinstance(event, kinds.ToolStarted):
            self._tools[event.index] = (event, now)
        elif isinstance(event, kinds.ToolFinished):
            yield self._tool(event, now)
        elif isinstance(event, kinds.StepFinished):
            yield self._step(event, now)

    def _span(
        self,
        what: str,
        name: str,
        *,
        parent: str,
        times: tuple[int, int],
        attributes: Mapping[str, Value],
        error: str = "",
        kind: SpanKind = "internal",
    ) -> Span:
        begin, end = times
        return Span(
            name=name,
            trace_id=trace_id_of(self._task),
            span_id=self._id(what),
            parent_id=self._id(parent) if parent else "",
            start_ns=begin,
            end_ns=max(begin, end),
            kind=kind,
            attributes={"gen_ai.conversation.id": self._task, **attributes},
            error=error,
        )

    def _id(self, what: str) -> str:
        return digest_bytes(f"span:{self._task}:{what}".encode())[:16]

    def _stage_key(self) -> str:
        return f"stage:{self._stage[0]}:{self._stage[1]}" if self._stage else "task"

    def _root(self, event: kinds.RunFinished, now: int) -> Span:
        error = str(event.error.get("slug", "")) if event.error else ""
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "agentforge",
            "agentforge.outcome": event.outcome,
            **({"error.type": error} if error else {}),
        }
        times = (self._started, now)
        return self._span(
            "task", "invoke_workflow agentforge", parent="", times=times, error=error, attributes=attributes
        )

    def _end_stage(self, now: int, *, error: str = "") -> Iterator[Span]:
        if self._stage is None:
            return
        name, attempt, begin = self._stage
        yield self._span(
            self._stage_key(),
            f"invoke_agent {name}",
            parent="task",
            times=(begin, now),
            error=error,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": name,
                "agentforge.stage.attempt": attempt,
            },
        )
        self._stage = None

    def _measured(self, event: kinds.FactsGathered, now: int) -> Span:
        return self._span(
            f"facts:{event.name}:{event.attempt}:{now}",
            f"measure {event.name}",
            parent=self._stage_key(),
            times=(now - event.duration_ms * 1_000_000, now),
            attributes={"agentforge.facts": event.name},
        )

    def _chat(self, event: kinds.ModelReplied, now: int) -> Span:
        more: dict[str, Value] = {
            "gen_ai.response.model": event.model.rpartition("/")[2],
            "gen_ai.response.finish_reasons": (event.finish,),
        }
        for key, name in _USAGE.items():
            if isinstance(event.usage.get(key), int):
                more[f"gen_ai.usage.{name}"] = cast("int", event.usage[key])
        if event.cost_usd is not None:
            more["agentforge.cost_usd"] = event.cost_usd
        if self._contents:
            more["gen_ai.output.messages"] = _said(event)
        return self._model_span(event.step, now, more)

    def _chat_failed(self, event: kinds.ModelFailed, now: int) -> Span:
        message = event.message if self._contents else event.slug
        return self._model_span(event.step, now, {"error.type": event.slug}, error=message)

    def _model_span(self, step: int, now: int, more: Mapping[str, Value], *, error: str = "") -> Span:
        called, begin = self._called or (None, now)
        provider, _, name = (called.model if called else self._model).partition("/")
        return self._span(
            f"chat:{step}",
            f"chat {name or provider}",
            parent=f"step:{step}",
            times=(begin, now),
            error=error,
            kind="client",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": provider if name else "custom",
                "gen_ai.request.model": name or provider,
                **more,
            },
        )

    def _tool(self, event: kinds.ToolFinished, now: int) -> Span:
        started, begin = self._tools.pop(event.index, (None, now - event.duration_ms * 1_000_000))
        error = "" if event.status == "success" else event.error_type or event.status
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.name,
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.type": "function",
            **({"error.type": error} if error else {}),
        }
        if self._contents:
            given = dict(started.arguments) if started else {}
            attributes["gen_ai.tool.call.arguments"] = json.dumps(given, ensure_ascii=False, default=str)
            attributes["gen_ai.tool.call.result"] = event.text
        return self._span(
            f"tool:{event.step}:{event.index}",
            f"execute_tool {event.name}",
            parent=f"step:{event.step}",
            times=(begin, now),
            error=error,
            attributes=attributes,
        )

    def _step(self, event: kinds.StepFinished, now: int) -> Span:
        _, begin = self._called or (None, now)
        return self._span(
            f"step:{event.step}",
            f"step {event.stage}",
            parent=self._stage_key(),
            times=(begin, now),
            attributes={"agentforge.step": event.step, "agentforge.stage": event.stage},
        )


_USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read.input_tokens",
    "cache_write_tokens": "cache_creation.input_tokens",
}


def _said(event: kinds.ModelReplied) -> str:
    """The reply in the form of the conventions."""
    parts: list[object] = [{"type": "text", "content": event.text}] if event.text else []
    parts += [_call_part(call) for call in event.tool_calls]
    said = [{"role": "assistant", "parts": parts, "finish_reason": event.finish}]
    return json.dumps(said, ensure_ascii=False, default=str)


def _call_part(call: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "tool_call",
        "id": call.get("call_id"),
        "name": call.get("name"),
        "arguments": call.get("arguments"),
    }


def _ns(at: str) -> int:
    moment = datetime.fromisoformat(at)
    return int(moment.replace(microsecond=0).timestamp()) * 1_000_000_000 + moment.microsecond * 1_000
