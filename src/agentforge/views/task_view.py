"""task.yaml: what the run is for. Goal, criteria and constraints stand there as soon as a verified artifact holds them.

Source: seed 001 section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from agentforge.events.state.run_state import RunState
from agentforge.views.words import seconds


def task_value(state: RunState) -> dict[str, object]:
    """The value of task.yaml."""
    spec = state.artifacts.get("spec", {})
    return {
        "id": state.run_id,
        "goal": _goal(state),
        "success_criteria": _criteria(spec),
        "constraints": _descriptions(spec.get("constraints")),
        "request": state.request,
        "created_at": seconds(state.started_at),
        "kind": state.kind,
        "mode": state.mode,
        "approve": list(state.approve),
        "model": state.model,
        "repo": state.repo,
        "base_commit": state.base_commit,
        "base_ref": state.base_ref,
        "branch": state.branch,
        "worktree": state.worktree,
        "tests": list(state.tests),
        "apply": state.apply,
        "parent": state.parent,
        "limits": asdict(state.limits),
        "digests": dict(state.digests),
        "versions": dict(state.versions),
    }


def _goal(state: RunState) -> str:
    goal = state.artifacts.get("intake", {}).get("goal")
    if isinstance(goal, str) and goal:
        return goal
    lines = state.request.strip().splitlines()
    return lines[0].strip() if lines else ""


def _criteria(spec: Mapping[str, object]) -> list[str]:
    """Every acceptance criterion of the specification, in its order."""
    requirements = spec.get("requirements")
    if not isinstance(requirements, list):
        return []
    criteria: list[str] = []
    for requirement in requirements:
        listed = requirement.get("acceptance_criteria") if isinstance(requirement, dict) else None
        criteria += [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return criteria


def _descriptions(entries: object) -> list[str]:
    """The texts of a list of strings or of records with a `description`."""
    if not isinstance(entries, list):
        return []
    texts = [entry.get("description") if isinstance(entry, dict) else entry for entry in entries]
    return [text for text in texts if isinstance(text, str)]
