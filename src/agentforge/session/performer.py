"""Performing what a conversation decides. Each effect is one small generator: intent, act, result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from agentforge.agent import (
    WARN_AFTER,
    AgentSpec,
    CallModel,
    Effect,
    FinishStep,
    Log,
    RunTool,
    drive,
    perform_call_model,
    perform_finish_step,
    perform_tool,
    repetitions,
)
from agentforge.context.conversation import build_request, user_tokens
from agentforge.context.window import history_tokens, without_repeats
from agentforge.events import kinds
from agentforge.events.kinds import Event
from agentforge.events.state.run_state import RunState
from agentforge.events.state.talk_fold import unanswered
from agentforge.session.decide import SPAWNS, Compact, EndTurn, RunTogether, decide
from agentforge.tools.dispatch.deferral import sent
from agentforge.tools.dispatch.invocation import InvocationPolicy

if TYPE_CHECKING:
    from agentforge.session.runtime import SessionRuntime


def run_turn(log: Log, runtime: SessionRuntime) -> RunState:
    """Drive the open turn of a session to its end.

    Raises:
        AgentForgeError: the harness or the model failed; the turn stays open and `resume` goes on with it.
        KeyboardInterrupt: the turn was stopped.
    """
    performer = SessionPerformer(runtime)
    return drive(log, lambda state: decide(state, runtime.rules()), performer.perform)


class SessionPerformer:
    """Carries out effects for one session; holds the runtime and nothing else."""

    def __init__(self, runtime: SessionRuntime) -> None:
        self._runtime = runtime

    def perform(self, effect: Effect, state: RunState) -> Iterator[Event]:
        """Yield the events of one effect; each is durable before the next line runs.

        Raises:
            KeyError: an effect that nobody performs (a defect of the program).
        """
        performers = cast(
            "dict[type[Effect], Callable[[Effect, RunState], Iterator[Event]]]",
            {
                CallModel: self._call_model,
                RunTool: self._run_tool,
                RunTogether: self._run_together,
                FinishStep: self._finish_step,
                Compact: self._compact,
                EndTurn: self._end_turn,
            },
        )
        return performers[type(effect)](effect, state)

    def spec(self, state: RunState) -> AgentSpec:
        """What the agent loop works with now: model, tools, workspace."""
        runtime = self._runtime
        model = runtime.model()
        tools = runtime.tools()
        return AgentSpec(
            model=model,
            model_name=model.name,
            context=lambda now: build_request(
                now.talk,
                system=runtime.system(),
                tools=sent(tools),
                budget=runtime.budget(),
                situation="\n\n".join(part for part in (runtime.situation(now), warning(now)) if part),
            ),
            tools=tools,
            tool_context=runtime.tool_context(state),
            policy=InvocationPolicy(
                text_limit_tokens=runtime.result_tokens(state, len(unanswered(state))),
                secrets=runtime.secrets,
                nonce=runtime.nonce,
                approve=runtime.approve,
                hooks=runtime.hooks,
                redacts=runtime.redacts,
                cleans=runtime.cleans,
            ),
            blobs=runtime.blobs,
            snapshot=runtime.snapshot,
            price=runtime.price,
            max_output_tokens=runtime.max_output_tokens,
            temperature=runtime.temperature,
            on_delta=runtime.on_delta,
            on_thought=runtime.on_thought,
            guard=runtime.guard,
            confirm=runtime.confirm,
            answered=runtime.answered,
            shows_fresh=False,
            repeats_commands=False,
        )

    def _call_model(self, effect: CallModel, state: RunState) -> Iterator[Event]:
        news = (*self._runtime.ended(), *self._runtime.arrived())
        if news:  # the model is told of them: what it is sent is decided anew from the state that knows
            yield from news
            return
        filling = self._filling(state)
        if filling is not None:
            yield filling
            return
        yield from perform_call_model(effect, state, self.spec(state))

    def _filling(self, state: RunState) -> kinds.WindowFilling | None:
        """What the user is told once, when the request has reached the part of the window from which they are warned."""
        rules, talk = self._runtime.rules(), state.talk
        budget = rules.budget.with_material(user_tokens(talk.entries))
        tokens = rules.fixed + history_tokens(without_repeats(talk.entries))
        return (
            None if talk.warned or tokens < budget.warn_at else kinds.WindowFilling(tokens=tokens, total=budget.total)
        )

    def _run_tool(self, effect: RunTool, state: RunState) -> Iterator[Event]:
        yield from self._runtime.before_call(state, effect.index)
        if state.progress.turn.calls[effect.index].name.startswith(SPAWNS):
            yield from self._runtime.together((effect.index,), state, self.spec(state))
            return
        yield from perform_tool(effect, state, self.spec(state))

    def _run_together(self, effect: RunTogether, state: RunState) -> Iterator[Event]:
        for index in effect.indices:
            before = tuple(self._runtime.before_call(state, index))
            yield from before
            if before:  # one checkpoint stands for all of them
                break
        yield from self._runtime.together(effect.indices, state, self.spec(state))

    def _finish_step(self, effect: FinishStep, state: RunState) -> Iterator[Event]:
        return perform_finish_step(effect, state, self.spec(state))

    def _compact(self, effect: Compact, state: RunState) -> Iterator[Event]:
        yield self._runtime.compact(state, effect.reason)

    def _end_turn(self, effect: EndTurn, state: RunState) -> Iterator[Event]:
        hooks = self._runtime.hooks
        if hooks is not None and hooks.has("after_agent") and effect.outcome == "completed":
            said = hooks.after_agent(state.talk.said, state.talk.last_words())
            yield from said.runs
        yield kinds.TurnFinished(turn=state.talk.turn, outcome=effect.outcome, reason=effect.reason)


def warning(state: RunState) -> str:
    """What is said to a model before it repeats itself so often that the turn ends."""
    times = repetitions(state.progress.turn.loop)
    if times < WARN_AFTER:
        return ""
    return f"The last calls gave the same results {times} times. Do something else, or say what is in the way."
