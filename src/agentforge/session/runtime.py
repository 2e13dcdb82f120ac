"""What a conversation stands on: plain objects, wired by app and handed down. No decisions here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from agentforge.agent import AgentSpec, BlobStore, Workspace
from agentforge.context.conversation import Budget
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.frozen import dataclass
from agentforge.hooks import HookEngine
from agentforge.messages import ModelReply
from agentforge.models import Model
from agentforge.session.decide import TurnRules
from agentforge.tools.base import Tool, ToolContext
from agentforge.tools.dispatch.invocation import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRuntime:
    """The parts of one conversation. Callables are asked anew for each effect: a person may change them in between.

    Attributes:
        root: the folder that the agent works in.
        model: who answers now.
        tools: what may be called now, by name: those of the mode.
        tool_context: the reach of the tools.
        system: the instructions; byte-stable while nothing is switched.
        situation: what goes behind the history: todos, mode, pinned facts.
        approve: judges every call; asks the person where the mode says so.
        confirm: asks the person about a call that a hook wants decided; None = nobody is there.
        guard: remembers the workspace before a command; None where there is no way to.
        snapshot: tree and patch after a step; None = nothing changed, or there is no way to tell.
        before_call: events before call `index` of the reply, such as the checkpoint before a turn's first mutation.
        together: carries out several subagent calls at the same time; events in the order of the reply.
        result_tokens: what the next result of a tool may cost now: (state, calls without a result) -> tokens.
        compact: summarises the oldest entries: (state, reason) -> the event.
        answered: what the person answered since this was asked last, as events.
        ended: the background commands that ended since this was asked last, as events.
        arrived: what the person said and switched while the turn went on, since this was asked last, as events.
        redacts: take out of observations what looks like a secret; False: the values that are known alone.
        cleans: take terminal escapes out of observations.
    """

    root: Path
    model: Callable[[], Model]
    tools: Callable[[], Mapping[str, Tool]]
    tool_context: Callable[[RunState], ToolContext]
    system: Callable[[], str]
    situation: Callable[[RunState], str]
    approve: Judge
    blobs: BlobStore
    price: Callable[[ModelReply], float | None]
    secrets: tuple[str, ...]
    nonce: str
    redacts: bool = True
    cleans: bool = True
    rules: Callable[[], TurnRules]
    budget: Callable[[], Budget]
    max_output_tokens: int
    result_tokens: Callable[[RunState, int], int]
    temperature: float | None = None
    confirm: Callable[[str], bool] | None = None
    hooks: HookEngine | None = None
    guard: Workspace | None = None
    snapshot: Callable[[RunState], tuple[str, bytes] | None] = lambda _state: None
    on_delta: Callable[[str], None] | None = None
    on_thought: Callable[[str], None] | None = None
    before_call: Callable[[RunState, int], Iterable[Event]] = lambda _state, _index: ()
    together: Callable[[tuple[int, ...], RunState, AgentSpec], Iterable[Event]]
    compact: Callable[[RunState, str], Event]
    answered: Callable[[], Iterable[Event]] = tuple
    ended: Callable[[], Iterable[Event]] = tuple
    arrived: Callable[[], Iterable[Event]] = tuple
