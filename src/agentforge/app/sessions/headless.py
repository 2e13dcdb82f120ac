"""One prompt without a person: what came of it as a value, the events as lines, and the exit code by its cause.

An answer that programs read: JSON that is valid against a schema, asked for again where it is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge import toolbox
from agentforge.errors import EXIT_INTERRUPTED, UsageError
from agentforge.events import kinds
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.safety.policy.modes import Consent
from agentforge.safety.policy.permission import read_rule

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import Chat, TurnResult


EXIT_DENIED = 3
"""A call was not allowed: it needed a person, or a rule, the mode or a protected place forbids it."""

_EXIT = {"completed": 0, "limit": 6, "stuck": 6, "interrupted": EXIT_INTERRUPTED, "blocked": 4, "failed": 5}
_LIMITS = {
    "max_turns": "error_max_turns",
    "budget_usd": "error_max_budget_usd",
    "budget_tokens": "error_max_budget_tokens",
    "deadline": "error_deadline",
    "max_output_tokens": "error_max_output_tokens",
    "structured_output": "error_max_structured_output_retries",
}
_DENIED = "error_permission_denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a session stood before the prompt: the result tells what came after."""

    steps: int
    denials: int
    cost_usd: float
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int

    @classmethod
    def of(cls, state: RunState) -> Mark:
        """The sums of now."""
        totals = state.usage.totals
        return cls(
            steps=totals.llm_calls,
            denials=len(state.people.denials),
            cost_usd=totals.cost_usd,
            prompt_tokens=totals.prompt_tokens,
            completion_tokens=totals.completion_tokens,
            cached_tokens=totals.cached_tokens,
        )


def result_value(chat: Chat, result: TurnResult, *, since: Mark, duration_ms: int) -> dict[str, Any]:
    """What came of a prompt."""
    state = chat.state
    totals, denials = state.usage.totals, state.people.denials[since.denials :]
    word = subtype(result, denied=bool(denials))
    count = f"{len(denials)} {'call was' if len(denials) == 1 else 'calls were'} not allowed"
    told = f"{count}: {denials[0]['reason']}" if denials else ""
    value: dict[str, Any] = {
        "session_id": state.identity.run_id,
        "subtype": word,
        "is_error": word != "success",
        "exit_code": exit_code(result, denied=bool(denials)),
        "result": result.text,
        "outcome": result.outcome,
        "reason": told if word == _DENIED else result.reason,
        "num_turns": totals.llm_calls - since.steps,
        "duration_ms": duration_ms,
        "total_cost_usd": round(totals.cost_usd - since.cost_usd, 6) if totals.cost_known else None,
        "usage": {
            "input_tokens": totals.prompt_tokens - since.prompt_tokens,
            "output_tokens": totals.completion_tokens - since.completion_tokens,
            "cache_read_input_tokens": totals.cached_tokens - since.cached_tokens,
        },
        "permission_denials": [
            {"tool_name": one["tool"], "step": one["step"], "reason": one["reason"]} for one in denials
        ],
    }
    missing = chat.workshop.shed.missing()
    if missing:
        value["not_loaded"] = missing
    if chat.work.changed:
        value["files_changed"], value["checked"] = list(chat.work.changed), list(chat.work.checked)
    if chat.left_out:
        value["left_out"] = list(chat.left_out)
    if result.structured is not None:
        value["structured_output"] = result.structured
    if result.swarm:
        value["swarm"] = dict(result.swarm)
    if result.error is not None:
        error = result.error
        value["error"] = {"slug": error.slug, "message": error.message, "hint": error.hint}
    return value


def subtype(result: TurnResult, *, denied: bool) -> str:
    """The result in one word, as other harnesses call it; "success" where the exit code is 0, and nowhere else."""
    if result.outcome == "completed":
        return _DENIED if denied else "success"
    if result.outcome in ("interrupted", "blocked", "stuck"):
        return f"error_{result.outcome}"
    return _LIMITS.get(result.reason.partition(":")[0], "error_during_execution")


def exit_code(result: TurnResult, *, denied: bool) -> int:
    """By the cause; a call that was denied shows even when the model found an end without it."""
    if result.error is not None:
        return result.error.exit_code
    return EXIT_DENIED if result.outcome == "completed" and denied else _EXIT[result.outcome]


def partial_line(text: str) -> dict[str, Any]:
    """A piece of text of a stream, as it comes in."""
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return {"type": "stream_event", "event": event}


def opening_line(chat: Chat) -> dict[str, Any]:
    """The first line of a stream: who works where, with what."""
    return {
        "type": "system",
        "subtype": "init",
        "session_id": chat.session_id,
        "cwd": str(chat.workshop.root),
        "model": chat.workshop.model().name,
        "mode": chat.workshop.work_mode,
        "permission_mode": str(chat.workshop.policy().mode),
        "tools": list(chat.workshop.tools()),
        "left_out": list(chat.left_out),
    }


