"""What runs cost: by stage, attempt and model; cached tokens apart, and what has no known price said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.app.composition.task_queries import repository
from agentforge.errors import IntegrityError, StorageError
from agentforge.store.tasks.folders import attempt_of, find_task, task_summaries

Row = dict[str, Any]

_SUMS = ("calls", "requests", "prompt_tokens", "cached_tokens", "cache_write_tokens", "completion_tokens", "unpriced")


def cost_of_task(cwd: Path, task_id: str) -> Row:
    """The cost of one run, its subagents and independent attempts included.

    Returns:
        task_id, outcome, total, inherited (what a fork shares with its parent; paid there), by_stage, by_attempt,
        by_model, subagents, attempts; every row has calls, requests, tokens, cost_usd (of what has a price) and unpriced (replies
        without one). Prompt tokens hold the cached ones.
    Raises:
        IntegrityError: the task cannot be read.
    """
    repo = repository(cwd)
    name, _ = find_task(repo, task_id)
    return _cost(name, task_summaries(repo))


def cost_of_all(cwd: Path) -> Row:
    """The cost of all runs of a repository: `total`, `by_model`, and one row for each run."""
    found = task_summaries(repository(cwd))
    spent = [row for value in found for row in value.get("spending", ())]
    runs = [
        {
            "task_id": value["task_id"],
            "outcome": value["standing"],
            "parent": value.get("parent"),
            "error": value.get("error", ""),
            "cause": value.get("cause", ""),
            **_sum(value.get("spending", ())),
        }
        for value in found
    ]
    return {"total": _sum(spent), "by_model": _grouped(spent, ("model",)), "tasks": runs}


def _cost(task_id: str, found: Sequence[Mapping[str, Any]]) -> Row:
    value = next(value for value in found if value["task_id"] == task_id)
    if value["standing"] == "damaged":
        kind = StorageError if value.get("cause") == StorageError.slug else IntegrityError
        raise kind(f"{task_id} cannot be read: {value['error']}")
    own: Sequence[Row] = value.get("spending", ())
    below = [item for item in found if item.get("kind") == "subagent" and item.get("parent") == task_id]
    attempts = [item for item in found if item.get("parent") == task_id and attempt_of(item["task_id"], task_id)]
    spent = [*own, *(row for item in (*below, *attempts) for row in item.get("spending", ()))]
    return {
        "task_id": task_id,
        "outcome": value["standing"],
        "total": _sum(spent),
        "inherited": {"from": value.get("parent"), **_sum(value["inherited"])} if value.get("inherited") else None,
        "by_stage": _grouped(own, ("stage",)),
        "by_attempt": _grouped(own, ("stage", "attempt")),
        "by_model": _grouped(spent, ("model",)),
        "subagents": [{"task_id": item["task_id"], **_sum(item["spending"])} for item in below],
        "attempts": [{"task_id": item["task_id"], **_sum(item.get("spending", ()))} for item in attempts],
        "unpriced_models": sorted({row["model"] for row in spent if row["unpriced"]}),
    }


def _sum(rows: Iterable[Mapping[str, Any]]) -> Row:
    rows = list(rows)
    counted = {name: sum(row[name] for row in rows) for name in _SUMS}
    return {**counted, "cost_usd": round(sum(row["cost_usd"] for row in rows), 6)}


def _grouped(rows: Iterable[Mapping[str, Any]], names: tuple[str, ...]) -> list[Row]:
    groups: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}

    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return [{**dict(zip(names, group, strict=True)), **_sum(found)} for group, found in groups.items()]
