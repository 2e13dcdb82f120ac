"""DELIVER: one commit from the verified tree, then the branch. The user's checkout stays as it is unless `--apply` asks."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.delivery.assumptions import Assumption, assumptions
from agentforge.pipeline.delivery.report import (
    answers,
    changed_parts,
    conventional,
    cost,
    delivered_parts,
    limits,
    measured_parts,
    notes_for_reviewer,
    trailers,
)
from agentforge.pipeline.facts.roads import road_lines
from agentforge.pipeline.facts.speed import speed_lines
from agentforge.pipeline.facts.traceability import shown_strength, strength_limits, trace
from agentforge.pipeline.ledger.shown import asks_traced
from agentforge.pipeline.model.runtime import Runtime
from agentforge.pipeline.model.stage import action_of, items
from agentforge.pipeline.stages import FIX
from agentforge.pipeline.workflows.fix.delivery import fix_message
from agentforge.workspace.git.objects import advance_branch, drop_ref, waiting_ref

_TYPES = {"create": "feat", "modify": "feat", "delete": "refactor", "refactor": "refactor", "fix": "fix"}


def make_commit(state: RunState, runtime: Runtime) -> dict[str, object]:
    """Make the commit object (no branch yet) and tell what it holds."""
    tree = verified_tree(state)
    message = _MESSAGES[state.brief.workflow](state, trail=runtime.trail())
    commit = runtime.git.commit_tree(
        tree, parents=[state.identity.base_commit], message=message, when=state.progress.last_at
    )
    runtime.git.update_ref(
        waiting_ref(state.identity.run_id), commit
    )  # a human may be asked first, and git may tidy up meanwhile
    made = runtime.git.tree_of(commit)
    return {
        "branch": state.identity.branch,
        "commit": commit,
        "tree": made,
        "verified_tree": tree,
        "tree_matches": made == tree,
        "base_commit": state.identity.base_commit,
    }


def make_branch(state: RunState, runtime: Runtime, *, commit: str) -> bool:
    """Point the task's branch and the worktree at the commit; returns whether it was applied to the checkout.

    Raises:
        ConflictError: the branch exists and points elsewhere, or `--apply` cannot be done without touching the user's work.
    """
    if state.relations.pull.get("follows") and state.relations.pull.get("branch") == state.identity.branch:
        advance_branch(runtime.git, state.identity.branch, commit, was=state.identity.base_commit)
    else:
        runtime.git.create_branch(state.identity.branch, commit)
    drop_ref(runtime.git, waiting_ref(state.identity.run_id))
    runtime.git.point_at(runtime.worktree, commit)
    if not state.brief.apply:
        return False
    runtime.git.merge_commit_into_checkout(state.identity.branch)
    return True


def verified_tree(state: RunState) -> str:
    """The tree that the last verification measured."""
    return judged(state.work.trees, "")


def commit_message(state: RunState, *, trail: tuple[str, int]) -> str:
    """Conventional subject, what was asked, and the trailers that tie the commit to the trail."""
    spec = state.work.artifacts.get("spec", {})
    body = "\n".join(f"- {item.get('id')}: {item.get('description')}" for item in items(spec.get("requirements")))
    assumed = "\n".join(f"- {one.line}" for one in assumptions(state))
    parts = [subject(state), f"Assumptions:\n{assumed}" if assumed else "", body]
    return "\n\n".join(part for part in [*parts, trailers(state, trail)] if part) + "\n"


def subject(state: RunState) -> str:
    """Conventional subject of at most 72 characters."""
    title = " ".join(str(state.work.artifacts.get("spec", {}).get("title") or state.brief.request).split())
    first = title.split(" ", 1)[0]
    if first[1:] == first[1:].lower():  # a name like HTTPServer or iOS keeps its capitals
        title = f"{title[:1].lower()}{title[1:]}"
    return conventional(f"{_TYPES.get(action_of(state), 'feat')}: {title}")


def report(state: RunState, made: Mapping[str, object], changed_lines: Mapping[str, list[str]]) -> dict[str, object]:
    """The delivery report: assumptions first, requirement -> tests -> changed lines, verification with its controls, cost.

    Args:
        made: what make_commit returned.
        changed_lines: path -> changed line ranges of the new file ("12-18").
    """
    spec = state.work.artifacts.get("spec", {})
    facts = judged(state.work.facts, {})
    return {
        **delivered_parts(state, made, title=str(spec.get("title", "")), subject=subject(state)),
        "assumptions": [_assumption_row(one) for one in assumptions(state)],
        "answers": answers(state),
        **({"asks": asks} if (asks := asks_traced(state, facts)) else {}),
        "requirements": trace(state, facts, changed_lines),
        **shown_strength(state, facts),
        "changes": changed_parts(facts),
        **({"measured": lines} if (lines := [*road_lines(facts), *speed_lines(facts)]) else {}),
        "verification": {**measured_parts(state, made), "all_tests_pass": facts.get("all_tests_pass") is True},
        "cost": cost(state),
        "limits": [*limits(state), *strength_limits(facts)],
        **({"notes": told} if (told := notes_for_reviewer(state)) else {}),
        "follow_ups": _open_risks(state)[:5],
    }


def _assumption_row(one: Assumption) -> dict[str, object]:
    other = {"alternative": one.alternative} if one.alternative else {}
    return {"question": one.question, "assumption": one.taken, **other}


def _open_risks(state: RunState) -> list[str]:
    """Risks that the analysis saw and had no answer to."""
    risks = items(state.work.artifacts.get("analyze", {}).get("risks"))
    return [str(item.get("description")) for item in risks if not item.get("mitigation")]


def _fix_message(state: RunState, *, trail: tuple[str, int]) -> str:
    return fix_message(state, trail=trail)


_MESSAGES = {"": commit_message, FIX: _fix_message}
"""Workflow -> the message of its commit."""
