"""Rules about what the tests execute of a change, and about tests that RED adds when it is opened again."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import RuleCase, RuleOutcome, broken, held, judged, named, none_of, text


def recorder_kept(case: RuleCase) -> RuleOutcome:
    """Executed: where the base could be traced line by line, the change can be, too."""
    coverage = case.fact_record("coverage")
    lost = coverage.get("lost")
    if not lost:
        return held(coverage.get("executed", 0))
    return broken(
        f"what the tests execute could not be recorded: another tracer took over during {lost}", measured=lost
    )


def mapping_executed(case: RuleCase) -> RuleOutcome:
    """Executed: the tests of each requirement run lines of the change, and a function that the requirement names.

    A changed function that loading its file calls counts as run by a test that failed at the base, passes now, and runs a
    function of that file or of a module that imports it.
    """
    rows = _rows(case.fact_record("coverage"), "requirements")
    wrong = [
        ("test_files", f"the tests of {text(row, 'id')} execute nothing of what was changed for it: {_tests(row)}")
        for row in rows
        if row.get("touches") is not True
    ]
    return judged(wrong, measured=len(rows), fix="implement what the requirement asks for, where its tests reach it")


def nothing_untested(case: RuleCase) -> RuleOutcome:
    """Executed: the change holds no behaviour that no test runs; what only refuses (`raise`) is listed, not counted.

    A new function that nobody declared and nobody runs is refused at once; the rest when RED cannot add tests any more.
    """
    coverage = case.fact_record("coverage")
    rows = [row for row in _rows(coverage, "untested") if row.get("inert") is not True]
    if coverage.get("blind") is True:
        return held(len(rows))
    if coverage.get("returns_left") is True:
        rows = [row for row in rows if row.get("extra") is True]
    allowed = coverage.get("untested_allowed")
    count = sum(number for row in rows if isinstance(number := row.get("statements"), int))
    if count <= (allowed if isinstance(allowed, int) else 0):
        return held(count)
    places = [f"{row.get('path')}:{row.get('lines')}" + _inside(row) for row in rows]
    return none_of(
        places,
        what="executed by no test",
        fix="take out what the specification does not ask for; what it asks for must be reached by its tests",
    )


def refits_hold(case: RuleCase) -> RuleOutcome:
    """Executed: a test of the base that passes with a new text alone notices wrong versions of the product as it did before."""
    refits = case.facts.get("refits")
    rows = _rows(refits, "lost") if isinstance(refits, Mapping) else []
    wrong = [("files_modified", f"{text(row, 'id')} {text(row, 'text')}") for row in rows]
    fix = "let the test, its fixture or its helper use the real product again and assert what it gives"
    return judged(wrong, measured=len(rows), fix=fix)


def added_tests_tell(case: RuleCase) -> RuleOutcome:
    """Executed: when RED was opened again, what it added shows something that the suite did not show.

    One test at least notices a listed mutant, runs a listed line, or finds the tree wrong; no test is broken itself.
    """
    added = case.facts.get("added")
    if not isinstance(added, Mapping):
        return held(0)
    changed = added.get("changed")
    if isinstance(changed, list | tuple) and changed:
        return none_of(changed, what="changed, though tests may only be added", fix="put them back, use a new file")
    rows = _rows(added, "tests")
    wrong = [("test_files", f"{text(row, 'id')}: {text(row, 'reason')}") for row in rows if row.get("ok") is not True]
    idle = [row for row in rows if row.get("counts") is False]
    if not rows and not added.get("equivalents"):
        wrong = [("test_files", "no test was added and no mutant was named as equivalent")]
    elif rows and not wrong and len(idle) == len(rows):
        wrong = [("test_files", f"{text(row, 'id')}: {text(row, 'reason')}") for row in idle]
    return judged(wrong, measured=len(rows), fix="assert what a listed change alters")


def _rows(record: Json, name: str) -> list[Json]:
    value = record.get(name)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def _tests(row: Json) -> str:
    names = [text(test, "id") for test in _rows(row, "tests")]
    return ", ".join(names[:4]) or "none of them ran"


def _inside(row: Json) -> str:
    return f" in {row.get('function')}" if row.get("function") else ""


RULES = named(
    ("recorder-kept", "what tests execute could be recorded", recorder_kept, "fact"),
    ("mapping-executed", "the tests of every requirement execute the change", mapping_executed, "fact"),
    ("refits-hold", "tests that change with the product still test it", refits_hold, "fact"),
    ("nothing-untested", "no untested extra behaviour", nothing_untested, "fact"),
    ("added-tests-tell", "every added test shows something new", added_tests_tell, "fact"),
)
