"""What forks, marks, conversations and subagents mean for the state of a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import cast

from agentforge.events import kinds
from agentforge.events.fold.workspace_view import with_source
from agentforge.events.kinds import conversation as conversing
from agentforge.events.state.attempt import Turn
from agentforge.events.state.run_state import RunState


def run_forked(state: RunState, event: kinds.RunForked, _at: str) -> RunState:
    """From here on it is another run: what was spent and judged before belongs to its parent."""
    return replace(
        state,
        identity=replace(
            state.identity,
            run_id=event.run_id,
            parent=event.parent,
            repo=event.repo,
            worktree=event.worktree,
            branch=event.branch,
            candidate=event.attempt,
        ),
        brief=replace(
            state.brief,
            model=event.model or state.brief.model,
            candidates=1 if event.attempt else state.brief.candidates,
        ),
        relations=replace(
            state.relations,
            pull={**state.relations.pull, "wanted": False} if state.relations.pull else {},  # its parent asked for it
            forks=(),
            attempts={},
        ),
        usage=replace(state.usage, inherited=state.usage.spending, spending={}),
        review=replace(state.review, verdicts=0, verdicts_passed=0),
        people=replace(state.people, marks=()),
    )


def fork_made(state: RunState, event: kinds.ForkMade, _at: str) -> RunState:
    """Name the child."""
    return replace(
        state,
        relations=replace(state.relations, forks=(*state.relations.forks, {"child": event.child, "step": event.step})),
    )


def run_marked(state: RunState, event: kinds.RunMarked, at: str) -> RunState:
    """Keep the mark."""
    return replace(
        state,
        people=replace(
            state.people,
            marks=(*state.people.marks, {"mark": event.mark, "note": event.note, "by": event.by, "at": at}),
        ),
    )


def user_said(state: RunState, event: conversing.UserSaid, _at: str) -> RunState:
    """A turn begins: the loop counts anew, what was seen of files is still known."""
    turn = Turn(step=state.progress.turn.step, views=state.progress.turn.views, seen=state.progress.turn.seen)
    untrusted = reduce(with_source, event.sources, state.progress.untrusted)
    return replace(
        state, progress=replace(state.progress, stage=event.as_stage, turn=turn, error=None, untrusted=untrusted)
    )


def user_steered(state: RunState, event: conversing.UserSteered, _at: str) -> RunState:
    """What goes with the words may come from where nobody vouches for it; the loop goes on."""
    return replace(
        state, progress=replace(state.progress, untrusted=reduce(with_source, event.sources, state.progress.untrusted))
    )


def user_ran(state: RunState, _event: conversing.UserRan, _at: str) -> RunState:
    """What a command writes is nobody's word, whoever ran it."""
    return replace(
        state, progress=replace(state.progress, untrusted=with_source(state.progress.untrusted, "command output"))
    )


def turn_finished(state: RunState, _event: conversing.TurnFinished, _at: str) -> RunState:
    """Nothing is under way any more."""
    turn = replace(
        state.progress.turn, calling=False, replied=False, calls=(), done=0, started=False, started_event=None
    )
    return replace(state, progress=replace(state.progress, turn=turn))


def session_changed(state: RunState, event: conversing.SessionChanged, _at: str) -> RunState:
    """Another model for what comes next; everything else of a change belongs to the conversation."""
    model = event.changes.get("model")
    return replace(state, brief=replace(state.brief, model=str(model))) if model else state


def history_compacted(state: RunState, event: conversing.HistoryCompacted, _at: str) -> RunState:
    """What the summary cost counts, too."""
    return _used(state, event.usage, event.cost_usd)


def child_finished(state: RunState, event: conversing.ChildFinished, _at: str) -> RunState:
    """What a subagent used counts against the limits of the run that started it."""
    return _used(state, event.usage, event.cost_usd)


def _used(state: RunState, used: Mapping[str, object], cost_usd: float | None) -> RunState:
    usage = cast("Mapping[str, int]", used)
    old = state.usage.totals
    totals = replace(
        old,
        llm_calls=old.llm_calls + usage.get("llm_calls", 0),
        prompt_tokens=old.prompt_tokens + usage.get("prompt_tokens", 0),
        cached_tokens=old.cached_tokens + usage.get("cached_tokens", 0),
        completion_tokens=old.completion_tokens + usage.get("completion_tokens", 0),
        cost_usd=old.cost_usd + (cost_usd or 0.0),
        cost_known=old.cost_known and cost_usd is not None,
    )
    return replace(state, usage=replace(state.usage, totals=totals))
