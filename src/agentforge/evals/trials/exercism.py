"""Exercism-like folders as tasks: instructions are the request, the stub is the repository, the tests are hidden."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

from agentforge.errors import ConfigError, UsageError
from agentforge.evals.trials.solution import import_test, module_of
from agentforge.evals.trials.task import EvalTask
from agentforge.verification.examples.claims import claims_in

_CONFIG = ".meta/config.json"
_INSTRUCTIONS = (".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md")


def exercism_tasks(folder: Path) -> list[EvalTask]:
    """Read exercises: folders with instructions, a stub and tests, at any depth (a track has exercises/practice/NAME).

    Raises:
        UsageError: there are none.
        ConfigError: an exercise lacks its stub or its tests, or says where they are in a way that cannot be read.
    """
    found = sorted({path.parents[1] for path in folder.rglob(".docs/instructions.md")})
    if not found:
        raise UsageError(f"{folder} holds no exercise", hint="an exercise has .docs/instructions.md, a stub and tests")
    return [_task(one) for one in found if _files(one, "test")]


def _task(folder: Path) -> EvalTask:
    stubs, tests = _files(folder, "solution"), _files(folder, "test")
    if not stubs:
        raise ConfigError(f"{folder} has no stub", hint=f"name it in {_CONFIG}, or call it {_snake(folder)}.py")
    text = "\n\n".join(
        (folder / name).read_text("utf-8").strip() for name in _INSTRUCTIONS if (folder / name).is_file()
    )
    names = ", ".join(stubs)
    modules = [module_of(path) for path in stubs if path.endswith(".py")]
    return EvalTask(
        name=folder.name,
        request=f"Implement {names} as described. Keep the names and parameters that stand in it.\n\n{text}",
        action="create",
        repository={**_texts(folder, stubs), "tests/test_stub.py": import_test(modules)},
        hidden=_texts(folder, tests),
        examples=bool(claims_in(text)),
        answers=_answers(folder, stubs, tests),
    )


def _files(folder: Path, kind: str) -> list[str]:
    """The files of a kind (solution, test, example) as the exercise names them, else by their names; an empty list names none.

    Raises:
        ConfigError: a file that the exercise names is not there.
    """
    files = _config(folder).get("files")
    named = files.get(kind) if isinstance(files, dict) else None
    if isinstance(named, list) and named:
        missing = [str(name) for name in named if not (folder / str(name)).is_file()]
        if missing:
            hint = f"correct files.{kind} in {_CONFIG}, or check out the whole exercise"
            raise ConfigError(f"{folder} has no {', '.join(missing)}, which its {_CONFIG} names", hint=hint)
        return [str(name) for name in named]
    known = {
        "solution": [f"{_snake(folder)}.py"],
        "test": [f"{_snake(folder)}_test.py", f"test_{_snake(folder)}.py"],
        "example": [".meta/example.py", ".meta/exemplar.py"],
    }
    return [name for name in known[kind] if (folder / name).is_file()]


def _config(folder: Path) -> dict[str, Any]:
    path = folder / _CONFIG
    try:
        value = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError as exc:
        raise ConfigError(f"{path} is not JSON: {exc}", hint="repair it, or leave it out") from exc
    return value if isinstance(value, dict) else {}


def _answers(folder: Path, stubs: list[str], tests: list[str]) -> dict[str, Any]:
    """The exercise's own solution, with its own tests as RED's: a model that knows the exercise by heart."""
    examples = _files(folder, "example") or _files(folder, "exemplar")
    if len(examples) != 1 or len(stubs) != 1:
        return {}
    source = (folder / examples[0]).read_text("utf-8")
    names = [node for node in ast.parse(source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    symbols = [
        {
            "name": node.name,
            "file": stubs[0],
            "kind": "class" if isinstance(node, ast.ClassDef) else "function",
            "change": "changed",
        }
        for node in names
    ]
    text = (folder / tests[0]).read_text("utf-8")
    return {
        "honest": {
            "criteria": ["it does what the instructions say"],
            "symbols": symbols,
            "tests": {f"tests/test_{_snake(folder)}.py": text},
            "changes": {stubs[0]: source},
        }
    }


def _texts(folder: Path, names: list[str]) -> dict[str, str]:
    return {name: (folder / name).read_text("utf-8") for name in names}


def _snake(folder: Path) -> str:
    return folder.name.replace("-", "_")
