"""What the tests of a change do not show, in one line."""

from __future__ import annotations

from typing import Any

import pytest

from agentforge.pipeline.facts.traceability import untested_line

COVERED = {"measured": True, "untested": []}
NOTICED = {"measured": True, "run": 14, "killed": 14, "survivors": []}


def survivor(line: int) -> dict[str, object]:
    return {"path": "core.py", "line": line, "before": "a < b", "after": "(a <= b)"}


def unrun(lines: str, count: int, **more: object) -> dict[str, object]:
    return {"path": "core.py", "lines": lines, "statements": count, "inert": False, **more}


@pytest.mark.parametrize(
    ("coverage", "mutation", "line"),
    [
        (COVERED, NOTICED, "Untested: nothing was found, the tests notice all 14 mutants and run every changed statement"),
        (COVERED, {"measured": False, "note": "it is off"}, "Untested: unknown how far, because no mutants were run: it is off"),
        ({"measured": False, "note": "go"}, NOTICED, "Untested: nothing was found, the tests notice all 14 mutants"),
        (
            {"measured": True, "untested": [unrun("52", 1), unrun("60-61", 2, inert=True)]},
            {**NOTICED, "survivors": [survivor(31), survivor(40)]},
            "Untested: 2 of 14 mutants survive in core.py:31, core.py:40; 1 statement is run by no test (core.py:52)",
        ),
        (
            {"measured": True, "untested": [unrun(str(number), 2) for number in range(6)]},
            NOTICED,
            "Untested: 12 statements are run by no test (core.py:0, core.py:1, core.py:2, core.py:3 and 2 more places)",
        ),
        ({}, {}, ""),
        ({"measured": False, "needed": False}, {"measured": False, "needed": False, "note": "words alone"}, ""),
    ],
)  # fmt: skip
def test_one_line_names_what_no_test_shows(coverage: Any, mutation: Any, line: str) -> None:
    assert untested_line(coverage, mutation) == line


def test_a_survivor_that_changes_nothing_is_told_as_its_author_told_it() -> None:
    mutation: Any = {**NOTICED, "survivors": [survivor(31), survivor(40)]}
    line = untested_line(COVERED, mutation, equivalent=frozenset({"core.py:31: a < b -> (a <= b)"}))
    assert line == (
        "Untested: 1 of 14 mutants survive in core.py:40; 1 that survive change nothing, says the author of the tests"
    )
