"""Two runs side by side, in words."""

from __future__ import annotations

from agentforge.views.compare import compare_lines

RUN = {"task_id": "t", "outcome": "delivered", "models": ["p/m"]}


def _verdict(passed: bool, message: str = "") -> dict[str, object]:
    return {"passed": passed, "message": message}


def test_verdicts_that_differ_are_told_one_by_one_and_stages_of_one_run_counted() -> None:
    verdicts = [
        {"name": "green: schema", "a": _verdict(True), "b": _verdict(True)},
        {"name": "green: held-out", "a": _verdict(True), "b": _verdict(False, "f(1) gave 2")},
        {"name": "refactor: schema", "a": _verdict(True), "b": None},
        {"name": "refactor: held-out", "a": _verdict(True), "b": None},
        {"name": "guard: schema", "a": None, "b": _verdict(True)},
    ]
    value = {
        "a": RUN, "b": RUN, "totals": [], "same": {}, "stages": [], "artifacts": [], "requirements": [], "tests": [],
        "verdicts": verdicts, "changes": {"files": [], "same_tree": True},
    }  # fmt: skip
    lines = compare_lines(value)
    start = lines.index("verdicts")
    assert lines[start + 1 : lines.index("", start)] == [
        "  1 the same",
        "  green: held-out",
        "    A holds",
        "    B does not hold: f(1) gave 2",
        "  refactor: 2 rules only in A",
        "  guard: 1 rule only in B",
    ]


def test_every_model_that_answered_is_named_on_its_side() -> None:
    value = {
        "a": {**RUN, "models": ["p/small", "p/large"]}, "b": RUN, "totals": [], "same": {"model": False}, "stages": [],
        "artifacts": [], "requirements": [], "tests": [], "verdicts": [], "changes": {"files": [], "same_tree": True},
    }  # fmt: skip
    told = [line.split() for line in compare_lines(value) if line.startswith("model")]
    assert told == [["model", "p/small", "p/m"], ["model", "p/large"]]


def test_the_name_of_a_stage_does_not_run_into_what_it_did() -> None:
    stage = {"status": "verified", "attempts": 1, "steps": 1, "tokens": 1042, "cost_usd": 0}
    rows = [{"name": "spec", "a": stage, "b": None}, {"name": "threat_model", "a": stage, "b": stage}]
    value = {
        "a": RUN, "b": RUN, "totals": [], "same": {}, "stages": rows, "artifacts": [], "requirements": [], "tests": [],
        "verdicts": [], "changes": {"files": [], "same_tree": True},
    }  # fmt: skip
    lines = compare_lines(value)
    start = lines.index("stages")
    assert lines[start + 1 : lines.index("", start)] == [
        "  spec         A verified, attempts 1, steps 1, 1,042 tokens",
        "               B -",
        "  threat_model A verified, attempts 1, steps 1, 1,042 tokens",
        "               B verified, attempts 1, steps 1, 1,042 tokens",
    ]
