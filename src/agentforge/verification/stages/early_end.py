"""The fact that a process ended before its tests were done, and which tests have no result because of it."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from agentforge.testing.outcome import SuiteRun, file_of, means, name_of
from agentforge.testing.report_stream import SIGNALLED

NO_RESULT = "has no result: the process that ran the tests ended early"


def early_end(runs: Sequence[SuiteRun], named: Iterable[str], *, at: Literal["base", "change"]) -> dict[str, Any]:
    """Make the fact of the first run that ended early.

    Args:
        runs: the first is the one in which every test was to run.
        named: ids (`path::name`) of which other facts say that they have no result.
        at: the tree on which the tests ran.
    Returns:
        {ended_early: {at, exit_code, signal, signal_name, running, after, said, lost}}: `signal` is 0 where none ended it,
        `after` the last test with a result, `lost` those of `named` that were to run; {} where every run came to its end.
    """
    run = next((one for one in runs if one.early_end is not None), None)
    if run is None or run.early_end is None:
        return {}
    end = run.early_end
    number = max(0, end.exit_code - SIGNALLED)
    name = signal.Signals(number).name if number in set(signal.Signals) else ""
    told = {
        "at": at, "exit_code": end.exit_code, "signal": number, "signal_name": name, "running": end.running,
        "after": ["", *run.outcomes][-1], "said": end.said, "lost": _lost(named, runs[0]),
    }  # fmt: skip
    return {"ended_early": told}


def _lost(named: Iterable[str], run: SuiteRun) -> list[str]:
    """The ids that were to run and have no result; any of them where the runner did not list its tests before it began."""
    ids = [one for one in named if one not in run.outcomes]
    waiting: dict[str, list[str]] = {}
    for nodeid in run.collected:
        if nodeid not in run.outcomes:
            waiting.setdefault(file_of(nodeid), []).append(nodeid)
    if not waiting:
        return ids if run.early_end is not None else []
    return [
        one
        for one in ids
        if any(means(nodeid, path=file_of(one), name=name_of(one)) for nodeid in waiting.get(file_of(one), ()))
    ]
