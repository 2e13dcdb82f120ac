"""What forks and marks mean: a run that begins as another one did, and what people say of a delivery. Pure."""

from __future__ import annotations

from dataclasses import replace

from agentforge.events import kinds
from agentforge.events.state.run_state import RunState


def run_forked(state: RunState, event: kinds.RunForked, _at: str) -> RunState:
    """From here on it is another run: what was spent and judged before belongs to its parent."""
    return replace(
        state,
        run_id=event.run_id,
        parent=event.parent,
        repo=event.repo,
        worktree=event.worktree,
        branch=event.branch,
        model=event.model or state.model,
        pull={**state.pull, "wanted": False} if state.pull else {},  # the parent's request is not the child's
        inherited=state.spending,
        spending={},
        verdicts=0,
        verdicts_passed=0,
        forks=(),
        attempts={},
        candidates=1 if event.attempt else state.candidates,
        candidate=event.attempt,
        marks=(),
    )


def fork_made(state: RunState, event: kinds.ForkMade, _at: str) -> RunState:
    """Name the child."""
    return replace(state, forks=(*state.forks, {"child": event.child, "step": event.step}))


def run_marked(state: RunState, event: kinds.RunMarked, at: str) -> RunState:
    """Keep the mark."""
    return replace(state, marks=(*state.marks, {"mark": event.mark, "note": event.note, "by": event.by, "at": at}))
