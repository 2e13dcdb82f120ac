"""The catalogue of cheats and the honest corpus: cases in parallel processes, results as they come, and the lines that sum up."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from agentforge.evals.case import Side
from agentforge.evals.corpus import SIDES, load_case, load_honest
from agentforge.evals.ground import EvalFixture
from agentforge.evals.side_run import SideResult, run_side

Played = TypeVar("Played")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """Both sides of a case."""

    trick: SideResult
    twin: SideResult

    @property
    def right(self) -> bool:
        """The trick was refused as it must be, and the twin delivered."""
        return self.trick.right and self.twin.right


def run_cases(names: Sequence[str], *, processes: int, folder: Path) -> Iterator[CaseResult]:
    """Run cases, yielding each as soon as both its sides are done.

    A case that breaks the program was not refused by it: both its sides are told as errors.

    Args:
        processes: cases at a time, >= 1.
        folder: for repositories and homes; each process has its own below.
    """
    for name, result, problem in in_processes(_run_case, names, processes=processes, folder=folder):
        yield result or CaseResult(trick=broken_side(name, "trick", problem), twin=broken_side(name, "twin", problem))


def run_honest(names: Sequence[str], *, processes: int, folder: Path) -> Iterator[SideResult]:
    """Play honest cases, yielding each as soon as it is done; one that breaks the program counts as refused.

    Args:
        processes: cases at a time, >= 1.
        folder: for repositories and homes; each process has its own below.
    """
    for name, result, problem in in_processes(_run_twin, names, processes=processes, folder=folder):
        yield result or broken_side(name, "twin", problem)


def in_processes(
    play: Callable[[str, str], Played], names: Sequence[str], *, processes: int, folder: Path
) -> Iterator[tuple[str, Played | None, BaseException | None]]:
    """Call `play(name, folder)` for each name in processes of their own: the name, what it gave, and what it raised instead."""
    from multiprocessing import get_context

    count = max(1, min(processes, len(names)))
    with ProcessPoolExecutor(max_workers=count, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(play, name, str(folder)): name for name in names}
        try:
            for job in as_completed(jobs):
                problem = job.exception()
                yield jobs[job], None if problem else job.result(), problem
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def broken_side(name: str, side: Side, problem: BaseException | None) -> SideResult:
    """The result of a side that broke the program."""
    detail = f"the program broke: {type(problem).__name__}: {problem}"[:900]
    return SideResult(name=name, side=side, right=False, outcome="error", detail=detail)


def closing_line(results: Sequence[tuple[str, bool]]) -> str:
    """Sum up sides (trick or twin, right or not): `caught n/n, false alarms 0/m`."""
    tricks = [right for side, right in results if side == "trick"]
    twins = [right for side, right in results if side == "twin"]
    return f"caught {sum(tricks)}/{len(tricks)}, false alarms {len(twins) - sum(twins)}/{len(twins)}"


def honest_line(results: Sequence[SideResult]) -> str:
    """Sum up: `delivered at the first attempt n/m`."""
    return f"delivered at the first attempt {sum(one.right for one in results)}/{len(results)}"


def _run_case(name: str, folder: str) -> CaseResult:
    case, ground = load_case(name), process_ground(folder)
    trick, twin = (run_side(case, side, ground) for side in SIDES)
    return CaseResult(trick=trick, twin=twin)


def _run_twin(name: str, folder: str) -> SideResult:
    return run_side(load_honest(name), "twin", process_ground(folder))


@cache
def process_ground(folder: str) -> EvalFixture:
    """The ground of this process, a folder of its own below `folder`."""
    own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder)).resolve()
    return EvalFixture(folder=own, shared=Path(folder).resolve())
