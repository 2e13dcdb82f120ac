"""What is told of a run of tests that ended early: one finding, and nothing of what only follows from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.contracts.contract import Json
from agentforge.contracts.rule import RuleCase, RuleOutcome, text

_FIX: Mapping[str, str] = {
    "base": "run such a call in a process of its own (subprocess, with a limit) and assert how that ends",
    "change": "correct the implementation: no call of it may end the process that makes the call",
}


def ended_early(case: RuleCase) -> Json:
    """Read how the run ended that was cut short; {} where every run came to its end, and in facts of older versions."""
    told = case.facts.get("ended_early")
    return told if isinstance(told, Mapping) else {}


def without_result(case: RuleCase) -> frozenset[str]:
    """List the ids that other facts name and that have no result because the run ended early."""
    lost = ended_early(case).get("lost")
    return frozenset(map(str, lost)) if isinstance(lost, list | tuple) else frozenset()


def ending(case: RuleCase) -> str:
    """Say how the process ended, while which test ran, what it printed last, and what to do."""
    told = ended_early(case)
    running, after, said = text(told, "running"), text(told, "after"), text(told, "said")
    number, name = told.get("signal"), text(told, "signal_name")
    how = (
        f"by signal {number}{f' ({name})' if name else ''}"
        if number
        else f"early, with exit code {told.get('exit_code')}"
    )
    where = f"while {running} ran" if running else f"after {after}" if after else "before any test had a result"
    printed = f"; the last that it printed: {said}" if said else ""
    fix = _FIX.get(text(told, "at"), _FIX["base"])
    return f"the process that ran the tests ended {how} {where}; what came behind it has no result{printed} - {fix}"


def proves_nothing(case: RuleCase) -> bool:
    """Whether another rule says already that the run is no evidence: it ended early, or one of its controls did not hold."""
    return bool(ended_early(case)) or case.fact_record("controls").get("held") is False


def unshown(measured: object) -> RuleOutcome:
    """The rule is not shown to hold, only because the run is no evidence; the control says so, and nobody is told it twice."""
    message = "this was not shown: the run of the tests ended early, or one of its controls did not hold"
    return RuleOutcome(passed=False, message=message, measured=measured, follows=True)
