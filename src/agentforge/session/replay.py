"""A session once more along its record: what is decided and what is sent is computed anew by the code that drove it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from agentforge.agent import CallModel, FinishStep, RunTool
from agentforge.context.conversation import Budget, build_request, situation_in
from agentforge.events import kinds
from agentforge.events.fold.evolve import evolve
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.messages import ModelRequest, ToolSchema, request_value
from agentforge.safety.text.hygiene import clean
from agentforge.session.decide import Compact, EndTurn, TurnRules, decide

At = tuple[int, str, kinds.Event]
"""A record: its number, its time, its event."""

_UNBOUNDED = 1 << 30
_FROM_OUTSIDE = ("interrupted", "failed", "blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where the session of today leaves the record.

    Attributes:
        field: "decision", or the part of the request.
    """

    seq: int
    step: int
    event: str
    field: str
    recorded: str
    now: str


def replay_turns(
    records: Sequence[At], *, request_of: Callable[[str], bytes], loop_limit: int
) -> tuple[int, Difference | None]:
    """Go through a session again.

    Args:
        request_of: the recorded request by its digest.
        loop_limit: repetitions after which a turn ends (TurnRules.stop_loops).
    Returns:
        The number of requests that were compared, and the first difference.
    """
    state, requests = RunState(), 0
    for seq, at, event in records:
        found = _decided(state, event, loop_limit)
        if found is None and isinstance(event, kinds.ModelCalled):
            requests += 1
            found = _sent(state, event, json.loads(request_of(event.request)))
        if found is not None:
            field, recorded, now = found
            name, step = type(event).__name__, state.progress.turn.step
            return requests, Difference(seq=seq, step=step, event=name, field=field, recorded=recorded, now=now)
        state = evolve(state, event, at=at)
    return requests, None


def _decided(state: RunState, event: kinds.Event, loop_limit: int) -> tuple[str, str, str] | None:
    """Compare what would be done with what was done; what came from outside is not decided here."""
    budget, fixed = Budget(total=_UNBOUNDED, window=_UNBOUNDED), 0
    if isinstance(event, kinds.HistoryCompacted):
        if event.reason != "budget":
            return None
        budget, fixed = Budget(total=event.budget, window=event.window), event.fixed
    rules = TurnRules(max_turns=_UNBOUNDED, budget=budget, fixed=fixed, stop_loops=loop_limit)
    wanted = _wanted(state, event)
    if wanted is None:
        return None
    effect = decide(state, rules)
    now = _word(effect)
    return None if now == wanted else ("decision", wanted, now)


def _wanted(state: RunState, event: kinds.Event) -> str | None:
    """The decision that an event belongs to; None when it follows from none."""
    if isinstance(event, kinds.ModelCalled):
        return f"CallModel {event.step}"
    if isinstance(event, kinds.ToolStarted):
        return f"RunTool {event.index}"
    if isinstance(event, kinds.ToolFinished) and event.index == state.progress.turn.done:
        return f"RunTool {event.index}"
    if isinstance(event, kinds.StepFinished):
        return f"FinishStep {event.step}"
    if isinstance(event, kinds.HistoryCompacted):
        return "Compact"
    if isinstance(event, kinds.TurnFinished) and event.outcome not in _FROM_OUTSIDE:
        return None if event.reason.startswith("max_turns") else f"EndTurn {event.outcome}"
    return None


def _word(effect: object) -> str:
    if isinstance(effect, CallModel):
        return f"CallModel {effect.step}"
    if isinstance(effect, RunTool):
        return f"RunTool {effect.index}"
    if isinstance(effect, FinishStep):
        return f"FinishStep {effect.step}"
    if isinstance(effect, EndTurn):
        return f"EndTurn {effect.outcome}"
    return "Compact" if isinstance(effect, Compact) else f"{type(effect).__name__}"


def _sent(state: RunState, event: kinds.ModelCalled, recorded: dict[str, Any]) -> tuple[str, str, str] | None:
    """Build the request anew from the conversation; instructions, tools and the program's own note are the record's."""
    if not event.window:  # written before what the model takes was recorded
        return None
    messages = recorded["messages"]
    system = _text(messages[0])
    tools = tuple(ToolSchema(**tool) for tool in recorded["tools"])
    budget = Budget(total=event.budget, window=event.window)
    situation = situation_in(_text(messages[-1]), state.talk.said)
    built = build_request(state.talk, system=system, tools=tools, budget=budget, situation=situation)
    now = request_value(ModelRequest(messages=built.messages, tools=built.tools))["messages"]
    assert isinstance(now, list)
    for number, (old, new) in enumerate(zip(messages, now, strict=False)):
        if _plain(old) != _plain(new):
            return f"request.messages[{number}]", str(_plain(old)), str(_plain(new))
    return (
        None if len(messages) == len(now) else ("request.messages", f"{len(messages)} messages", f"{len(now)} messages")
    )


def _text(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"])


def _plain(message: dict[str, Any]) -> tuple[object, ...]:
    """A message without what sending adds."""
    return message["role"], clean(_text(message)), message.get("tool_call_id"), message.get("tool_calls")
