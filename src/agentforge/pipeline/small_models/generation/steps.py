"""One step of a small model: what it sees, what is wished of its answer, and the calls that its words mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentforge.agent import AgentSpec
from agentforge.context.minimal import StepContext
from agentforge.events.fold.workspace_view import ALONE, WRITE_DEFINITION
from agentforge.events.state.run_state import RunState
from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolCall
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import items
from agentforge.pipeline.small_models.generation import drafts
from agentforge.pipeline.small_models.generation.callees import is_waiting, text_beneath
from agentforge.pipeline.small_models.generation.prompt_variants import PREFILL, STOP, CodeShown, asked
from agentforge.pipeline.small_models.generation.supplied_tests import tests_shown
from agentforge.pipeline.small_models.generation.trials import write_definition
from agentforge.pipeline.small_models.generation.units import Unit, units_of
from agentforge.pipeline.small_models.reading.choices import (
    choice_messages,
    choice_schema,
    chosen_in,
    examples_in,
    examples_messages,
    examples_schema,
)
from agentforge.tokens import count_tokens
from agentforge.workspace.code.symbols import read_source

_TEMPERATURE, _WARMER, _WARMEST = 0.6, 0.1, 1.0
"""Each round is a little warmer: a model that says the same five times would say it again."""
_FEWEST_TOKENS, _MOST_TOKENS = 280, 1000


def small_spec(spec: AgentSpec, state: RunState, runtime: Runtime) -> AgentSpec:
    """The loop's values with context, wishes and reading of the current stage; the tools are enforced as ever."""
    if state.progress.stage == "analyze":
        return replace(
            spec, context=_place_context, shape=_place_wishes, read=_reading(lambda text: _place(text, state))
        )
    if state.progress.stage == "spec":
        return replace(
            spec, context=_examples_context, shape=_examples_wishes, read=_reading(lambda text: _examples(text, state))
        )
    if state.progress.stage != "green":
        return spec
    unit = unit_to_write(state)
    tool = write_definition(state, runtime)
    return replace(
        spec,
        tools={WRITE_DEFINITION: tool, **spec.tools},
        context=lambda now: _context(asked(sight_of(now, runtime, unit), form=_round(now)), now),
        shape=lambda now, request: _definition_wishes(now, request, runtime, unit),
        read=lambda reply: _definition_calls(reply, unit, last=_is_last(state, unit)),
    )


def unit_to_write(state: RunState) -> Unit:
    """The first unit that this attempt has not written yet; where that fails, the next one: it may be what the first needs."""
    units = units_of(state)
    left = [unit for unit in units if unit.name not in state.progress.turn.written] or list(units[-1:])
    return left[_failures_in_a_row(state) % len(left)]


def _failures_in_a_row(state: RunState) -> int:
    count = 0
    for step in reversed(state.progress.turn.recent):
        results = [result for result in step.results if result.name == WRITE_DEFINITION]
        if not results or results[-1].status == "success" or results[-1].error_type == ALONE:
            break
        count += 1
    return count


def sight_of(state: RunState, runtime: Runtime, unit: Unit) -> CodeShown:
    """What is shown of a unit: its file without an earlier sample of it, and the tests that speak of it."""
    waiting = is_waiting(state, unit)
    return CodeShown(
        request=state.brief.request,
        unit=unit,
        source=(text_beneath(state, runtime, unit) if waiting else read_source(runtime.worktree, unit.file)) or "",
        tests=tests_shown(state, runtime, unit),
        wrong=_mistakes(state),
    )


def _mistakes(state: RunState) -> tuple[str, ...]:
    """What the last round's samples got wrong, in their own words."""
    results = [
        result for step in state.progress.turn.recent for result in step.results if result.name == WRITE_DEFINITION
    ]
    lines = results[-1].text.splitlines() if results else []
    return tuple(line.removeprefix("wrong: ")[:160] for line in lines if line.startswith("wrong: "))


def _round(state: RunState) -> int:
    """Which form is next: every round asks in other words. A question that nobody answered is the same when it is asked again."""
    known = state.progress.stages.get(state.progress.stage)
    return (len(state.progress.turn.loop) + 1) // 2 + (known.attempt - 1 if known else 0)


def _is_last(state: RunState, unit: Unit) -> bool:
    return all(one.name in state.progress.turn.written or one.name == unit.name for one in units_of(state))


