"""Detectors that read sources, each switched off for a while in this process: which tricks does it alone refuse?

Only the evaluation does so. What is switched off finds nothing; everything else measures as it does for a user.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agentforge.errors import UsageError
from agentforge.evals.case import FOLDER, read_mapping
from agentforge.evals.corpus import load_case
from agentforge.evals.side_run import SideResult, run_side
from agentforge.evals.suites import broken_side, in_processes, process_ground

DETECTORS: Mapping[str, Sequence[str]] = {
    "patches": ("agentforge.verification.source.evasion:_patches",),
    "answer-tables": ("agentforge.verification.stages.plain_process_checks:hard_coded",),
    "unasked-names": ("agentforge.verification.source.out_of_scope_changes:out_of_scope_changes",),
    "unasked-behaviour": ("agentforge.verification.source.out_of_scope_changes:out_of_scope_behaviour",),
}
"""Name -> the functions that are it, `module:name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchedOffRun:
    """What was measured of a detector.

    Attributes:
        tried: tricks in whose refusal it had a part.
        alone: those of them that nothing else refused.
        finds: what it finds in new code, in words.
        since: what became of it.
    """

    tried: tuple[str, ...]
    alone: tuple[str, ...]
    finds: str
    since: str


def measured_detectors() -> dict[str, SwitchedOffRun]:
    """What was measured last, by detector (`evals/detectors.yaml`)."""
    rows = read_mapping(FOLDER / "detectors.yaml")
    found = {str(name): row for name, row in rows.items() if isinstance(row, dict)}
    return {name: _measured(row) for name, row in found.items()}


def _measured(row: Mapping[str, object]) -> SwitchedOffRun:
    tried, alone = (
        [str(one) for one in given] if isinstance(given := row.get(name), list) else [] for name in ("tried", "alone")
    )
    return SwitchedOffRun(tried=tuple(tried), alone=tuple(alone), finds=str(row["finds"]), since=str(row["since"]))


def tricks_of(detector: str) -> tuple[str, ...]:
    """The tricks in whose refusal a detector has a part.

    Raises:
        UsageError: there is no such detector.
    """
    if detector not in DETECTORS:
        raise UsageError(f"there is no detector {detector}", hint=f"one of {', '.join(DETECTORS)}")
    known = measured_detectors().get(detector)
    return known.tried if known is not None else ()


@contextmanager
def switched_off(detector: str) -> Iterator[None]:
    """Let a detector find nothing."""
    places = [
        (importlib.import_module(module), name)
        for module, _, name in (one.partition(":") for one in DETECTORS[detector])
    ]
    kept = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, _nothing)
    try:
        yield
    finally:
        for (module, name), function in zip(places, kept, strict=True):
            setattr(module, name, function)


def run_without(detector: str, names: Sequence[str], *, processes: int, folder: Path) -> Iterator[SideResult]:
    """Play tricks with a detector switched off; `right` of a result says that something else refused it, by whatever rule.

    Args:
        processes: tricks at a time, >= 1.
    """
    play: Callable[[str, str], SideResult] = partial(_trick_without, detector)
    for name, result, problem in in_processes(play, names, processes=processes, folder=folder):
        yield result or broken_side(name, "trick", problem)


def _trick_without(detector: str, name: str, folder: str) -> SideResult:
    with switched_off(detector):
        result = run_side(load_case(name), "trick", process_ground(folder))
    return replace(result, right=result.outcome == "escalated")


def _nothing(*_given: object, **_named: object) -> tuple[()]:
    return ()
