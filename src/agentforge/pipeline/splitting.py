"""A request that is split over repositories: which part becomes a task next, and what that task is told. Pure."""

from __future__ import annotations

from agentforge.contracts.rulebook.splitting import in_order, needs_of
from agentforge.events.state import RunState
from agentforge.pipeline.effects import StartPart
from agentforge.pipeline.stage import Json, items

REPOSITORIES = "repositories"
"""Under which name the first record of a plan binds the named repositories: {name, path, default_branch, commit}."""
PLAN = "plan"
"""Under which name the first record of a part binds its plan: {run_id, repo, path, digest}."""


def next_part(state: RunState) -> StartPart | None:
    """The next part that becomes a task, after those that it waits for; None when there is none left."""
    plan = state.artifacts.get("plan")
    if plan is None:
        return None
    return next((StartPart(repo=name) for name in in_order(needs_of(plan)) if name not in state.parts), None)


def named_rows(state: RunState) -> list[Json]:
    """The repositories that were named when the plan began."""
    return items(state.digests.get(REPOSITORIES))


def part_of(state: RunState, repo: str) -> Json:
    """The part of a repository, as the plan has it."""
    return next(part for part in items(state.artifacts["plan"].get("parts")) if part.get("repo") == repo)


def part_request(part: Json) -> str:
    """What the task of a part is asked to do: its request, and the contracts that others rely on."""
    lines = [str(part.get("request", "")).strip()]
    for item in items(part.get("provides")):
        name = item.get("artifact")
        lines.append(
            f"Other repositories rely on the contract {name}: deliver it as a file {name}.json, {name}.yaml or {name}.toml "
            f'with the top-level entry version: "{item.get("version")}".'
        )
    lines += [
        f"Rely on the contract {item.get('artifact')} {item.get('version')} of the repository {item.get('repo')}."
        for item in items(part.get("uses"))
    ]
    return "\n\n".join(lines)


def part_after(state: RunState, part: Json) -> tuple[dict[str, object], ...]:
    """What the task of a part waits for: the tasks of other parts, and the contracts that these provide."""
    rows: list[dict[str, object]] = []
    waited = []
    for need in items(part.get("needs")):
        other = str(need.get("repo"))
        waited.append(other)
        rows.append(
            {
                "task_id": state.parts[other]["task_id"],
                "required_stage": need.get("required_stage") or "deliver",
                "repo": other,
                "reason": str(need.get("reason") or f"planned so by {state.run_id}"),
            }
        )
    for item in items(part.get("uses")):
        provided = items(part_of(state, str(item["repo"])).get("provides")) if item.get("repo") in state.parts else []
        if any(row.get("artifact") == item.get("artifact") for row in provided):
            reason = f"a contract of plan {state.run_id}"
            rows.append({**{key: item[key] for key in ("repo", "artifact", "version")}, "reason": reason})
    return tuple(rows)
