"""Rules about the tree that is to be committed, as GREEN and REFACTOR leave it. All of them read measured facts."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.early_end import ended_early, ending, unshown, without_result
from agentforge.contracts.inspection import needs_inertness
from agentforge.contracts.rule import (
    NotMeasuredError,
    RuleCase,
    RuleOutcome,
    broken,
    empty,
    entries,
    held,
    named,
    none_of,
    text,
)

_TOLD = 6
_LOST: Mapping[str, tuple[object, ...]] = {
    "canary": ("broken",),
    "complete": (False, None),
    "timed_out": (True,),
    "agree": (False,),
    "stubs": (False, None),
}
"""What each control says when it was lost. A runner without a canary or a second channel says "absent" or None of it;
`held` tells whether every control that the runner can have has held."""


def suite_passes(case: RuleCase) -> RuleOutcome:
    """Executed in a fresh checkout: every test of the suite passed."""
    failing = case.fact_record("suite").get("failing")
    if not isinstance(failing, list | tuple):
        raise NotMeasuredError("suite.failing was not measured")
    run, lost = case.fact("tests_run"), without_result(case)
    names = [row.get("id", "") if isinstance(row, Mapping) else row for row in failing]
    names = [name for name in names if name not in lost]
    if names:
        return none_of(names, what="tests that do not pass", fix="correct the implementation, not the tests")
    if ended_early(case):
        return unshown(run)
    least = 0 if _inert(case) else 1  # a project may have no test, and documents need none
    if case.fact("all_tests_pass") is not True or not isinstance(run, int) or run < least:
        return broken("the tests of the suite were not shown to pass", measured=run)
    return held(run)


def conformance_passes(case: RuleCase) -> RuleOutcome:
    """Measured: no new finding, and no check that could not run."""
    conformance = case.fact_record("conformance")
    crashed, new = conformance.get("crashed"), conformance.get("new")
    if not isinstance(crashed, list | tuple) or not isinstance(new, list | tuple):
        raise NotMeasuredError("conformance.new and conformance.crashed were not measured")
    if crashed:
        return none_of(crashed, what="checks that could not run", fix="a check that crashes has failed")
    if new or conformance.get("passed") is not True:
        return none_of(new or ["conformance"], what="new findings", fix="correct the code, do not suppress")
    return held(0)


def no_regressions(case: RuleCase) -> RuleOutcome:
    """Executed: every test that passed at the base is still there and still passes."""
    lost = case.fact_list("regressions")
    if lost:
        hidden = case.facts.get("under_old_text")
        only_there = isinstance(hidden, list | tuple) and set(lost) <= set(hidden)
        what = "and fail now as they stood there, with the old fixtures and data" if only_there else "and do not now"
        fix = "; a fixture that has to change is listed by SPEC as a changed symbol" if only_there else ""
        return none_of(lost, what=f"passed at the base {what}", fix=f"keep existing behaviour{fix}")
    missing, without = case.fact_list("missing"), without_result(case)
    gone = [name for name in missing if name not in without]
    if gone:
        fix = (
            "put them back; where the request ends them the specification must say so, which a human decides: name them"
        )
        return none_of(gone, what="passed at the base, are gone, and their old text fails now", fix=fix)
    if ended_early(case):
        return unshown(len(missing))
    if case.fact("no_regressions") is not True:
        return broken("the whole suite was not shown to be free of regressions", measured=False)
    return held(0)


def not_flaky(case: RuleCase) -> RuleOutcome:
    """Executed several times, in random order: no test of the suite changed its mind. Others are the base's own."""
    suite = case.input("test_suite")
    files = {text(item, "path") for _, item in entries(suite, "test_files")}
    flaky = [name for name in case.fact_list("flaky") if not files or str(name).partition("::")[0] in files]
    fix = "make the behaviour independent of order and chance"
    return none_of(flaky, what="passed once and failed once", fix=fix)


