"""Two runs side by side: stages, tokens, cost, artifacts field by field, requirements, tests, changes, verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.app.composition.run_result import RunResult, outcome_of
from agentforge.app.composition.task_queries import load
from agentforge.events.fold.delivered import judged
from agentforge.events.state.run_state import RunState
from agentforge.store.blobs import Blobs
from agentforge.views.words import rows_of
from agentforge.workspace.git.objects import has_object
from agentforge.workspace.git.repository import Git

if TYPE_CHECKING:
    pass

Value = dict[str, Any]

_OF_THE_RUN = frozenset(
    {
        "intake_timestamp", "duration_s", "duration_ms", "request_id", "task_id", "branch", "commit", "commits",
        "trail", "cost", "cached", "seed", "resolved_at",
    }
)  # fmt: skip
"""Fields that differ between any two runs: they are counted, and left out of the list."""

_LONGEST_DIFF = 60_000


def compare(cwd: Path, first: str, second: str) -> Value:
    """Compare two runs of a repository.

    Returns:
        a, b (the runs), same (what they began with), totals, stages, artifacts, requirements, tests, verdicts, changes;
        every row has an `a` and a `b`, None where a run has nothing of the kind.
    """
    a, b = load(cwd, first), load(cwd, second)
    git = Git.open(cwd)
    one, two = a.state, b.state
    return {
        "a": _run(a),
        "b": _run(b),
        "same": _same(one, two),
        "totals": _rows(_totals(one), _totals(two)),
        "stages": _rows(_stages(one), _stages(two)),
        "artifacts": [_artifact(name, one, two) for name in _names(one.work.artifacts, two.work.artifacts)],
        "requirements": _rows(_requirements(one), _requirements(two)),
        "tests": _rows(_tests(a), _tests(b)),
        "verdicts": _rows(_verdicts(one), _verdicts(two)),
        "changes": _changes(one, two, git),
    }


def _run(result: RunResult) -> Value:
    state = result.state
    return {
        "task_id": state.identity.run_id,
        "request": state.brief.request,
        "outcome": outcome_of(state, running=result.running),
        "model": state.brief.model,
        "models": _asked(state),
        "started_at": state.progress.started_at,
        "parent": state.identity.parent,
        "base_commit": state.identity.base_commit,
        "versions": dict(state.identity.versions),
    }


def _asked(state: RunState) -> list[str]:
    """The models that answered, in the order in which they did; the one that was named where none was asked yet."""
    spent = (*state.usage.inherited.values(), *state.usage.spending.values())
    return list(dict.fromkeys(one.model for one in spent if one.calls)) or [state.brief.model]


def _same(a: RunState, b: RunState) -> Value:
    digests = {
        name: a.identity.digests.get(name) == b.identity.digests.get(name)
        for name in ("settings", "contracts", "prompts")
    }
    return {
        "request": a.brief.request == b.brief.request,
        "base_commit": a.identity.base_commit == b.identity.base_commit,
        "model": set(_asked(a)) == set(_asked(b)),
        "agentforge": a.identity.versions.get("agentforge") == b.identity.versions.get("agentforge"),
        **digests,
    }


def _totals(state: RunState) -> Value:
    totals = state.usage.totals
    return {
        "steps": totals.steps,
        "model calls": totals.llm_calls,
        "tool calls": totals.tool_calls,
        "prompt tokens": totals.prompt_tokens,
        "cached tokens": totals.cached_tokens,
        "completion tokens": totals.completion_tokens,
        "largest prompt": totals.max_step_prompt_tokens,
        "cost in USD": round(totals.cost_usd, 6) if totals.cost_known else None,
        "seconds": round(state.progress.active_s, 1),
        "escalations": len(state.people.escalations),
    }


def _stages(state: RunState) -> Value:
    return {
        name: {
            "status": stage.status,
            "attempts": stage.attempt,
            "steps": stage.steps,
            "tokens": stage.prompt_tokens + stage.completion_tokens,
            "cost_usd": round(stage.cost_usd, 6) if state.usage.totals.cost_known else None,
        }
        for name, stage in state.progress.stages.items()
    }


def _artifact(name: str, a: RunState, b: RunState) -> Value:
    """The fields of one artifact that differ, by their path; how many are the same, and how many differ in every run."""
    one, two = (dict(_fields(state.work.artifacts.get(name))) for state in (a, b))
    rows = _rows(one, two)
    differing = [row for row in rows if row["a"] != row["b"]]
    told = [row for row in differing if not _OF_THE_RUN & set(row["name"].replace("[", ".").split("."))]
    return {
        "stage": name,
        "a": name in a.work.artifacts,
        "b": name in b.work.artifacts,
        "same": len(rows) - len(differing),
        "of_the_run": len(differing) - len(told),
        "differing": told,
    }


def _fields(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every leaf with its path; entries of a list that have an id go by it, so that a new first one moves no other."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _fields(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)) and value:
        for number, item in enumerate(value):
            own = item.get("id") or item.get("path") or item.get("name") if isinstance(item, Mapping) else None
            yield from _fields(item, f"{path}[{own if isinstance(own, str) else number}]")
    elif path:
        yield path, list(value) if isinstance(value, tuple) else value


def _requirements(state: RunState) -> Value:
    mapping = state.work.artifacts.get("red", {}).get("coverage_mapping")
    tests = mapping if isinstance(mapping, Mapping) else {}
    return {
        str(item.get("id")): {
            "description": item.get("description"),
            "criteria": list(item.get("acceptance_criteria") or ()),
            "tests": list(tests.get(str(item.get("id")), ())),
        }
        for item in rows_of(state.work.artifacts.get("spec", {}).get("requirements"))
    }


def _tests(result: RunResult) -> Value:
    """How every test ended in the last measurement of the run; where its runs do not agree, all ways."""
    evidence = result.state.work.evidence
    name = next((name for name in ("verify", "refactor", "green", "red", "baseline") if name in evidence), None)
    if name is None:
        return {}
    ends: dict[str, list[str]] = {}
    for test, outcome in _outcomes(json.loads(Blobs(result.folder / "blobs").get(evidence[name]))):
        if outcome not in ends.setdefault(test, []):
            ends[test].append(outcome)
    return {test: "/".join(sorted(found)) for test, found in sorted(ends.items())}


def _outcomes(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        test, outcome = value.get("id"), value.get("outcome")
        if isinstance(test, str) and isinstance(outcome, str):
            yield test, outcome
        elif isinstance(outcomes := value.get("outcomes"), dict):
            yield from ((str(test), str(end)) for test, end in outcomes.items())
        for item in value.values():
            yield from _outcomes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _outcomes(item)


def _verdicts(state: RunState) -> Value:
    return {
        f"{name}: {row.get('rule')}": {"passed": row.get("passed"), "message": row.get("message") or ""}
        for name, stage in state.progress.stages.items()
        for row in stage.results
    }


def _changes(a: RunState, b: RunState, git: Git) -> Value:
    """Changed files of both, and the patch from one result to the other where the repository holds both."""
    trees = [_tree(state) for state in (a, b)]
    return {
        "trees": trees,
        "same_tree": trees[0] == trees[1],
        "files": _rows(_files(a), _files(b)),
        "between": _between(trees, git),
    }


def _tree(state: RunState) -> str:
    delivered = (state.work.delivered or {}).get("tree")
    return str(delivered or state.work.trees.get("work") or state.work.trees.get("baseline", ""))


def _files(state: RunState) -> Value:
    facts = judged(state.work.facts, {})
    return {
        str(item.get("path")): f"{item.get('status')} +{item.get('added')} -{item.get('removed')}"
        for item in rows_of(facts.get("changes"))
    }


def _between(trees: list[str], git: Git) -> str | None:
    if trees[0] == trees[1]:
        return ""
    if not all(tree and has_object(git, tree) for tree in trees):
        return None
    return git.diff(trees[0], trees[1])[:_LONGEST_DIFF]


def _rows(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Value]:
    return [{"name": name, "a": a.get(name), "b": b.get(name)} for name in _names(a, b)]


def _names(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*a, *b]))
