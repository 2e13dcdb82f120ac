"""Task sets in the forms of other programs: Inspect (a task file with its data set) and Harbor (a folder for each task)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from agentforge.errors import StorageError, UsageError
from agentforge.evals.case import write_files
from agentforge.evals.trials.task import HONEST, EvalTask

Form = Literal["inspect", "harbor"]
FORMS: tuple[Form, ...] = ("inspect", "harbor")

_PARTS = Path(__file__).parents[1] / "sets" / "export"
_COMMIT = "git -c user.name=a -c user.email=a@example.org commit -q -m base"
_SETUP = f"#!/bin/bash\nset -e\ngit init -q -b main .\ngit add -A\n{_COMMIT}\n"
_RULES = """
Work in the git repository in /app. Make the change in the files.
If the request cannot be carried out without knowing more, change nothing and write your question into /app/QUESTION.md.
If only a report is asked for, change nothing and write it into /app/REPORT.md.
"""
_TOML = """schema_version = "1.4"

[task]
name = "agentforge/{name}"
description = {description}
keywords = ["python", "{action}", "{expected}"]

[metadata]
set = {set_name}
action = "{action}"
expected = "{expected}"

[verifier]
timeout_sec = 600.0

[agent]
timeout_sec = 3600.0

[environment]
build_timeout_sec = 600.0
"""


def export(tasks: Sequence[EvalTask], folder: Path, *, form: Form, set_name: str) -> int:
    """Write tasks so that another program can run them; returns how many files were written.

    Hidden tests and reference answers lie where the other program keeps them from its agents. What must be asked is asked in
    QUESTION.md, what must be reported is written into REPORT.md; `judge.py` judges both, and runs the hidden tests.
    Raises:
        UsageError: the folder holds something, or a task needs a repository of this machine.
        StorageError: it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty", hint="name a new folder")
    bound = [task.name for task in tasks if task.source]
    if bound:
        raise UsageError(
            f"{', '.join(bound)}: the repository is not part of the task", hint="copy its files into repository/"
        )
    files = _inspect(tasks) if form == "inspect" else _harbor(tasks, set_name)
    try:
        write_files(files, folder)
        for path in folder.rglob("*.sh"):
            path.chmod(0o755)
    except OSError as exc:
        raise StorageError(f"{folder} cannot be written: {exc.strerror}", hint="name another folder") from exc
    return len(files)


def _inspect(tasks: Sequence[EvalTask]) -> dict[str, str]:
    samples = [
        {"id": task.name, "input": task.request, "target": task.expected, "files": _laid(task), "setup": _SETUP}
        | {"metadata": {"action": task.action, "expected": task.expected, "examples": task.examples}}
        for task in tasks
    ]
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in samples)
    files = {name: _part(f"inspect/{name}") for name in ("tasks.py", "compose.yaml", "Dockerfile")}
    files |= {"dataset.jsonl": lines, "judge.py": _part("judge.py")}
    for task in tasks:
        files |= _below(f"tasks/{task.name}", _judged(task))
        files |= _below(f"tasks/{task.name}/reference", _reference(task))
    return files


def _harbor(tasks: Sequence[EvalTask], set_name: str) -> dict[str, str]:
    files: dict[str, str] = {}
    for task in tasks:
        description = json.dumps(" ".join(task.request.split())[:150], ensure_ascii=True)
        values = {"name": task.name, "action": task.action, "expected": task.expected, "description": description}
        one = {
            "task.toml": _TOML.format(**values, set_name=json.dumps(set_name)),
            "instruction.md": f"{task.request}\n{_RULES}",
            "environment/Dockerfile": _part("harbor/Dockerfile"),
            "tests/test.sh": _part("harbor/test.sh"),
            "tests/judge.py": _part("judge.py"),
            "solution/solve.sh": _part("harbor/solve.sh"),
            **_below("environment/repository", _laid(task)),
            **_below("tests", _judged(task)),
            **_below("solution/reference", _reference(task)),
        }
        files |= _below(task.name, one)
    return files


def _laid(task: EvalTask) -> dict[str, str]:
    """The repository; tests that go with the request are part of it there."""
    return {**task.repository, **task.given}


def _judged(task: EvalTask) -> dict[str, str]:
    value = {"expected": task.expected, "about": list(task.about), "mentions": list(task.mentions)}
    return {"task.json": json.dumps(value, ensure_ascii=False), **_below("hidden", task.hidden)}


def _reference(task: EvalTask) -> Mapping[str, str]:
    """What a right answer leaves in the repository; {} when none is known."""
    answers = task.answers.get(HONEST, {})
    if answers.get("changes"):
        return dict(answers["changes"])
    if answers.get("ambiguities"):
        return {"QUESTION.md": "\n".join(str(one["question"]) for one in answers["ambiguities"]) + "\n"}
    return {"REPORT.md": "\n".join(map(str, answers["findings"])) + "\n"} if answers.get("findings") else {}


def _below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


def _part(name: str) -> str:
    return (_PARTS / name).read_text("utf-8")
