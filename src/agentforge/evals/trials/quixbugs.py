"""QuixBugs as tasks: the program with its bug and its description is the repository, the test cases of the set are hidden."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from agentforge.errors import ConfigError, UsageError
from agentforge.evals.trials.humaneval import signature_of
from agentforge.evals.trials.solution import answers_from, import_test, module_of
from agentforge.evals.trials.task import EvalTask
from agentforge.verification.examples.claims import Claim, claims_in

_PROGRAMS, _CORRECT, _CASES, _TESTS = "python_programs", "correct_python_programs", "json_testcases", "python_testcases"
_LOADER = "load_testdata.py"
_FLAGS = "import pytest\n\npytest.use_correct = False\npytest.run_slow = True\n\n"
_HIDDEN = '''
import json
from pathlib import Path

from pytest import approx, mark

from {module} import {name}

CASES = [json.loads(line) for line in (Path(__file__).parent / "{name}.json").read_text().splitlines() if line.strip()]


def plain(value):
    """Lists for tuples, generators and other iterables, as the cases are written."""
    if isinstance(value, dict):
        return {{str(key): plain(one) for key, one in value.items()}}
    return [plain(one) for one in value] if hasattr(value, "__iter__") and not isinstance(value, str) else value


@mark.parametrize("case", CASES, ids=str)
def test_case(case):
    given, expected = case
    result = plain({name}(*given) if isinstance(given, list) else {name}(given))
    assert result == (approx(expected) if isinstance(expected, float) else plain(expected))
'''


def quixbugs_tasks(folder: Path) -> list[EvalTask]:
    """Read a checkout of QuixBugs: every Python program that has test cases.

    Raises:
        UsageError: the folder holds no programs.
        ConfigError: a program or its cases cannot be read.
    """
    programs = folder / _PROGRAMS
    if not programs.is_dir():
        raise UsageError(f"{folder} has no folder {_PROGRAMS}", hint="name a checkout of QuixBugs: quixbugs:DIR")
    names = [path.stem for path in sorted(programs.glob("*.py")) if not path.stem.endswith("_test")]
    return [_task(folder, name) for name in names if _has_cases(folder, name)]


def _has_cases(folder: Path, name: str) -> bool:
    return (folder / _CASES / f"{name}.json").is_file() or (folder / _TESTS / f"test_{name}.py").is_file()


def _task(folder: Path, name: str) -> EvalTask:
    path = f"{_PROGRAMS}/{name}.py"
    source = _text(folder / path)
    function, described = _parts(source, name, folder / path)
    node = {"node.py": _text(folder / _PROGRAMS / "node.py")} if (folder / _PROGRAMS / "node.py").is_file() else {}
    correct = folder / _CORRECT / f"{name}.py"
    claims = claims_in(described)
    return EvalTask(
        name=name,
        request=f"{name} in {path} has a bug: it does not do what its description says. Fix it.\n\n{described.strip()}",
        action="fix",
        repository={
            f"{_PROGRAMS}/__init__.py": '"""Classic algorithms."""\n',
            path: source,
            **node,
            "tests/test_programs.py": import_test([module_of(path)]),
        },
        hidden=dict(_hidden(folder, name, path)),
        examples=bool(claims),
        answers=answers_from(
            path=path,
            source=_text(correct) if correct.is_file() else "",
            name=name,
            signature=signature_of(function),
            change="changed",
            claims=[*claims, *_case_claims(folder, name, yields=_yields(function))],
        ),
    )


def _parts(source: str, name: str, place: Path) -> tuple[ast.FunctionDef, str]:
    """The function, and its description: the text that stands at the end of the module, or its docstring."""
    try:
        body = ast.parse(source).body
    except SyntaxError as exc:
        raise ConfigError(f"{place} is not Python 3: {exc.msg}", hint="check out a newer QuixBugs") from exc
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        raise ConfigError(f"{place} does not define {name}", hint="a program is named like its file")
    texts = [
        node.value.value
        for node in body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return found[0], "\n\n".join(texts) or ast.get_docstring(found[0]) or ""


def _hidden(folder: Path, name: str, path: str) -> Iterator[tuple[str, str]]:
    """The set's own tests where it has them, else its cases in a test of ours."""
    own, cases = folder / _TESTS / f"test_{name}.py", folder / _CASES / f"{name}.json"
    if cases.is_file():
        yield f"tests/{name}.json", _text(cases)
        yield f"{_CASES}/{name}.json", _text(cases)
    loader = next((place / _LOADER for place in (folder, folder / _TESTS) if (place / _LOADER).is_file()), None)
    if own.is_file() and (loader or not cases.is_file()):
        yield f"tests/test_hidden_{name}.py", _FLAGS + _text(own)
        if loader:
            yield _LOADER, _text(loader)
    else:
        yield f"tests/test_hidden_{name}.py", _HIDDEN.format(module=module_of(path), name=name).lstrip()


def _yields(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))


def _case_claims(folder: Path, name: str, *, yields: bool) -> Iterator[Claim]:
    """The cases as claims; only the scripted model is told."""
    path = folder / _CASES / f"{name}.json"
    for line in _text(path).splitlines() if path.is_file() else ():
        try:
            given, expected = json.loads(line) if line.strip() else ([], None)
        except ValueError as exc:
            raise ConfigError(
                f"{path} holds a line that is not a case: {exc}", hint="a case is [arguments, result]"
            ) from exc
        arguments = given if isinstance(given, list) else [given]
        if line.strip():
            call = f"{name}({', '.join(map(repr, arguments))})"
            yield Claim(call=_as_written(call, expected, yields=yields), returns=repr(expected))


def _as_written(call: str, expected: object, *, yields: bool) -> str:
    """The call with lists for generators and for tuples: JSON has no others."""
    if isinstance(expected, list) and expected and all(isinstance(one, list) for one in expected):
        return f"list(map(list, {call}))"
    return f"list({call})" if yields else call


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path} cannot be read: {exc}", hint="check out the whole repository") from exc
