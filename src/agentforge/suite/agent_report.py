"""A test run as an agent reads it: what failed first, short, within a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.context.printed import WAYS_TO_SEE, cut_printed
from agentforge.errors import ToolchainError
from agentforge.suite.test_environment import Rig, run_tree
from agentforge.testing.outcome import SuiteRun, TestOutcome
from agentforge.tokens import count_tokens, cut_end

_EACH = 120
"""Tokens that each of many failures may have."""
_ORDER = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """A run and its text.

    Attributes:
        ok: every test passed and the run is complete.
        summary: one line of totals.
    """

    ok: bool
    summary: str
    text: str
    run: SuiteRun


def report_for_agent(
    rig: Rig, *, workspace: Path, index: Path, tests: Sequence[str] = (), limit: int = 1000
) -> AgentReport:
    """Run tests on a snapshot of the agent's workspace, so that what tests write never gets into the change.

    Args:
        index: the private git index of the workspace's snapshots.
        tests: ids, files or folders; () is the whole suite.
        limit: tokens of the text.
    """
    tree = rig.git.snapshot(workspace, index=index)
    try:
        run = run_tree(rig, tree, tests=tests)
    except ToolchainError as exc:
        run = SuiteRun(problems=(str(exc),), runner=rig.plan.runner)
    ok = bool(run.outcomes) and run.complete and not run.collection_errors and len(run.passed_ids) == len(run.outcomes)
    return AgentReport(ok=ok, summary=summary(run), text=report_text(run, limit=limit), run=run)


def summary(run: SuiteRun) -> str:
    """Totals in one line, the worst first."""
    counts: dict[str, int] = {}
    for one in run.outcomes.values():
        counts[one.outcome] = counts.get(one.outcome, 0) + 1
    parts = [
        f"{counts[name]} {name}"
        for name in ("failed", "error", "passed", "skipped", "xfailed", "xpassed")
        if name in counts
    ]
    if run.collection_errors:
        parts.insert(0, f"{len(run.collection_errors)} files cannot be collected")
    lost = len([nodeid for nodeid in run.collected if nodeid not in run.outcomes])
    if lost:
        parts.append(f"{lost} never finished")
    return f"{', '.join(parts) or 'no tests ran'} in {run.duration_s:.1f} s"


def report_text(run: SuiteRun, *, limit: int) -> str:
    """The whole report: totals, problems, files that cannot be collected, failures."""
    head = [summary(run)]
    head += [f"problem: {problem[:400]}" for problem in run.problems[:5]]
    if not run.outcomes and not run.collection_errors and run.output_tail:
        head.append("output:\n" + "\n".join(run.output_tail.splitlines()[-12:]))
    top = cut_end("\n".join(head), limit=max(64, limit // 2))
    rest = failing_text(run, limit=limit - count_tokens(top) - 8)
    return f"{top}\n{rest}" if rest else top


def failing_text(run: SuiteRun, *, limit: int, only: Sequence[str] = (), also: SuiteRun | None = None) -> str:
    """What failed, each with its message and as much of its traceback as there is room for; the rest by name, then by number.

    Args:
        limit: tokens.
        only: ids to tell of; () is all that did not pass.
        also: a second run to look the ids up in.
    """
    outcomes = {**(also.outcomes if also is not None else {}), **run.outcomes}
    bad = [one for name, one in outcomes.items() if not one.passed and (not only or name in only)]
    bad.sort(key=lambda one: (one.outcome not in ("failed", "error"), one.id))
    errors = run.collection_errors or (also.collection_errors if also is not None else ())
    each = max(_EACH, (limit - 32) // max(1, len(bad) + len(errors)) - 32)
    blocks = [
        f"cannot collect {error.id}:\n{_short(error.failure.text if error.failure else error.text, each)}"
        for error in errors
    ]
    told: set[str] = set()
    blocks += [_block(one, told, each) for one in bad]
    kept: list[str] = []
    room = limit
    for number, block in enumerate(blocks):
        name = block.splitlines()[0][:160]
        if count_tokens(block) < room - 16:
            shown = block
        elif not kept:
            shown = cut_end(block, limit=max(32, room - 16))
        elif count_tokens(name) < room - 16:
            shown = name
        else:
            kept.append(f"... and {len(blocks) - number} more")
            break
        room -= count_tokens(shown) + 1
        kept.append(shown)
    return "\n".join(kept)


def _block(one: TestOutcome, told: set[str], room: int) -> str:
    """One test that did not pass; the traceback only where no test before ended in the same way at the same place."""
    if one.failure is None:
        return f"{one.outcome.upper()} {one.id}"
    end = "\n".join(one.failure.text.splitlines()[-3:])
    if end in told:
        return f"{one.outcome.upper()} {one.id} (as above)"
    told.add(end)
    return f"{one.outcome.upper()} {one.id}\n{_short(one.failure.text, room)}"


def _short(text: str, room: int) -> str:
    """What a failure says, in at most so many tokens: where it began, where it ended, and what was expected."""
    return "\n".join(f"  {line}" for line in cut_printed(text, limit=room, note=WAYS_TO_SEE["run_tests"]).splitlines())