def change_made(case: RuleCase) -> RuleOutcome:
    """Measured: a product file differs from the base; guards pass without one, so nothing else would notice."""
    own = case.fact_list("test_files")
    product = [item for item in case.fact_list("changes") if isinstance(item, Mapping) and item.get("path") not in own]
    if product:
        return held(len(product))
    return broken("no product file was changed - make the change that the specification describes", measured=0)


def inspection_inert(case: RuleCase) -> RuleOutcome:
    """Measured: where no test shows a requirement, nothing runs otherwise than at the base: documents, types, settings."""
    specification, suite = case.input("specification") or {}, case.input("test_suite") or {}
    intent = (case.input("intake_record") or {}).get("extracted_intent")
    action = text(intent, "action") if isinstance(intent, Mapping) else ""
    tests = [test for _, file in entries(suite, "test_files") for _, test in entries(file, "tests")]
    kinds = [text(test, "kind") or "target" for test in tests]
    if "inert" not in case.facts and not needs_inertness(specification, kinds=kinds, action=action):
        return held("tests show it")
    inert = case.fact_record("inert")
    changes = inert.get("changes")
    if _inert(case) and not changes:
        return held(inert.get("words"))
    fix = "take it out; where the request asks for it, a test must show it and the specification must say so"
    found = changes if isinstance(changes, list | tuple) and changes else ["what was changed was not compared"]
    return none_of(found, what="verified by inspection, and it runs otherwise than before", fix=fix)


def _inert(case: RuleCase) -> bool:
    inert = case.facts.get("inert")
    return isinstance(inert, Mapping) and inert.get("passed") is True


def held_out_pass(case: RuleCase) -> RuleOutcome:
    """Executed outside the test runner: every example gives the very value and type that request and specification say."""
    measured = case.fact_record("held_out")
    failed = measured.get("failed")
    if not isinstance(failed, list | tuple):
        raise NotMeasuredError("held_out.failed was not measured")
    rows = [f"{text(row, 'requirement')} {text(row, 'text')}".strip() for row in failed if isinstance(row, Mapping)]
    if len(rows) != len(failed):
        raise NotMeasuredError("held_out.failed was not measured as a list of records")
    if not rows:
        return held(measured.get("checked"))
    more = f" and {len(rows) - _TOLD} more" if len(rows) > _TOLD else ""
    fix = "give the values and types that request and specification state, for every input"
    return broken(f"checks in a plain process failed: {'; '.join(rows[:_TOLD])}{more} - {fix}", measured=len(rows))


def independent(case: RuleCase) -> RuleOutcome:
    """Executed: what is expected of a call holds wherever it is made: for any user, folder, program name, hash seed, under -O.

    What was not measured (another language, a suite that fails) decides nothing: other rules look at that.
    """
    measured = case.facts.get("dependencies")
    rows = measured.get("found") if isinstance(measured, Mapping) else ()
    found = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []
    wrong = [
        f"{text(row, 'call')} gives {_which(row)} result {text(row, 'circumstance')}{_became(row)}"
        for row in found
        if row.get("decides") is True
    ]
    fix = "compute the result from the arguments alone"
    return none_of(wrong, what="expected results that hold under some circumstances only", fix=fix)


def _which(row: Mapping[str, object]) -> str:
    return "its" if text(row, "circumstance").startswith("and ") else "another"


def _became(row: Mapping[str, object]) -> str:
    return f": {row.get('after')}" if row.get("after") else ""


