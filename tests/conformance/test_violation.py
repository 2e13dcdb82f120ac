"""The base line knows old violations again when lines move and files are renamed; everything else is open."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentforge.conformance.engine.check_engine import CheckReport, compare
from agentforge.conformance.engine.finding import Finding, fingerprinted
from agentforge.conformance.engine.recognition import told_once
from agentforge.conformance.engine.violation import Violation, baseline_text, read_baseline, violations
from agentforge.errors import ConfigError

Files = Mapping[str, str]


def found(files: Files, *, rule: str = "F401", word: str = "import") -> tuple[Finding, ...]:
    """One finding for every line that holds the word."""
    rows = [
        Finding(check="ruff", rule_id=rule, level="error", message="unused", path=path, line=number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if word in line
    ]
    return fingerprinted(rows, read_line=lambda path, line: files[path].splitlines()[line - 1])


def standing(before: Files, now: Files) -> list[tuple[str, int, str]]:
    kept = read_baseline(baseline_text(listed(before)), source="baseline.json")
    after = violations(found(now), baseline=kept, present=now, lines={})
    return [(one.finding.path, one.finding.line, one.status) for one in after]


def listed(files: Files) -> tuple[Violation, ...]:
    return violations(found(files), baseline=(), present=files, lines={})


OLD = {"a.py": "import os\nx = 1\nimport os\n", "b.py": "import os\n"}


def test_what_stood_in_the_base_line_is_known_when_its_line_moves() -> None:
    moved = {**OLD, "a.py": "'''Doc.'''\n\nimport  os\nx = 1\nimport os\n"}
    assert {status for _, _, status in standing(OLD, moved)} == {"baselined"}


def test_what_stood_in_the_base_line_is_known_when_its_file_is_renamed() -> None:
    renamed = {"pkg/c.py": OLD["a.py"], "b.py": OLD["b.py"]}
    assert {status for _, _, status in standing(OLD, renamed)} == {"baselined"}


def test_a_copy_is_new_however_equal_its_lines_are() -> None:
    copied = {**OLD, "copy.py": OLD["b.py"]}
    assert [row for row in standing(OLD, copied) if row[2] == "open"] == [("copy.py", 1, "open")]


def test_one_more_of_the_same_is_new() -> None:
    more = {**OLD, "b.py": "import os\nimport os\n"}
    assert [row for row in standing(OLD, more) if row[2] == "open"] == [("b.py", 2, "open")]


def test_a_file_that_is_not_gone_keeps_its_findings_for_itself() -> None:
    cleaned = {"a.py": "x = 1\n", "b.py": "import os\n", "c.py": "import os\n"}
    assert [row for row in standing(OLD, cleaned) if row[2] == "open"] == [("c.py", 1, "open")]


def test_ids_stay_when_lines_move_and_differ_from_file_to_file() -> None:
    ids = [one.violation_id for one in listed(OLD)]
    assert len(set(ids)) == 3
    assert [one.violation_id for one in listed({**OLD, "a.py": "\n\n" + OLD["a.py"]})] == ids


@pytest.mark.parametrize("text", ["", "[]", '{"findings": [{}]}', '{"findings": 3}'])
def test_a_base_line_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError):
        read_baseline(text, source="baseline.json")


def test_findings_follow_a_renamed_file_when_two_trees_are_compared() -> None:
    before = CheckReport(findings=found(OLD), ran=("ruff",))
    renamed = CheckReport(findings=found({"pkg/c.py": OLD["a.py"], "b.py": OLD["b.py"]}), ran=("ruff",))
    assert compare(before, renamed).new == ()
    assert compare(before, renamed).gone == ()


def say(check: str, rule: str, level: str = "error") -> Finding:
    return Finding(check=check, rule_id=rule, level=level, message="", path="a.py", line=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([("ruff", "F821"), ("ty", "unresolved-reference"), ("mypy", "name-defined")], ["ruff"]),
        ([("ty", "invalid-argument-type"), ("mypy", "arg-type")], ["mypy"]),
        ([("flake8", "E501"), ("ruff", "E501")], ["ruff"]),
        ([("ruff", "F821"), ("ty", "missing-argument")], ["ruff", "ty"]),
        ([("ruff", "F821"), ("ruff", "B018")], ["ruff", "ruff"]),
    ],
)
def test_what_several_checks_say_of_a_line_is_told_once(given: list[tuple[str, str]], kept: list[str]) -> None:
    assert [one.check for one in told_once([say(*one) for one in given])] == kept


def test_a_note_never_hides_what_counts() -> None:
    rows = [say("ruff", "F821", "note"), say("ty", "unresolved-reference")]
    assert [one.check for one in told_once(rows)] == ["ty"]