def _definition_wishes(state: RunState, request: ModelRequest, runtime: Runtime, unit: Unit) -> ModelRequest:
    text = read_source(runtime.worktree, unit.file) or ""
    lines = text.splitlines()[max(unit.line - 1, 0) :] if unit.line else []
    size = count_tokens("\n".join(lines[:60])) if unit.change == "changed" else 0
    most = max(_FEWEST_TOKENS, min(_MOST_TOKENS, size + 200)) * (2 if unit.kind == "class" else 1)
    return replace(
        request,
        tools=(),
        samples=runtime.samples,
        prefill=PREFILL,
        stop=STOP,
        temperature=round(min(_WARMEST, _TEMPERATURE + _WARMER * _round(state)), 1),
        max_output_tokens=most,
    )


def _definition_calls(reply: ModelReply, unit: Unit, *, last: bool) -> ModelReply:
    """The samples as one call that tries them; behind the last unit the implementation is handed in."""
    if reply.tool_calls:
        return reply
    samples = [text for text in reply.samples if text.strip()]
    if not samples:
        return reply
    calls = [_call(WRITE_DEFINITION, {"unit": unit.name, "samples": samples})]
    if last:
        summary = {
            "path": unit.file,
            "changes_summary": f"{unit.name} is {'written' if unit.change == 'new' else 'rewritten'}",
        }
        calls.append(_call("submit_artifact", {"artifact": {"files_modified": [summary]}}))
    return replace(reply, tool_calls=tuple(calls), finish="tool_calls")


def _place_context(state: RunState) -> StepContext:
    return _context(choice_messages(state.brief.request, _options(state)), state)


def _place_wishes(state: RunState, request: ModelRequest) -> ModelRequest:
    schema = choice_schema([str(row.get("place")) for row in _options(state)])
    return replace(request, tools=(), json_schema=schema, temperature=0.0, max_output_tokens=120)


def _place(text: str, state: RunState) -> dict[str, object] | None:
    """The analysis with the chosen place; None where the answer is none of the options."""
    chosen = chosen_in(text, [str(row.get("place")) for row in _options(state)])
    return drafts.analysis_draft(state, chosen) if chosen else None


def _options(state: RunState) -> list[Mapping[str, object]]:
    return items(state.work.facts.get("places", {}).get("options"))


def _examples_context(state: RunState) -> StepContext:
    listed = "\n".join(f"- {unit.name} in {unit.file}: {unit.signature or 'new'}" for unit in units_of(state))
    return _context(examples_messages(state.brief.request, listed), state)


def _examples_wishes(_state: RunState, request: ModelRequest) -> ModelRequest:
    return replace(request, tools=(), json_schema=examples_schema(), temperature=0.2, max_output_tokens=500)


def _examples(text: str, state: RunState) -> dict[str, object]:
    """A specification whose examples a person is asked about."""
    names = {unit.name.split(".")[0] for unit in units_of(state)} | {unit.last for unit in units_of(state)}
    fitting = [claim.text for claim in examples_in(text) if any(name in claim.call for name in names)]
    return drafts.spec_draft(state, tuple(fitting))


def _reading(draft_of: Callable[[str], dict[str, object] | None]) -> Callable[[ModelReply], ModelReply]:
    """Read a reply that is no call as the artifact that it means."""

    def read(reply: ModelReply) -> ModelReply:
        if reply.tool_calls:
            return reply
        draft = next((found for text in reply.samples if (found := draft_of(text)) is not None), None)
        if draft is None:
            return reply
        return replace(reply, tool_calls=(_call("submit_artifact", {"artifact": draft}),), finish="tool_calls")

    return read


def _call(name: str, arguments: dict[str, object]) -> ToolCall:
    return ToolCall(call_id=name, name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _context(messages: tuple[Message, ...], state: RunState) -> StepContext:
    """The messages with what they cost; answers of a human come last."""
    if state.people.answers:
        answers = "\n".join(f"- {answer}" for answer in state.people.answers)[-800:]
        last = messages[-1]
        messages = (*messages[:-1], replace(last, parts=(*last.parts, Text(text=f"\n\nA person said:\n{answers}"))))
    system = sum(count_tokens(message.text) for message in messages if message.role == "system")
    rest = sum(count_tokens(message.text) for message in messages if message.role != "system")
    return StepContext(messages=messages, tools=(), sections={"system_prompt": system, "current_state": rest})