def event_lines(event: kinds.Event, state: RunState) -> Iterator[dict[str, Any]]:
    """The lines that tell an event: replies of the model, and what its calls gave."""
    if isinstance(event, kinds.ModelReplied):
        text = [{"type": "text", "text": event.text}] if event.text else []
        calls = [
            {"type": "tool_use", "id": call["call_id"], "name": call["name"], "input": _input(str(call["arguments"]))}
            for call in event.tool_calls
        ]
        yield _line("assistant", [*text, *calls], state, usage=event.usage, model=event.model)
    elif isinstance(event, kinds.ToolFinished):
        block = {
            "type": "tool_result",
            "tool_use_id": event.call_id,
            "content": event.text or event.summary,
            "is_error": event.status != "success",
        }
        yield _line("user", [block], state)
    elif isinstance(event, kinds.WindowFilling):
        filled = {"tokens": event.tokens, "total": event.total}
        yield _system("context_filling", state, **filled)
    elif isinstance(event, kinds.HistoryCompacted):
        shown = {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after, "by": event.by}
        yield _system("compact_boundary", state, **shown)
    elif isinstance(event, kinds.SessionChanged) and event.changes.get("skill_matches"):
        yield _system("skills_matched", state, skills=event.changes["skill_matches"])
    elif isinstance(event, kinds.ChildStarted):
        yield _system("subagent_started", state, subagent=event.name, child=event.child, goal=event.goal)
    elif isinstance(event, kinds.ChildFinished):
        spent = {"usage": dict(event.usage), "total_cost_usd": event.cost_usd, "duration_ms": event.duration_ms}
        yield _system(
            "subagent_finished", state, subagent=event.name, child=event.child, outcome=event.outcome, **spent
        )
    elif isinstance(event, kinds.BackgroundEnded):
        yield _system("background_ended", state, name=event.name, outcome=event.outcome)


def child_line(name: str, event: kinds.Event, state: RunState) -> dict[str, Any] | None:
    """The line that tells what a subagent has just done, and what it has cost so far; None for what is no call.

    Args:
        state: of the subagent.
    """
    if not isinstance(event, kinds.ToolFinished):
        return None
    totals = state.usage.totals
    usage = {"input_tokens": totals.prompt_tokens, "output_tokens": totals.completion_tokens}
    told = {"subagent": name, "child": state.identity.run_id, "tool_name": event.name, "summary": event.summary}
    return {
        "type": "system",
        "subtype": "subagent_progress",
        **told,
        "is_error": event.status != "success",
        "usage": usage,
    }


def _system(subtype: str, state: RunState, **more: object) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, "session_id": state.identity.run_id, **more}


def _line(kind: str, content: list[dict[str, Any]], state: RunState, **more: object) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more}
    return {"type": kind, "session_id": state.identity.run_id, "turn": state.talk.turn, "message": message}


def _input(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return {"raw": arguments}


def allowed_names(texts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read `--allowed-tools`: names restrict what is offered, `name(pattern)` also allows what matches without a question.

    Returns:
        Names, and rules as they are written in settings.
    Raises:
        UsageError: no tool is called so.
        ConfigError: a rule that cannot be read.
    """
    names, rules = [], []
    for text in texts:
        name, bracket, _ = text.partition("(")
        if bracket:
            read_rule(text, Consent.ALLOW, origin="--allowed-tools")
            rules.append(text)
        if name not in toolbox.names() and "__" not in name and not name.startswith("subagent_"):
            near = get_close_matches(name, toolbox.names(), n=1)
            raise UsageError(
                f"--allowed-tools {text}: there is no tool {name!r}", hint=f"did you mean {near[0]}?" if near else ""
            )
        names.append(name)
    return tuple(dict.fromkeys(names)), tuple(rules)


_TRIES = 3
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.DOTALL)
_MOST_ERRORS = 5


def schema_of(given: str) -> Mapping[str, object]:
    """Read a JSON schema: a JSON text, or the name of a file that holds one.

    Raises:
        UsageError: it is neither.
    """
    from jsonschema_rs import Draft202012Validator

    text = given
    try:
        if not given.lstrip().startswith("{"):
            text = Path(given).read_text("utf-8")
        value = json.loads(text)
        Draft202012Validator(value)
    except (OSError, ValueError) as exc:  # ValidationError of jsonschema_rs is a ValueError, too
        raise UsageError(f"--json-schema: {exc}", hint="pass a JSON schema, or a file that holds one") from exc
    if not isinstance(value, dict):
        raise UsageError("--json-schema: a schema is an object", hint='such as {"type": "object"}')
    return value


def words_about(schema: Mapping[str, object]) -> str:
    """What the instructions say of the answer's form."""
    told = json.dumps(schema, ensure_ascii=False)
    return f"Your last message, the answer without a tool call, is nothing but JSON that is valid against this schema:\n{told}"


def answered(schema: Mapping[str, object], first: TurnResult, again: Callable[[str], TurnResult]) -> TurnResult:
    """Read an answer by a schema; one that is not valid is asked for again, with what is wrong with it.

    Args:
        again: says something more to the model.
    Returns:
        The turn with `structured`, or with the outcome "failed" when no answer was valid.
    """
    result = first
    for number in range(_TRIES):
        if result.outcome != "completed":
            return result
        value, wrong = _read(result.text, schema)
        if not wrong:
            return replace(result, structured=value)
        if number + 1 < _TRIES:
            result = again(
                f"Your answer is not valid JSON of the wanted form: {wrong}. Answer again, with the JSON alone."
            )
    reason = f"structured_output: after {_TRIES} tries the answer is not valid: {wrong}"
    return replace(result, outcome="failed", reason=reason)


def _read(text: str, schema: Mapping[str, object]) -> tuple[object, str]:
    """The value of an answer, and what is wrong with it; "" = nothing."""
    from jsonschema_rs import Draft202012Validator

    fenced = _FENCED.search(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError as exc:
        return None, f"it cannot be read: {exc}"
    errors = [
        f"{'/'.join(map(str, error.instance_path)) or 'the whole'}: {error.message}"
        for error in Draft202012Validator(dict(schema)).iter_errors(value)
    ]
    return value, "; ".join(errors[:_MOST_ERRORS])
