"""Runs `cargo test` and has every test binary write a JUnit report of its own, through cargo's runner setting."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.runners.junit_runner import read_report
from agentforge.runners.launch import Ground, borrowed, box
from agentforge.runners.outcome import SuiteRun
from agentforge.runners.plan import TestPlan

# libtest prints JUnit only when unstable options are allowed; the variable is set for the test binary alone, so that
# nothing is compiled in another way than the user compiles it.
_SCRIPT = """#!/bin/sh
program=$1
shift
RUSTC_BOOTSTRAP=1 exec "$program" "$@" -Z unstable-options --format junit > "$AGENTFORGE_REPORTS/$(basename "$program").xml"
"""


def run_cargo(plan: TestPlan, ground: Ground, *, tests: Sequence[str] = (), timeout_s: float) -> SuiteRun:
    """Run the unit and integration tests of a crate or workspace.

    Args:
        tests: ids; the whole suite runs, the rest is left out.
    """
    import os
    from pathlib import Path

    reports = ground.scratch / "reports"
    reports.mkdir()
    script = ground.scratch / "run-test.sh"
    script.write_text(_SCRIPT, "utf-8")
    script.chmod(0o700)
    home = Path(os.environ.get("HOME") or "/root")
    env = {
        "AGENTFORGE_REPORTS": str(reports),
        "CARGO_TARGET_DIR": str(ground.scratch / "target"),
        "CARGO_HOME": os.environ.get("CARGO_HOME") or str(home / ".cargo"),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME") or str(home / ".rustup"),
    }
    argv = [plan.command[0], "--config", f'target."cfg(all())".runner = "{script}"', *plan.command[1:]]
    with borrowed(plan, ground):
        completed = ground.sandbox.run(argv, box=box(plan, ground, env=env), timeout_s=timeout_s)
    return read_report(sorted(reports.glob("*.xml")), completed, plan=plan, ground=ground, tests=tests)
