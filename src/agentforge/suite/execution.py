"""Runs a suite by its plan: chooses the runner, and nothing else.

Runs any command that writes JUnit XML. No canary is planted here: the report is believed, its exit code compared.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.errors import ToolchainError
from agentforge.languages.catalogue import of_runner
from agentforge.languages.language import RunOptions
from agentforge.testing.junit_xml import JunitCase, read_cases
from agentforge.testing.launch import TestSandbox, borrowed, box, ground
from agentforge.testing.outcome import MESSAGE_LIMIT, EarlyEnd, Failure, SuiteRun, TestOutcome
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_stream import SIGNALLED, last_words, selected, with_last_words
from agentforge.workspace.processes.process import Completed
from agentforge.workspace.sandbox.box import Sandbox
from agentforge.workspace.sandbox.toolchain import every_download


def run_suite(
    plan: TestPlan,
    ask: RunOptions,
    *,
    checkout: Path,
    mount_at: Path,
    sandbox: Sandbox,
    scratch: Path | None = None,
    protected: tuple[str, ...] = (),
    built: Path | None = None,
) -> SuiteRun:
    """Run the suite of a checkout, or the named tests of it.

    Args:
        checkout: the folder whose tests run; it may be written to.
        mount_at: the user's repository, absolute; the sandbox shows the checkout there.
        scratch: parent of the run's scratch folder.
        protected: repository paths that are read-only while the tests run (in the sandbox only).
        built: see `TestSandbox`.
    Raises:
        ToolchainError: the plan cannot be run: no runner, no pytest, no interpreter.
        SandboxError: the box cannot be built.
    """
    with ground(
        checkout=checkout, mount_at=mount_at, sandbox=sandbox, scratch=scratch, protected=protected, built=built
    ) as place:
        if plan.runner == "none":
            raise ToolchainError("; ".join(plan.problems) or "the repository has no tests that can be run")
        language = of_runner(plan.runner)
        if language is None:
            return run_junit(plan, place, tests=ask.tests, timeout_s=ask.timeout_s)
        return language.run(plan, place, ask)


_TAIL = 2000
_SKIPPED = frozenset({".git", "node_modules", "target", "build", ".venv"})
_HEAD = re.compile(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Failure))\b")
_ASSERTED = re.compile(r"^(?:Assert|Comparison|Expectation)")
_QUOTED = re.compile(r"['\"`]([\w.]+)['\"`]")


def run_junit(plan: TestPlan, ground: TestSandbox, *, tests: Sequence[str] = (), timeout_s: float) -> SuiteRun:
    """Run the command and read the report that it wrote.

    Args:
        tests: ids or files; the whole suite runs, the rest is left out.
    """
    inside = ground.scratch / "junit.xml"
    report = ground.checkout / plan.junit if plan.junit else inside
    report.unlink(missing_ok=True)
    argv = [part.replace("{junit}", str(inside)) for part in plan.command]
    told = {name: value.replace("{junit}", str(inside)) for name, value in plan.env.items()}
    env = {**every_download(os.environ), **told}
    with borrowed(plan, ground):
        completed = ground.sandbox.run(argv, box=box(plan, ground, env=env), timeout_s=timeout_s)
        return _read_report(report, completed, plan=plan, ground=ground, tests=tests)


def _read_report(
    report: Path, completed: Completed, *, plan: TestPlan, ground: TestSandbox, tests: Sequence[str]
) -> SuiteRun:
    """Make a run of the report that a command wrote and of how it ended."""
    problems: list[str] = []
    cases: Sequence[JunitCase] = ()
    try:
        cases = read_cases(report)
    except ToolchainError as exc:
        problems.append(with_last_words(exc.message, completed.text))
    outcomes = _outcomes(cases, root=str(ground.root), files=_files(ground.checkout))
    red = [one for one in outcomes.values() if one.outcome in ("failed", "error")]
    if completed.timed_out:
        problems.append("the suite was stopped at its time limit")
    elif completed.exit_code != 0 and not red:
        ended = f"the test command ended with {completed.exit_code}, but no test of its report failed"
        problems.append(ended if problems else with_last_words(ended, completed.text))
    elif completed.exit_code == 0 and red:
        problems.append(f"the test command ended with 0, but {len(red)} tests of its report failed")
    if not outcomes and not problems:
        problems.append("the report holds no test")
    early = not outcomes and not completed.timed_out and completed.exit_code > SIGNALLED
    wanted = frozenset(tests)
    chosen = {name: one for name, one in outcomes.items() if selected(name, wanted)}
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
        early_end=EarlyEnd(exit_code=completed.exit_code, said=last_words(completed.text)) if early else None,
    )


def _files(checkout: Path) -> dict[str, list[str]]:
    """Source files by their path without suffix, and by every shorter end of it: `b.c` and `c` are `a/b/c.py`."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder, inner, names in os.walk(checkout):
        inner[:] = [name for name in inner if name not in _SKIPPED]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), checkout)  # noqa: PTH118 - thousands of files
            parts = path.rpartition(".")[0].split("/")
            for start in range(len(parts)):
                found[".".join(parts[start:])].append(path)
    return found


