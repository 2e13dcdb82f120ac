"""HumanEval, QuixBugs and exercises as they lie on a disk become tasks; what is broken is refused with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from agentforge.errors import ConfigError, UsageError
from agentforge.evals.trials.quixbugs import _as_written
from agentforge.evals.trials.solution import script_of
from agentforge.evals.trials.task_sets import load_set

PROMPT = '''import math


def double(x: int) -> int:
    return 2 * x


def quadruple(x: int, *, by: int = 0) -> int:
    """Give four times x.
    >>> quadruple(2)
    8
    """
'''
CHECKS = (
    "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate(2) == 8\n    assert candidate(double(1)) == 8\n"
)
PROGRAM = '''def twice(n):
    return n + 1


"""
Twice

Input:
    n: an int

Output:
    n and n

Example:
    >>> twice(3)
    6
"""
'''


def _line(**changed: object) -> str:
    value = {"task_id": "HumanEval/7", "prompt": PROMPT, "entry_point": "quadruple", "test": CHECKS}
    return json.dumps({**value, "canonical_solution": "    return double(double(x))\n", **changed}) + "\n"


@pytest.mark.parametrize("packed", [False, True])
def test_humaneval_asks_for_one_function_and_keeps_what_stands_before_it(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("he.jsonl.gz" if packed else "he.jsonl")
    path.write_bytes(gzip.compress(_line().encode()) if packed else _line().encode())
    (task,) = load_set(f"humaneval:{path}").tasks
    assert (task.name, task.action, task.expected, task.examples) == ("HumanEval-7", "create", "right", True)
    assert ">>> quadruple(2)\n    8" in task.request and "def double" not in task.request
    assert "def double" in task.repository["solution.py"] and "quadruple" not in task.repository["solution.py"]
    assert "candidate(double(1))" in task.hidden["tests/test_hidden.py"]
    assert not set(task.hidden) & set(task.repository)
    script = script_of(task, task.answers["honest"])
    written = {call["args"]["path"]: call["args"]["content"] for call in script["green"][0]["tool_calls"][:-1]}
    scope: dict[str, object] = {}
    exec(written["solution.py"], scope)
    assert scope["quadruple"](3) == 12  # type: ignore[operator]


def test_without_examples_the_scripted_model_is_told_the_checks(tmp_path: Path) -> None:
    path = tmp_path / "he.jsonl"
    path.write_text(_line(prompt=PROMPT.replace("    >>> quadruple(2)\n    8\n", "")))
    (task,) = load_set(f"humaneval:{path}").tasks
    assert not task.examples
    assert task.answers["honest"]["criteria"][0] == "quadruple(2) -> 8"
    path.write_text(_line(canonical_solution=""))
    assert load_set(f"humaneval:{path}").tasks[0].answers == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "he.jsonl:1 is not JSON"),
        ('{"task_id": "a"}', "has no prompt, entry_point, test"),
        (_line(entry_point="other"), "does not define other"),
        (_line(prompt="def quadruple("), "is not Python"),
    ],
)
def test_a_line_that_is_no_task_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "he.jsonl"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        load_set(f"humaneval:{path}")


def _quixbugs(folder: Path) -> Path:
    for name, text in {
        "python_programs/twice.py": PROGRAM,
        "python_programs/node.py": "class Node:\n    pass\n",
        "python_programs/twice_test.py": "print()\n",
        "correct_python_programs/twice.py": PROGRAM.replace("n + 1", "n + n"),
        "json_testcases/twice.json": "[[1], 2]\n[[5], 10]\n\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_quixbugs_asks_with_the_description_and_hides_the_cases(tmp_path: Path) -> None:
    (task,) = load_set(f"quixbugs:{_quixbugs(tmp_path)}").tasks
    assert (task.name, task.action, task.examples) == ("twice", "fix", True)
    assert "twice in python_programs/twice.py has a bug" in task.request and ">>> twice(3)\n    6" in task.request
    assert task.repository["python_programs/twice.py"] == PROGRAM
    assert "[[5], 10]" in task.hidden["tests/twice.json"]
    assert not any("10" in text for text in task.repository.values())
    assert task.answers["honest"]["criteria"] == ["twice(3) -> 6", "twice(1) -> 2", "twice(5) -> 10"]


def test_the_tests_of_quixbugs_itself_are_preferred(tmp_path: Path) -> None:
    folder = _quixbugs(tmp_path)
    (folder / "python_testcases").mkdir()
    own = "import pytest\nif pytest.use_correct:\n    pass\nfrom python_programs.twice import twice\n\n\ndef test():\n    assert twice(2) == 4\n"
    (folder / "python_testcases" / "test_twice.py").write_text(own)
    (folder / "load_testdata.py").write_text("x = 1\n")
    (task,) = load_set(f"quixbugs:{folder}").tasks
    assert task.hidden["tests/test_hidden_twice.py"].startswith("import pytest\n\npytest.use_correct = False")
    assert "load_testdata.py" in task.hidden


def test_an_exercise_is_asked_with_its_instructions(tmp_path: Path) -> None:
    folder = tmp_path / "exercises" / "practice" / "two-fer"
    for name, text in {
        ".docs/instructions.md": "# Instructions\n\nSay one for you.\n",
        ".docs/instructions.append.md": "Use f-strings.\n",
        ".meta/config.json": json.dumps(
            {"files": {"solution": ["two_fer.py"], "test": ["two_fer_test.py"], "example": [".meta/example.py"]}}
        ),
        ".meta/example.py": "def two_fer(name='you'):\n    return f'One for {name}.'\n",
        "two_fer.py": "def two_fer(name):\n    pass\n",
        "two_fer_test.py": "import unittest\nfrom two_fer import two_fer\n\n\nclass TwoFerTest(unittest.TestCase):\n    def test_no_name(self):\n        self.assertEqual(two_fer(), 'One for you.')\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (task,) = load_set(f"exercism:{tmp_path}").tasks
    assert (task.name, list(task.hidden)) == ("two-fer", ["two_fer_test.py"])
    assert "Say one for you." in task.request and "Use f-strings." in task.request
    assert ".meta/example.py" not in task.repository and "two_fer_test.py" not in task.repository
    assert task.answers["honest"]["symbols"] == [
        {"name": "two_fer", "file": "two_fer.py", "kind": "function", "change": "changed"}
    ]
    config = tmp_path / "exercises" / "practice" / "two-fer" / ".meta" / "config.json"
    config.write_text('{"files": {"solution": [], "test": [], "example": []}}')  # as many real ones have it
    assert load_set(f"exercism:{tmp_path}").tasks[0].hidden == task.hidden
    config.write_text('{"files": {"test": ["test_two.py"]}}')
    with pytest.raises(ConfigError, match="has no test_two"):
        load_set(f"exercism:{tmp_path}")


def test_results_of_tuples_are_claimed_as_the_cases_write_them() -> None:
    assert _as_written("hanoi(1, 1, 3)", [[1, 3]], yields=False) == "list(map(list, hanoi(1, 1, 3)))"
    assert _as_written("flatten([1])", [1], yields=True) == "list(flatten([1]))"
    assert _as_written("gcd(3, 12)", 3, yields=False) == "gcd(3, 12)"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("owm", "no task set"),
        ("quixbugs", "needs a folder"),
        ("quixbugs:.", "no folder python_programs"),
        ("exercism:.", "no exercise"),
    ],
)
def test_a_set_that_is_not_there_is_a_usage_error(
    word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        load_set(word)
