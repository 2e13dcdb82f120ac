"""HumanEval as tasks: the docstring is the request, the checks of the set are the hidden tests."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentforge.errors import ConfigError
from agentforge.evals.trials.solution import answers_from, import_test
from agentforge.evals.trials.task import EvalTask
from agentforge.verification.examples.claims import Claim, claims_in

_MODULE = "solution.py"
_KEYS = ("task_id", "prompt", "entry_point", "test")


def humaneval_tasks(path: Path) -> list[EvalTask]:
    """Read the JSON lines of HumanEval, packed or not; sets of the same shape (HumanEval+, your own) are read, too.

    Raises:
        ConfigError: the file cannot be read, or a line is no task.
    """
    try:
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}", hint="name HumanEval.jsonl or HumanEval.jsonl.gz") from exc
    lines = enumerate(text.splitlines(), 1)
    return [_task(_value(line, f"{path}:{number}"), f"{path}:{number}") for number, line in lines if line.strip()]


def _value(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as exc:
        raise ConfigError(f"{place} is not JSON: {exc}", hint="one JSON object on each line") from exc
    missing = [key for key in _KEYS if not isinstance(value, dict) or not isinstance(value.get(key), str)]
    if missing:
        raise ConfigError(f"{place} has no {', '.join(missing)}", hint=f"a task has {', '.join(_KEYS)}")
    return dict(value)


def _task(value: Mapping[str, Any], place: str) -> EvalTask:
    name, prompt = value["entry_point"], value["prompt"]
    function = _function(prompt, name, place)
    before, asked = _split(prompt, function)
    head = before if before.strip() else '"""Functions."""\n'
    claims = claims_in(ast.get_docstring(function) or "")
    return EvalTask(
        name=value["task_id"].replace("/", "-"),
        request=f"Add the function {name} to {_MODULE}. This is its signature and what it does:\n\n{asked.strip()}",
        action="create",
        repository={_MODULE: head, "tests/test_solution.py": import_test(["solution"])},
        hidden={"tests/test_hidden.py": _hidden(value["test"], name)},
        examples=bool(claims),
        answers=answers_from(
            path=_MODULE,
            source=f"{head.rstrip()}\n\n\n{asked.strip()}\n{value.get('canonical_solution', '')}"
            if value.get("canonical_solution")
            else "",
            name=name,
            signature=signature_of(function),
            change="new",
            claims=claims or tuple(_checked_claims(value["test"], name)),
        ),
    )


def signature_of(function: ast.FunctionDef) -> str:
    """The signature of a function as a specification declares it."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(function.args)}){returns}"


def _function(prompt: str, name: str, place: str) -> ast.FunctionDef:
    try:
        body = ast.parse(prompt).body
    except SyntaxError as exc:
        raise ConfigError(
            f"{place}: the prompt is not Python: {exc.msg}", hint="a prompt ends with a docstring"
        ) from exc
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise ConfigError(
        f"{place}: the prompt does not define {name}", hint="entry_point names the function of the prompt"
    )


def _split(prompt: str, function: ast.FunctionDef) -> tuple[str, str]:
    """What stands in the module already, and what is asked for."""
    lines = prompt.splitlines(keepends=True)
    first = min([function.lineno, *(one.lineno for one in function.decorator_list)]) - 1
    return "".join(lines[:first]), "".join(lines[first:])


def _hidden(checks: str, name: str) -> str:
    """The checks as they are, in a module that knows what the prompt knows."""
    return f"from solution import *\nfrom solution import {name}\n\n{checks.strip()}\n\n\ndef test_check():\n    check({name})\n"


def _checked_claims(checks: str, name: str) -> Iterator[Claim]:
    """What the checks assert of the function with `==`; only the scripted model is told."""
    for node in ast.walk(ast.parse(checks)):
        match node:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id="candidate")) as call, ops=[ast.Eq()], comparators=[expected]
                )
            ):
                given = ast.unparse(call).removeprefix("candidate")
                yield Claim(call=f"{name}{given}", returns=ast.unparse(expected))