def _place(case: JunitCase, root: str, files: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """The file of a case and what of its class name is left beside it; ("", class name) when no file fits for sure."""
    if case.file:
        return _relative(case.file, root), "" if case.classname == case.file else case.classname
    parts = re.split(r"[./\\$]|::", case.classname)
    for end in range(len(parts), 0, -1):
        fitting = files.get(".".join(parts[:end]), ())
        if len(fitting) == 1:
            return fitting[0], "::".join(parts[end:])
    last = files.get(parts[-1], ()) if "::" in case.classname else ()  # cargo nextest: package::file
    if len(last) == 1:
        return last[0], ""
    if not case.classname and case.suite:  # Perl's prove: t/deep/slug.t is deep_slug_t
        named = {path for paths in files.values() for path in paths if f"_{_flat(path)}".endswith(f"_{case.suite}")}
        if len(named) == 1:
            return named.pop(), ""
    return "", "" if case.classname == "test" else case.classname


def _flat(path: str) -> str:
    return re.sub(r"\W", "_", path)


def _outcomes(
    cases: Sequence[JunitCase], *, root: str, files: Mapping[str, Sequence[str]]
) -> Mapping[str, TestOutcome]:
    """Outcomes by id; a name that stands twice gets a number."""
    found: dict[str, TestOutcome] = {}
    counts: dict[str, int] = {}
    for case in cases:
        path, owner = _place(case, root, files)
        suite = case.suite if not owner and not path and case.suite not in ("", "test") else ""
        name = "::".join(part for part in (path, owner, suite, case.name) if part)
        counts[name] = counts.get(name, 0) + 1
        unique = name if counts[name] == 1 else f"{name}#{counts[name]}"
        found[unique] = TestOutcome(
            id=unique, outcome=case.outcome, duration_s=case.duration_s, failure=_failure(case, path, root)
        )
    return found


def _failure(case: JunitCase, path: str, root: str) -> Failure | None:
    if case.outcome not in ("failed", "error"):
        return None
    text = (case.text or case.message).replace(root + "/", "")
    message = (case.message or case.text)[:MESSAGE_LIMIT]
    named = _HEAD.match(case.kind) or _HEAD.match(message) or _HEAD.match(text)
    kind = named[1] if named else ("AssertionError" if case.outcome == "failed" else "Error")
    return Failure(
        exc_type="AssertionError" if _ASSERTED.match(kind) else kind,
        message=message,
        file=path,
        in_test=case.outcome == "failed",
        names=tuple(reversed(_QUOTED.findall(message))),
        text=text[:1500],
    )


def _relative(path: str, root: str) -> str:
    return path[len(root) + 1 :] if path.startswith(root + "/") else path
