"""A human's answer changes what an earlier stage decided: that stage is done again with the answer, and all that followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agentforge.events import kinds
from agentforge.events.state import RunState
from agentforge.pipeline.effects import Reopen

if TYPE_CHECKING:
    from agentforge.pipeline.runtime import Runtime


def going_back(state: RunState, order: Sequence[str]) -> Reopen | None:
    """What follows from an answer that opens an earlier stage again; None when there is none, or it was done.

    Args:
        order: the names of all stages.
    """
    for item in state.escalations.values():
        answer = item.resolution
        if answer is None or not answer.reopen or item.escalation_id in state.went_back:
            continue
        return Reopen(
            stage=answer.reopen,
            by=item.stage,
            undone=tuple(name for name in order[order.index(answer.reopen) :] if name in state.stages),
            answer=f"{item.question} -> {answer.text}",
            escalation_id=item.escalation_id,
        )
    return None


def go_back(effect: Reopen, state: RunState, runtime: Runtime) -> Iterator[kinds.Event]:
    """Put the workspace back to where the stage began and record it; done twice it is the same.

    Side effects: files of the worktree.
    """
    left = [name for name in runtime.stages if name not in effect.undone and name in state.trees]
    kept = state.trees[left[-1]] if left else ""
    tree = kept or state.trees.get("baseline", "") or runtime.git.tree_of(state.base_commit)
    runtime.guard.put_back(tree)
    yield kinds.StageReopened(
        stage=effect.stage,
        by=effect.by,
        reason="answered",
        undone=effect.undone,
        answer=effect.answer,
        escalation_id=effect.escalation_id,
        tree=tree,
    )
