"""The tasks as numbers in the text format of Prometheus, version 0.0.4. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentforge.store.tasks.folders import attempt_of

Labels = tuple[tuple[str, str], ...]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Write the metrics of tasks, as `Ground.tasks` gives them.

    All are gauges: what they count comes from run folders, which `agentforge gc` may remove.
    """

    every = [task for task in tasks if task["standing"] != "damaged"]
    # what an attempt counts is counted by its task, but for money, which each counts alone
    readable = [task for task in every if not attempt_of(task["task_id"], task.get("parent") or "")]
    return "".join(
        (
            _family("agentforge_tasks", "Tasks by repository and state.", _states(tasks)),
            _family("agentforge_escalations_open", "Questions that wait for a human.", _open(readable)),
            _family("agentforge_steps", "Model calls that were answered.", _sums(readable, "steps")),
            _family("agentforge_tokens", "Tokens of the tasks, by kind.", _tokens(readable)),
            _family("agentforge_cost_usd", "Money, of the calls whose price is known.", _cost(every)),
            _family("agentforge_verdicts", "Verdicts on drafts, by result.", _verdicts(readable)),
        )
    )


def _family(name: str, text: str, samples: Iterable[tuple[Labels, float]]) -> str:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    lines += [f"{name}{{{','.join(_label(*pair) for pair in labels)}}} {value:g}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


def _states(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    counted = Counter((task["repo_name"], task["standing"]) for task in tasks)
    return [((("repository", repo), ("state", state)), n) for (repo, state), n in sorted(counted.items())]


def _open(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", len(task["open_escalations"])) for task in tasks)


def _sums(tasks: Sequence[Mapping[str, Any]], field: str) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", task[field]) for task in tasks)


def _tokens(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    kinds = (("prompt", "prompt_tokens"), ("completion", "completion_tokens"))
    return _summed(((task["repo_name"], kind, task[field]) for task in tasks for kind, field in kinds), label="kind")


def _cost(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    return _summed((task["repo_name"], "", spent["cost_usd"]) for task in tasks for spent in task["spending"])


def _verdicts(tasks: Sequence[Mapping[str, Any]]) -> list[tuple[Labels, float]]:
    rows = []
    for task in tasks:
        passed, judged = task["verdicts"]
        rows += [(task["repo_name"], "passed", passed), (task["repo_name"], "refused", judged - passed)]
    return _summed(rows, label="result")


def _summed(rows: Iterable[tuple[str, str, float]], *, label: str = "") -> list[tuple[Labels, float]]:
    sums: dict[tuple[str, str], float] = {}
    for repo, kind, value in rows:
        sums[repo, kind] = sums.get((repo, kind), 0) + value
    return [
        ((("repository", repo), *(((label, kind),) if label else ())), value)
        for (repo, kind), value in sorted(sums.items())
    ]
