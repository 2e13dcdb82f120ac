"""The honest corpus in parallel processes, results as they come, and the line that sums them up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from agentforge.evals.cheat_run import SideResult, run_side
from agentforge.evals.cheats_suite import broken_side, in_processes, process_ground
from agentforge.evals.honest_case import load_honest


def run_honest(names: Sequence[str], *, processes: int, folder: Path) -> Iterator[SideResult]:
    """Play honest cases, yielding each as soon as it is done; one that breaks the program counts as refused.

    Args:
        processes: cases at a time, >= 1.
        folder: for repositories and homes; each process has its own below.
    """
    for name, result, problem in in_processes(_run_case, names, processes=processes, folder=folder):
        yield result if result is not None else broken_side(name, "twin", problem)


def summary(results: Sequence[SideResult]) -> str:
    """Sum up: `delivered at the first attempt n/m`."""
    return f"delivered at the first attempt {sum(one.right for one in results)}/{len(results)}"


def _run_case(name: str, folder: str) -> SideResult:
    return run_side(load_honest(name), "twin", process_ground(folder))
