"""Starts our program in the project's python and collects its evidence; pytest and unittest differ in little."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.languages.language import RunOptions
from agentforge.testing.channel import Channel, Received
from agentforge.testing.coverage import trace_setup
from agentforge.testing.launch import EVIDENCE, TestSandbox, borrowed, box
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan
from agentforge.testing.report_assembly import Canaries, assemble
from agentforge.workspace.processes.process import Completed

_OUTPUT_LIMIT_BYTES = 100_000
_COINS = 4


def run_python(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    """Run the suite, or the named tests of it, in the project's own python.

    Raises:
        ToolchainError: the plan has no usable interpreter.
    """
    if not plan.interpreter or plan.problems:
        raise ToolchainError("; ".join(plan.problems) or "the test plan names no interpreter")
    paths = _paths(plan, ground, ask.tests)
    if ask.tests and not paths:
        return SuiteRun(problems=("none of the named test files exists in the checkout",), runner=plan.runner)
    junit = ground.scratch / "junit.xml"
    canaries = _canaries()
    channel = Channel()
    setup = _setup(plan, ground, channel=channel, canaries=canaries, tests=ask.tests, paths=paths, seed=ask.seed)
    setup |= {"junit": str(junit), "arguments": list(ask.extra_args), "test_limit_s": ask.test_limit_s}
    shown: tuple[Path, ...] = (EVIDENCE,)
    if ask.trace:
        setup["trace"] = trace_setup(ground, ask.traced_files, calls=ask.calls)
        shown = (EVIDENCE, Path(str(setup["trace"]["package"])))
    completed, received = _session(
        plan, ground, channel, setup=setup, shown=shown, seed=ask.seed, timeout_s=ask.timeout_s
    )
    run = assemble(
        received,
        completed,
        canaries=canaries,
        junit=junit if plan.has_second_channel else None,
        command=plan.command,
        runner=plan.runner,
    )
    return replace(run, problems=(*plan.problems, *run.problems))


def run_mutants(
    plan: TestPlan, ground: TestSandbox, mutants: Mapping[str, Any], *, timeout_s: float
) -> tuple[dict[str, Any], ...]:
    """Start the mutation server in the project's own python (see programs/mutants_program.py).

    Returns:
        its records; where it ended early, the last is {kind: "early", text}.
    """
    channel = Channel()
    setup = _setup(plan, ground, channel=channel, canaries=_canaries(), tests=(), paths=plan.test_paths, seed=None)
    setup |= {"junit": str(ground.scratch / "junit.xml"), "arguments": [], "mutants": dict(mutants)}
    completed, received = _session(
        plan, ground, channel, setup=setup, shown=(EVIDENCE,), seed=None, timeout_s=timeout_s
    )
    if received.problems or not any(one["kind"] == "finished" for one in received.records):
        text = "; ".join(received.problems) or completed.text[-500:] or f"exit code {completed.exit_code}"
        return (*received.records, {"kind": "early", "text": text})
    return received.records


def _session(
    plan: TestPlan,
    ground: TestSandbox,
    channel: Channel,
    *,
    setup: Mapping[str, Any],
    shown: tuple[Path, ...],
    seed: int | None,
    timeout_s: float,
) -> tuple[Completed, Received]:
    """Run our program in the box, and read its channel to the end."""
    try:
        with borrowed(plan, ground):
            completed = ground.sandbox.run(
                [plan.interpreter, "-s", "-B", str(EVIDENCE / "bootstrap.py")],
                box=box(plan, ground, env={"PYTHONHASHSEED": str(seed or 0)}, read_only=shown),
                timeout_s=timeout_s,
                output_limit_bytes=_OUTPUT_LIMIT_BYTES,
                stdin=json.dumps(setup).encode(),
                pass_fds=(channel.descriptor,),
            )
    finally:
        received = channel.close()
    return completed, received


def _setup(
    plan: TestPlan,
    ground: TestSandbox,
    *,
    channel: Channel,
    canaries: Canaries,
    tests: Sequence[str],
    paths: Sequence[str],
    seed: int | None,
) -> dict[str, Any]:
    """What our program in the child has to know."""
    root = str(ground.root)
    return {
        "runner": plan.runner,
        "descriptor": channel.descriptor,
        "key": channel.key.hex(),
        "root": root,
        "outside": str(ground.mount_at) if root != str(ground.mount_at) else "",
        "roots": list(plan.roots),
        "pythonpath": list(plan.pythonpath),
        "user_site": plan.user_site,
        "scratch": str(ground.scratch),
        "tests": list(tests) if set(tests) - set(paths) else [],  # whole files need no selection
        "paths": list(paths),
        "canaries": [canaries.first, canaries.late, canaries.end],
        "coins": [[name, *words] for name, words in canaries.coins.items()],
        "seed": seed,
    }


def _paths(plan: TestPlan, ground: TestSandbox, tests: Sequence[str]) -> list[str]:
    """What the runner collects: the files of the named tests, else what the plan says."""
    if not tests:
        return list(plan.test_paths)
    files = dict.fromkeys(one.partition("::")[0] for one in tests)
    return [one for one in files if one and (ground.checkout / one).exists()]


def _canaries() -> Canaries:
    """Names that nobody can guess before the run."""
    word = secrets.token_hex(4)
    coins = {f"test_{secrets.token_hex(4)}_{secrets.choice('abc')}": _words() for _ in range(_COINS)}
    return Canaries(first=f"test_{word}_a", late=f"test_{word}_b", end=f"test_{word}_c", coins=coins)


def _words() -> tuple[str, str]:
    """Two words that are the same or not, by chance."""
    word = secrets.token_hex(8)
    return word, secrets.choice((word, secrets.token_hex(8)))
