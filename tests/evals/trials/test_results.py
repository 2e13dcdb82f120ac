"""The append-only results: what a killed process leaves, what is still missing, how one is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import LockedError, UsageError
from agentforge.evals.trials.results import FILE, TrialPlan, append, begin, find, held, kept, load

PLAN = TrialPlan(name="own", digest="d", models=("m/a",), tasks=("one", "two"), at="2026-11-22T08:00:00Z", version="1")


def _row(task: str, verdict: str = "right") -> dict[str, object]:
    return {"task": task, "model": "m/a", "verdict": verdict}


def test_what_is_missing_is_played_next(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    append(tmp_path, _row("two"))
    results = load(tmp_path)
    assert (results.missing(), results.complete) == ([("m/a", "one")], False)
    append(tmp_path, _row("one"))
    assert [row["task"] for row in load(tmp_path / FILE).rows] == ["one", "two"]
    assert load(tmp_path).complete


def test_a_line_that_was_written_by_half_is_no_row(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    append(tmp_path, _row("one"))
    with (tmp_path / FILE).open("a") as file:
        file.write('{"task": "two", "mod')
    assert load(tmp_path).missing() == [("m/a", "two")]
    append(tmp_path, _row("two", "wrong"))
    assert [row["verdict"] for row in load(tmp_path).rows] == ["right", "wrong"]


def test_an_evaluation_is_never_overwritten(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    with pytest.raises(UsageError, match="holds an evaluation already"):
        begin(tmp_path, PLAN)


def test_evaluations_are_found_by_name_and_the_newest_by_none(tmp_path: Path) -> None:
    begin(tmp_path / "old", PLAN)
    begin(tmp_path / "new", replace(PLAN, at="2026-11-23T08:00:00Z"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / FILE).write_text("no plan\n")
    assert [one.folder.name for one in kept(tmp_path)] == ["new", "old"]
    assert find(None, tmp_path).folder.name == "new"
    assert find("old", tmp_path).folder.name == "old"
    assert find(str(tmp_path / "old"), tmp_path).plan == PLAN
    with pytest.raises(UsageError, match="no evaluation 'other'"):
        find("other", tmp_path)
    with pytest.raises(UsageError, match="does not begin with the plan"):
        load(tmp_path / "broken")


def test_an_evaluation_is_played_by_one_process(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    with held(tmp_path), pytest.raises(LockedError, match="another process"), held(tmp_path):
        pass
    with held(tmp_path):
        append(tmp_path, _row("one"))
