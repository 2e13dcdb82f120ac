"""Spans follow from events alone: the same log gives the same spans, in one process or in several."""

from __future__ import annotations

import io
import json

from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.telemetry.export import LogLines
from agentforge.telemetry.spans import Span, SpanBuilder, trace_id_of

_SECRET = "what the model said"
_LOG: list[Event] = [
    kinds.RunStarted(kind="task", run_id="t-1", request=_SECRET, repo="/r", base_commit="0" * 40, model="openai/gpt-x"),
    kinds.StageStarted(stage="intake", attempt=1),
    kinds.ModelCalled(step=1, stage="intake", attempt=1, model="openai/gpt-x", request="d", context_tokens=9),
    kinds.ModelReplied(
        step=1,
        text=_SECRET,
        tool_calls=({"call_id": "c1", "name": "read_file", "arguments": "{}"},),
        finish="tool_calls",
        usage={"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "cache_write_tokens": 1},
        model="openai/gpt-x-2026",
    ),
    kinds.ToolStarted(step=1, index=0, call_id="c1", name="read_file", arguments={"path": _SECRET}, effect="read"),
    kinds.ToolFinished(
        step=1, index=0, call_id="c1", name="read_file", status="error", summary=_SECRET, error_type="not_found"
    ),
    kinds.StepFinished(step=1, stage="intake", summary="s"),
    kinds.StageStarted(stage="intake", attempt=2),
    kinds.ModelCalled(step=2, stage="intake", attempt=2, model="openai/gpt-x", request="d", context_tokens=9),
    kinds.ModelFailed(step=2, slug="rate_limited", message=_SECRET),
    kinds.RunFinished(outcome="failed", error={"slug": "rate_limited", "message": _SECRET, "hint": ""}),
]


def _at(number: int) -> str:
    return f"2026-01-02T03:04:{number:02d}.500000Z"


def _spans(builder: SpanBuilder, first: int = 0, last: int = len(_LOG)) -> list[Span]:
    return [span for number in range(first, last) for span in builder.take(_LOG[number], _at(number))]


def test_spans_hang_together_and_hold_the_times_of_their_events() -> None:
    spans = _spans(SpanBuilder())
    by_name = {span.name: span for span in spans}
    assert [span.name for span in spans] == [
        "chat gpt-x", "execute_tool read_file", "step intake", "invoke_agent intake", "chat gpt-x", "invoke_agent intake",
        "invoke_workflow agentforge",
    ]  # fmt: skip
    root, step = by_name["invoke_workflow agentforge"], by_name["step intake"]
    assert {span.trace_id for span in spans} == {trace_id_of("t-1")} and len(trace_id_of("t-1")) == 32
    assert len({span.span_id for span in spans}) == 7
    assert spans[0].parent_id == spans[1].parent_id == step.span_id
    assert step.parent_id == spans[3].span_id and spans[3].parent_id == root.span_id and root.parent_id == ""
    assert (root.end_ns - root.start_ns, spans[0].end_ns - spans[0].start_ns) == (10 * 10**9, 10**9)
    assert root.start_ns == 1767323040 * 10**9 + 5 * 10**8


def test_usage_and_failures_have_the_names_of_the_conventions() -> None:
    chat, tool, _, first, failed, _, root = _spans(SpanBuilder())
    assert chat.attributes["gen_ai.provider.name"] == "openai" and chat.kind == "client"
    assert chat.attributes["gen_ai.request.model"] == "gpt-x"
    assert chat.attributes["gen_ai.response.model"] == "gpt-x-2026"
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    named = {name.removeprefix("gen_ai.usage."): value for name, value in chat.attributes.items() if "usage" in name}
    assert named == {
        "input_tokens": 10, "output_tokens": 2, "cache_read.input_tokens": 4, "cache_creation.input_tokens": 1,
    }  # fmt: skip
    assert (tool.error, tool.attributes["error.type"]) == ("not_found", "not_found")
    assert first.error == "failed verification"
    assert failed.attributes["error.type"] == "rate_limited" and root.attributes["agentforge.outcome"] == "failed"


def test_what_was_said_is_left_out_unless_asked_for() -> None:
    assert _SECRET not in str(_spans(SpanBuilder()))
    told = _spans(SpanBuilder(contents=True))
    assert json.loads(str(told[0].attributes["gen_ai.output.messages"]))[0]["parts"][0]["content"] == _SECRET
    assert _SECRET in str(told[1].attributes["gen_ai.tool.call.arguments"])


def test_a_process_that_goes_on_makes_the_spans_that_one_would_have_made() -> None:
    whole = _spans(SpanBuilder())
    for cut in range(1, len(_LOG)):
        second = SpanBuilder()
        before = _spans(second, 0, cut)
        assert before + _spans(second, cut) == whole
        assert _spans(SpanBuilder(), 0, cut) == before


def test_log_lines_leave_out_what_was_said_and_a_reader_that_left_stops_nothing() -> None:
    for contents in (False, True):
        stream, state = io.StringIO(), RunState()
        lines = LogLines(stream, contents=contents)
        for number, event in enumerate(_LOG):
            state = evolve(state, event, at=_at(number))
            lines(event, state)
        rows = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert len(rows) == len(_LOG) and {row["task_id"] for row in rows} == {"t-1"}
        assert (_SECRET in stream.getvalue()) is contents
        assert rows[3]["agentforge.usage"]["prompt_tokens"] == 10 and rows[9]["severity"] == "ERROR"

    class Left(io.StringIO):
        def write(self, text: str) -> int:
            del text
            raise BrokenPipeError

    lines = LogLines(Left(), contents=False)
    lines(_LOG[0], state)
    lines(_LOG[1], state)