def controls_held(case: RuleCase) -> RuleOutcome:
    """Every control of the measurement held: canary, complete stream, channels that agree."""
    controls = case.fact_record("controls")
    needed = {"held": True} if "held" in controls else {"canary": "held", "complete": True, "agree": True}
    lost = [f"{name} is {controls.get(name)}" for name, good in needed.items() if controls.get(name) != good]
    if lost and "held" in needed and controls.get("canary") == "absent":
        lost = ["the planted test that must fail did not run"]
    ended = text(controls, "stubs_ended")
    lost += [
        f"{name} is {value}{f' ({ended})' if name == 'stubs' and ended else ''}"
        for name, value in controls.items()
        if value in _LOST.get(name, ())
    ]
    if lost and ended_early(case):
        return broken(ending(case), measured=len(lost))
    fix = "the run proves nothing; nothing may steer, stop or replace the runner"
    return none_of(dict.fromkeys(lost), what="controls that did not hold", fix=fix)


def road_held(case: RuleCase) -> RuleOutcome:
    """Measured: links lead somewhere, examples give what they say, changed modules load, settings can be read, as at the base.

    Of a change of code nothing of the kind is judged; a log from before this was measured has nothing to judge.
    """
    road = case.facts.get("road")
    if not isinstance(road, Mapping):
        return held("not measured")
    problems = road.get("problems")
    rows = [one for one in problems if isinstance(one, Mapping)] if isinstance(problems, list | tuple) else []
    return none_of(rows, what="documents, types or settings that do not hold", fix="correct these places")


_FROZEN = empty("frozen_changed", what="frozen tests were changed", fix="put them back")
_RUNNER = empty("config_changed", what="test configuration was changed", fix="put it back; the base version was used")
_SCOPE = empty(
    "out_of_scope",
    what="changed beyond the specification",
    fix="put these files back, the specification does not name them",
)
_SUPPRESSIONS = empty("new_suppressions", what="new suppressions", fix="correct what they hide")
_SYMBOLS = empty(
    "symbols_unmet",
    what="declared symbols that the tree does not bear out",
    fix="make the change that the specification describes",
)
_TARGETS = empty(
    "tests_too_weak",
    what="targets that pass without the change",
    fix="nothing but the behaviour may make a test pass; a test that needs no change must be rewritten in RED",
)
"""Executed: with wrong bodies in every changed function each target fails again."""
_DECEPTION = empty(
    "deceptions",
    what="code that deceives the verification",
    fix="take it out; where the task needs it, the specification must declare it, which a human decides",
)
_CHECKS = empty(
    "checks_changed", what="the project's own checks were changed", fix="put it back; the request does not ask for it"
)
"""Measured: CI, hooks, lint, type and coverage configuration say what they said at the base, unless the request asks."""

RULES = named(
    ("suite-passes", "all tests from test_suite now pass", suite_passes, "fact"),
    ("conformance", "conformance checks pass", conformance_passes, "fact"),
    ("no-regressions", "no existing tests broken", no_regressions, "fact"),
    ("frozen-unchanged", "frozen tests unchanged", _FROZEN, "fact"),
    ("runner-unchanged", "the test configuration is that of the base", _RUNNER, "fact"),
    ("within-scope", "changed files are within the specification's scope", _SCOPE, "fact"),
    ("no-suppressions", "no new suppressions", _SUPPRESSIONS, "fact"),
    ("not-flaky", "no test of the suite is flaky", not_flaky, "fact"),
    ("inspection-inert", "what no test shows changes nothing that runs", inspection_inert, "fact"),
    ("symbols-delivered", "declared symbols are there and removed ones are gone", _SYMBOLS, "fact"),
    ("held-out", "held-out checks pass outside the test runner", held_out_pass, "fact"),
    ("independent", "expected results hold under other circumstances", independent, "fact"),
    ("targets-depend", "every target fails without the change", _TARGETS, "fact"),
    ("no-deception", "no code that deceives the verification", _DECEPTION, "fact"),
    ("checks-unchanged", "the project's checks are those of the base", _CHECKS, "fact"),
    ("road-held", "what documents, types and settings say holds", road_held, "fact"),
    ("change-made", "a product file was changed", change_made, "fact"),
    ("controls-held", "controls held", controls_held, "fact"),
)
