"""Is a statement faster than at the base, and does it give the same? Plain processes on the two trees, in turns."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentforge.suite import Rig, fresh_checkout
from agentforge.testing.launch import TestSandbox, ground
from agentforge.verification.examples.typed_comparison import shown
from agentforge.verification.examples.user_environment import furnish
from agentforge.verification.roads.program import carried_out_in

ROUNDS = 7
_ROUNDS_LEAST = 3
_PLAIN = 2.0
_PROGRAM = "speed_program"
_BATCHES_S = 0.15
_NEARBY_S = 8.0
_LIMIT_S = 60.0
_LEAST_S = 5e-5
_LONGEST_S = 10.0
_FASTER = 1.05
_WON = 0.95
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedStatement:
    """What is measured.

    Attributes:
        setup: source that makes the data and imports the code; it is run anew before every batch.
        ratio: how many times faster it must be, 0 = faster at all.
        at_most_ms: what one call may take, 0 = not said.
    """

    statement: str
    setup: str = ""
    requirement: str = ""
    ratio: float = 0.0
    at_most_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AtBase:
    """What a statement is at the base.

    Attributes:
        problem: why it cannot serve, "" when it can.
    """

    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """What the measurement came to.

    Attributes:
        verdict: faster; not faster (beyond what differs by itself); not enough (for what is asked); another result; no result.
        why: for people, with its place or figures.
        before, after: seconds of one call in each round.
        first: seconds of the first call in a process, the least before and after.
        nearby: inputs near the given one for which the results were compared.
        note: what a reviewer should know.
    """

    verdict: str
    why: str = ""
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    first: tuple[float, float] = (0.0, 0.0)
    nearby: int = 0
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times faster the median call is."""
        return statistics.median(self.before) / statistics.median(self.after) if self.before and self.after else 0.0


def look_at_base(rig: Rig, tree: str, one: TimedStatement, *, files: Sequence[str]) -> AtBase:
    """Can this statement be measured: does it run, is it long enough, does it run code of the files that are to be changed?

    Args:
        files: of which it must run a function; () = any.
    Side effects: two processes in the sandbox.
    Raises:
        ToolchainError: the project's interpreter cannot run such programs.
    """
    for name, text in (("setup", one.setup), ("statement", one.statement)):
        try:
            compile(text, name, "exec")
        except (SyntaxError, ValueError) as exc:
            return AtBase(problem=f"its {name} is no Python: {exc}")
    with _place(rig, tree) as place:
        timed = _time(place, rig, one)
        if isinstance(timed, str):
            return AtBase(problem=timed)
        seconds = timed[1]
        if seconds > _LONGEST_S:
            return AtBase(problem=f"one call takes {seconds:.0f} s at the base: give it less to do", seconds=seconds)
        looked = _look(place, rig, one, nearby_s=0.0)
    if not looked:
        return AtBase(problem="it told no result at the base", seconds=seconds)
    ran = {str(path) for path, _ in looked[0].get("executed", ())}
    if files and not ran & set(files):
        return AtBase(problem=f"it runs no function of {', '.join(files[:4])}", seconds=seconds)
    if seconds < _LEAST_S:
        told = f"{1e6 * seconds:.3g} µs at the base"
        return AtBase(problem=f"one call takes {told}: give it more to do, at least 0.1 ms", seconds=seconds)
    return AtBase(seconds=seconds)


def measure_speed(rig: Rig, one: TimedStatement, *, base_tree: str, tree: str) -> Speed:
    """Compare results, then times: rounds of one process for each tree, in turns.

    Side effects: processes in the sandbox, two for each round.
    Raises:
        ToolchainError: the project's interpreter cannot run such programs.
    """
    with _place(rig, base_tree) as base, _place(rig, tree) as now:
        first, again = _look(base, rig, one), _look(base, rig, one)
        new = _look(now, rig, one)
        old, again = ([row for row in rows if "nearby" in row] for rows in (first, again))
        if not old:
            raised = next((f"it raises {row['raised']} at the base" for row in first if "raised" in row), "")
            return Speed(verdict="no result", why=raised or "it told no result at the base")
        steady = [
            a for a, b in zip(old, again, strict=False) if a["nearby"] == b["nearby"] and alike(a["told"], b["told"])
        ]
        compared = {row["nearby"]: row["told"] for row in steady}
        wrong = _first_difference(compared, new)
        if wrong:
            return Speed(verdict="another result", why=wrong, nearby=len(compared))
        note = "" if "" in compared else "its result differs from call to call at the base, and was not compared"
        nearby = len([name for name in compared if name])
        before: list[tuple[float, float]] = []
        after: list[tuple[float, float]] = []
        found = Speed(verdict="no result")
        for _ in range(2):  # what a loaded machine hides is measured once more
            lost = _in_turns(rig, one, (base, before), (now, after))
            if lost:
                return Speed(verdict="no result", why=lost, nearby=nearby)
            found = _judged(one, before, after, nearby=nearby, note=note)
            if found.verdict == "faster":
                break
    return found


Taken = tuple[TestSandbox, list[tuple[float, float]]]


def _in_turns(rig: Rig, one: TimedStatement, base: Taken, now: Taken) -> str:
    """Add the times of some rounds, of which every second begins with the other tree; a text says why there are none."""
    for number in range(ROUNDS):
        for place, rows in (base, now) if number % 2 else (now, base):
            timed = _time(place, rig, one)
            if isinstance(timed, str):
                return timed
            rows.append(timed)
        if number + 1 >= _ROUNDS_LEAST and _is_plain(one, base[1], now[1]):
            break
    return ""


