"""Rules about the repair of violations. All of them read measured facts."""

from __future__ import annotations

from agentforge.contracts.rule import RuleCase, RuleOutcome, broken, empty, held, named, none_of


def violations_present(case: RuleCase) -> RuleOutcome:
    """Measured: what is to be repaired stands at the base commit."""
    targets = case.fact_list("targets")
    gone = case.fact_list("gone")
    if targets and not gone:
        return held(len(targets))
    return none_of(gone or ["no violation"], what="not found at the base commit", fix="check the repository anew")


def violations_gone(case: RuleCase) -> RuleOutcome:
    """Measured: the checks no longer find what was to be repaired."""
    crashed = case.fact_list("not_measured")
    if crashed:
        return none_of(crashed, what="could not be looked at again", fix="a check that crashes has failed")
    return none_of(case.fact_list("violations_left"), what="still there", fix="correct the code at this place")


def guards_still_pass(case: RuleCase) -> RuleOutcome:
    """Executed: the guard tests pass on the repaired tree, in random order, as often as they were run."""
    failing = case.fact_record("suite").get("failing")
    if not isinstance(failing, list | tuple):
        return broken("suite.failing was not measured")
    return none_of(failing, what="guard tests that do not pass", fix="keep the behaviour, correct the repair")


_GUARDED = empty(
    "unguarded",
    what="no test notices when this code fails",
    fix="write guard tests that execute this code and assert what it gives today",
)
"""Executed: with the code at the place made to fail, a test fails; or nobody can tell (another language)."""

RULES = named(
    ("violations-present", "every violation stands at the base commit", violations_present, "fact"),
    ("violations-gone", "every violation is gone", violations_gone, "fact"),
    ("place-guarded", "tests watch the place of every violation", _GUARDED, "fact"),
    ("guards-still-pass", "the guard tests still pass", guards_still_pass, "fact"),
)
