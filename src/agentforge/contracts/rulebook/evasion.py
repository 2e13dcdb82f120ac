"""Rules about changes that steer the judgement instead of satisfying it: hooks, the project's checks."""

from __future__ import annotations

from agentforge.contracts.rule import RuleCase, RuleOutcome, named, none_of


def no_runner_hooks(case: RuleCase) -> RuleOutcome:
    """Measured by older versions, whose contracts still name it: no file of RED adds a hook of the test runner."""
    fix = "write a fixture instead; a hook decides what becomes of tests"
    return none_of(case.fact_list("runner_hooks"), what="hooks of the test runner were added", fix=fix)


def checks_unchanged(case: RuleCase) -> RuleOutcome:
    """Measured: CI, hooks, lint, type and coverage configuration say what they said at the base, unless the request asks."""
    fix = "put it back; the request does not ask for it"
    return none_of(case.fact_list("checks_changed"), what="the project's own checks were changed", fix=fix)


RULES = named(
    ("no-runner-hooks", "no new hook of the test runner", no_runner_hooks, "fact"),
    ("checks-unchanged", "the project's checks are those of the base", checks_unchanged, "fact"),
)