def _is_plain(one: TimedStatement, before: Sequence[tuple[float, float]], after: Sequence[tuple[float, float]]) -> bool:
    """Whether first and best calls of the change are so far below those of the base that more rounds would show the same."""
    factor = max(_PLAIN, one.ratio)
    apart = all(
        min(old) >= factor * max(new)
        for old, new in zip(zip(*before, strict=True), zip(*after, strict=True), strict=True)
    )
    return apart and not (one.at_most_ms and 1e3 * max(best for _, best in after) > one.at_most_ms)


def _judged(
    one: TimedStatement,
    before: Sequence[tuple[float, float]],
    after: Sequence[tuple[float, float]],
    *,
    nearby: int,
    note: str,
) -> Speed:
    old, new = [best for _, best in before], [best for _, best in after]
    first = (min(one for one, _ in before), min(one for one, _ in after))
    wins = sum(a > b for a in old for b in new)
    ratio = statistics.median(old) / statistics.median(new)
    faster = wins >= math.ceil(_WON * len(old) * len(new)) and ratio >= _FASTER
    low, high = _quarters(old), _quarters(new)
    best_ratio = low[1] / high[0]
    verdict, why = "faster", ""
    if not faster:
        verdict, why = "not faster", "that is not faster beyond what differs from round to round"
    elif one.ratio and best_ratio < one.ratio:
        verdict, why = "not enough", f"at least {one.ratio:g}x is asked for"
    elif one.at_most_ms and 1e3 * high[0] > one.at_most_ms:
        verdict, why = "not enough", f"at most {one.at_most_ms:g} ms are asked for"
    if verdict == "faster" and first[0] / first[1] < _FASTER and not note:
        note = f"only repeated calls are faster: the first one takes {duration(first[1])}, before {duration(first[0])}"
    return Speed(verdict=verdict, why=why, before=tuple(old), after=tuple(new), first=first, nearby=nearby, note=note)


def _quarters(values: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper quartile."""
    found = statistics.quantiles(values, n=4, method="inclusive")
    return found[0], found[2]


def duration(seconds: float) -> str:
    """`12.1 ms`, `1.30 s`, `85.0 µs`: three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{seconds / size:.3g} {unit}"
    raise AssertionError(seconds)


def alike(one: Any, other: Any) -> bool:
    """Whether two encoded results are equal; floats to nine digits, sets and mappings in any order."""
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return False
        if len(one) == 2 and one[0] == other[0] == "float":
            return math.isclose(float(one[1]), float(other[1]), rel_tol=_CLOSE, abs_tol=1e-12) or one[1] == other[1]
        if len(one) == 2 and one[0] == other[0] and one[0] in ("set", "frozenset", "dict"):
            return alike(sorted(one[1], key=json.dumps), sorted(other[1], key=json.dumps))
        return all(alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if "raised" in one or "raised" in other:
            return bool(one.get("raised") == other.get("raised"))
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    return bool(one == other)


def _first_difference(compared: Mapping[str, Any], new: Sequence[Mapping[str, Any]]) -> str:
    found = {row["nearby"]: row["told"] for row in new if "nearby" in row}
    if "" in compared and "" not in found:
        told = next((row for row in new if "raised" in row), {})
        return f"it raises {told['raised']}: {told.get('message', '')[:120]}" if told else "it told no result"
    for name, told in compared.items():
        if name in found and not alike(told, found[name]):
            place = f" {name}" if name else ""
            return f"{place} it gives {_shown(found[name])}, at the base {_shown(told)}".strip()
    return ""


def _shown(told: Mapping[str, Any]) -> str:
    if "raised" in told:
        return f"{told['raised']}"
    size = f" ({told['size']} items)" if int(told["size"]) > 8 else ""
    return f"{shown(told['value'], limit=80)}{size}"


@contextmanager
def _place(rig: Rig, tree: str) -> Iterator[TestSandbox]:
    with (
        fresh_checkout(rig, tree) as checkout,
        ground(checkout=checkout, mount_at=rig.mount_at, sandbox=rig.sandbox, scratch=rig.scratch) as place,
    ):
        furnish(place)
        yield place


def _time(place: TestSandbox, rig: Rig, one: TimedStatement) -> tuple[float, float] | str:
    """Seconds of the first call and of a usual one; a text says why there are none."""
    rows = _rows(place, rig, one, mode="time", seconds=_BATCHES_S)
    if any("late" in row for row in rows):
        return f"it did not end within {_LIMIT_S:.0f} s"
    for row in rows:
        if "best_s" in row:
            return float(row["first_s"]), float(row["best_s"])
        if "raised" in row:
            return f"it raises {row['raised']}: {str(row.get('message', ''))[:160]}"
    return "its process ended"


def _look(place: TestSandbox, rig: Rig, one: TimedStatement, *, nearby_s: float = _NEARBY_S) -> list[dict[str, Any]]:
    """What the statement gives and runs, then what it gives for inputs nearby; no time for those leaves them out."""
    return _rows(place, rig, one, mode="look", seconds=nearby_s)


def _rows(place: TestSandbox, rig: Rig, one: TimedStatement, *, mode: str, seconds: float) -> list[dict[str, Any]]:
    limit = min(_LIMIT_S, rig.timeout_s)
    setup = {"mode": mode, "setup": one.setup, "statement": one.statement, "seconds": seconds, "timeout_s": limit}
    return carried_out_in(place, rig, _PROGRAM, setup, variables={"PYTHONHASHSEED": "0"}, limit_s=limit + 10)
