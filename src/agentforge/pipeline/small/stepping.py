"""One step of a small model: what it sees, what is wished of its answer, and the calls that its words mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentforge.context.minimal import StepContext
from agentforge.events.state import RunState
from agentforge.events.written import WRITE_DEFINITION
from agentforge.messages import Message, ModelReply, ModelRequest, Text, ToolCall
from agentforge.pipeline.runtime import Runtime
from agentforge.pipeline.small import drafts
from agentforge.pipeline.small.forms import PREFILL, STOP, Sight, asked, prompt
from agentforge.pipeline.small.units import Unit, units_of
from agentforge.pipeline.stage import items
from agentforge.tokens import count_tokens

if TYPE_CHECKING:
    from agentforge.agent.perform import AgentSpec

_TEMPERATURE = 0.6
_FEWEST_TOKENS, _MOST_TOKENS = 280, 1000
_CANDIDATES = 5


def small_spec(spec: AgentSpec, state: RunState, runtime: Runtime) -> AgentSpec:
    """The loop's values with context, wishes and reading of the current stage; the tools are enforced as ever."""
    if state.stage == "analyze":
        return replace(
            spec, context=_place_context, shape=_place_wishes, read=_reading(lambda text: _place(text, state))
        )
    if state.stage == "spec":
        return replace(
            spec, context=_examples_context, shape=_examples_wishes, read=_reading(lambda text: _examples(text, state))
        )
    if state.stage != "green":
        return spec
    from agentforge.pipeline.small.trying import write_definition

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
    """The first unit that this attempt has not written yet."""
    units = units_of(state)
    return next((unit for unit in units if unit.name not in state.turn.written), units[-1])


def sight_of(state: RunState, runtime: Runtime, unit: Unit) -> Sight:
    """What is shown of a unit: its file as it is now, and the tests that speak of it."""
    from agentforge.pipeline.small.tests_of import tests_shown
    from agentforge.workspace.symbols import read_source

    return Sight(
        request=state.request,
        unit=unit,
        source=read_source(runtime.worktree, unit.file) or "",
        tests=tests_shown(state, runtime, unit),
        wrong=_mistakes(state),
    )


def _mistakes(state: RunState) -> tuple[str, ...]:
    """What the last round's samples got wrong, in their own words."""
    results = [result for step in state.turn.recent for result in step.results if result.name == WRITE_DEFINITION]
    lines = results[-1].text.splitlines() if results else []
    return tuple(line.removeprefix("wrong: ")[:160] for line in lines if line.startswith("wrong: "))


def _round(state: RunState) -> int:
    """Which form is next: every round asks in other words."""
    known = state.stages.get(state.stage)
    return known.steps if known else 0


def _is_last(state: RunState, unit: Unit) -> bool:
    return all(one.name in state.turn.written or one.name == unit.name for one in units_of(state))


def _definition_wishes(state: RunState, request: ModelRequest, runtime: Runtime, unit: Unit) -> ModelRequest:
    from agentforge.workspace.symbols import read_source

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
        temperature=_TEMPERATURE,
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
    rows = items(state.facts.get("places", {}).get("options"))
    listed = "\n".join(f"- {row.get('place')}  {row.get('shown')}" for row in rows)
    user = f"Request: {' '.join(state.request.split())[:1200]}\n\nPlaces:\n{listed}"
    return _context((_said("system", prompt("small_place")), _said("user", user)), state)


def _place_wishes(state: RunState, request: ModelRequest) -> ModelRequest:
    places = [str(row.get("place")) for row in items(state.facts.get("places", {}).get("options"))]
    schema = {
        "type": "object",
        "properties": {"place": {"enum": places}},
        "required": ["place"],
        "additionalProperties": False,
    }
    return replace(request, tools=(), json_schema=schema, temperature=0.0, max_output_tokens=120)


def _place(text: str, state: RunState) -> dict[str, object] | None:
    """The analysis with the chosen place; None where the answer is none of the options."""
    options = [str(row.get("place")) for row in items(state.facts.get("places", {}).get("options"))]
    value = _object_in(text)
    chosen = str(value.get("place", "")) if value else text.strip().strip("`\"'")
    return drafts.analysis_draft(state, chosen) if chosen in options else None


def _examples_context(state: RunState) -> StepContext:
    units = units_of(state)
    listed = "\n".join(f"- {unit.name} in {unit.file}: {unit.signature or 'new'}" for unit in units)
    user = f"Request: {' '.join(state.request.split())[:1200]}\n\nFunctions:\n{listed}\n\nGive {_CANDIDATES} examples."
    return _context((_said("system", prompt("small_examples")), _said("user", user)), state)


def _examples_wishes(_state: RunState, request: ModelRequest) -> ModelRequest:
    text = {"type": "string", "minLength": 1, "maxLength": 160}
    row = {
        "type": "object",
        "properties": {"call": text, "returns": text},
        "required": ["call", "returns"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"examples": {"type": "array", "items": row, "minItems": 1, "maxItems": _CANDIDATES}},
        "required": ["examples"],
        "additionalProperties": False,
    }
    return replace(request, tools=(), json_schema=schema, temperature=0.2, max_output_tokens=500)


def _examples(text: str, state: RunState) -> dict[str, object]:
    """A specification whose examples a person is asked about; what is no example is left out."""
    from agentforge.runners.claims import claim_of, distinct

    claims = []
    for row in items((_object_in(text) or {}).get("examples")):
        try:
            claims.append(claim_of(row))
        except ValueError:
            continue  # a person is shown examples alone
    names = {unit.name.split(".")[0] for unit in units_of(state)} | {unit.last for unit in units_of(state)}
    fitting = [claim for claim in distinct(claims) if any(name in claim.call for name in names)]
    return drafts.spec_draft(state, tuple(claim.text for claim in fitting))


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


def _object_in(text: str) -> dict[str, object] | None:
    """The JSON object of an answer, fenced or not."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if start >= 0 else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _call(name: str, arguments: dict[str, object]) -> ToolCall:
    return ToolCall(call_id=name, name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _context(messages: tuple[Message, ...], state: RunState) -> StepContext:
    """The messages with what they cost; answers of a human come last."""
    if state.answers:
        answers = "\n".join(f"- {answer}" for answer in state.answers)[-800:]
        last = messages[-1]
        messages = (*messages[:-1], replace(last, parts=(*last.parts, Text(text=f"\n\nA person said:\n{answers}"))))
    system = sum(count_tokens(message.text) for message in messages if message.role == "system")
    rest = sum(count_tokens(message.text) for message in messages if message.role != "system")
    return StepContext(messages=messages, tools=(), sections={"system_prompt": system, "current_state": rest})


def _said(role: str, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text, stable=role == "system"),))  # type: ignore[arg-type] # one of the roles
