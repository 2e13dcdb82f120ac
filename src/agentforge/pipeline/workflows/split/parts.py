"""A request that is split into parts: which part becomes a task next, and what that task is told. Pure."""

from __future__ import annotations

from agentforge.contracts.rulebook.splitting import asked_of, earlier_parts, in_order, key_of, needs_of
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.model.effects import StartPart
from agentforge.pipeline.model.stage import Json, items

REPOSITORIES = "repositories"
"""Under which name the first record of a plan binds the named repositories: {name, path, default_branch, commit}."""
PLAN = "plan"
"""Under which name the first record of a part binds its plan: {run_id, repo, path, digest}, and part where it has a name."""


def next_part(state: RunState) -> StartPart | None:
    """The next part that becomes a task, after those that it waits for; None when there is none left."""
    plan = state.artifacts.get("plan")
    if plan is None:
        return None
    return next((StartPart(part=name) for name in in_order(needs_of(plan)) if name not in state.parts), None)


def named_rows(state: RunState) -> list[Json]:
    """The repositories that were named when the plan began."""
    return items(state.digests.get(REPOSITORIES))


def part_of(state: RunState, key: str) -> Json:
    """A part as the plan has it; it is called by its name, else by its repository."""
    return next(part for part in items(state.artifacts["plan"].get("parts")) if key_of(part) == key)


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
    """What the task of a part waits for: the tasks of other parts, and the contracts that these provide.

    The last of the parts of its own repository that come before is what it starts from.
    """
    planned = f"planned so by {state.run_id}"
    needs = {asked_of(need): need for need in items(part.get("needs"))}
    base = earlier_parts(state.artifacts["plan"], key_of(part))[-1:]
    rows: list[dict[str, object]] = [
        {
            "task_id": state.parts[other]["task_id"],
            "required_stage": needs.get(other, {}).get("required_stage") or "deliver",
            "repo": part_of(state, other)["repo"],
            "reason": str(needs.get(other, {}).get("reason") or planned),
            **({"onto": True} if other in base else {}),
        }
        for other in dict.fromkeys([*needs, *base])
    ]
    for item in items(part.get("uses")):
        if (item.get("repo"), item.get("artifact")) in _provided(state):
            reason = f"a contract of plan {state.run_id}"
            rows.append({**{key: item[key] for key in ("repo", "artifact", "version")}, "reason": reason})
    return tuple(rows)


def _provided(state: RunState) -> set[tuple[object, object]]:
    """The contracts that parts with a task provide: (repository, contract)."""
    parts = [part for part in items(state.artifacts["plan"].get("parts")) if key_of(part) in state.parts]
    return {(part.get("repo"), item.get("artifact")) for part in parts for item in items(part.get("provides"))}
