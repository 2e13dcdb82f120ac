"""Runs any command that writes JUnit XML. No canary is planted here: the report is believed, its exit code compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.runners.junit_xml import Case, read_cases
from agentforge.runners.launch import Ground, borrowed, box
from agentforge.runners.outcome import MESSAGE_LIMIT, Failure, SuiteRun, TestOutcome
from agentforge.runners.plan import TestPlan
from agentforge.workspace.process import Completed

_TAIL = 2000


def run_junit(plan: TestPlan, ground: Ground, *, tests: Sequence[str] = (), timeout_s: float) -> SuiteRun:
    """Run the command and read the report that it wrote.

    Args:
        tests: ids or files; node's runner gets the files, any other command runs the whole suite and the rest is left out.
    """
    inside = ground.scratch / "junit.xml"
    report = ground.checkout / plan.junit if plan.junit else inside
    report.unlink(missing_ok=True)
    argv = [part.replace("{junit}", str(inside)) for part in plan.command]
    argv += _node_files(plan, ground, tests)
    env = {name: value.replace("{junit}", str(inside)) for name, value in plan.env.items()}
    with borrowed(plan, ground):
        completed = ground.sandbox.run(argv, box=box(plan, ground, env=env), timeout_s=timeout_s)
        return read_report([report], completed, plan=plan, ground=ground, tests=tests)


def read_report(
    reports: Sequence[Path], completed: Completed, *, plan: TestPlan, ground: Ground, tests: Sequence[str] = ()
) -> SuiteRun:
    """Make a run of the reports that a command wrote and of how it ended."""
    problems: list[str] = []
    cases: list[Case] = []
    for report in reports:
        try:
            cases += read_cases(report)
        except ToolchainError as exc:
            problems.append(exc.message)
    outcomes = _outcomes(cases, root=str(ground.root))
    red = [one for one in outcomes.values() if one.outcome in ("failed", "error")]
    if completed.timed_out:
        problems.append("the suite was stopped at its time limit")
    elif completed.exit_code != 0 and not red:
        problems.append(f"the test command ended with {completed.exit_code}, but no test of its report failed")
    elif completed.exit_code == 0 and red:
        problems.append(f"the test command ended with 0, but {len(red)} tests of its report failed")
    if not outcomes and not problems:
        problems.append("the report holds no test")
    chosen = {name: one for name, one in outcomes.items() if not tests or _wanted(name, tests)}
    return SuiteRun(
        outcomes=chosen,
        collected=tuple(chosen),
        complete=not problems,
        timed_out=completed.timed_out,
        problems=tuple(problems),
        duration_s=round(completed.duration_s, 3),
        output_tail=completed.text[-_TAIL:],
        command=plan.command,
        runner=plan.command[0] if plan.command else "junit",
    )


def _outcomes(cases: Sequence[Case], *, root: str) -> Mapping[str, TestOutcome]:
    """Outcomes by id; a name that stands twice gets a number."""
    found: dict[str, TestOutcome] = {}
    for case in cases:
        parts = [_relative(case.file, root), "" if case.classname in ("test", case.file) else case.classname]
        parts.append(case.suite if not parts[1] and case.suite not in ("", "test", parts[0]) else "")
        name = "::".join(part for part in (*parts, case.name) if part)
        number = 2
        unique = name
        while unique in found:
            unique = f"{name}#{number}"
            number += 1
        found[unique] = TestOutcome(
            id=unique, outcome=case.outcome, duration_s=case.duration_s, failure=_failure(case, root)
        )
    return found


def _failure(case: Case, root: str) -> Failure | None:
    if case.outcome not in ("failed", "error"):
        return None
    text = (case.text or case.message).replace(root + "/", "")
    return Failure(
        exc_type="AssertionError" if case.outcome == "failed" else "Error",
        message=(case.message or case.text)[:MESSAGE_LIMIT],
        file=_relative(case.file, root),
        in_test=case.outcome == "failed",
        text=text[:1500],
    )


def _relative(path: str, root: str) -> str:
    return path[len(root) + 1 :] if path.startswith(root + "/") else path


def _node_files(plan: TestPlan, ground: Ground, tests: Sequence[str]) -> list[str]:
    if plan.command[:2] != ("node", "--test"):
        return []
    files = dict.fromkeys(one.partition("::")[0] for one in tests)
    return [one for one in files if (ground.checkout / one).is_file()]


def _wanted(nodeid: str, tests: Sequence[str]) -> bool:
    return any(nodeid == one or nodeid.startswith(one + "::") or "::" not in one for one in tests)
