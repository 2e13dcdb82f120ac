"""What each test of a run executed: asking for it, and reading it. Sets of lines are integers with a bit for each line."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.workspace.code.relevance import is_test_path

TRACE_VERSION = 3
_OMIT = ("*/site-packages/*", "*/.venv/*", "*/venv/*", "*/node_modules/*", "*/conftest.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """Executed lines by test and product file.

    Attributes:
        tests: test id -> path -> lines; "" is what was executed outside of tests (imports while collecting).
        note: why there is nothing, or what is not known; empty when everything is known.
        lost: the test during which another tracer took over; empty when ours stayed.
        opaque: tests that started python processes of which nothing is known.
        calls: calls that tests made of functions in the files that were asked for; see `programs/recorded_calls.py`.
    """

    tests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    note: str = ""
    lost: str = ""
    opaque: frozenset[str] = frozenset()
    measured: bool = False
    calls: Sequence[Mapping[str, Any]] = ()

    def lines(self, path: str) -> int:
        """Every executed line of a file, imports included."""
        found = 0
        for marks in self.tests.values():
            found |= marks.get(path, 0)
        return found

    def executing(self, path: str, lines: int) -> tuple[str, ...]:
        """Ids of the tests that executed one of the lines, in the order of the run."""
        return tuple(name for name, marks in self.tests.items() if name and marks.get(path, 0) & lines)

    def joined(self, other: Traced) -> Traced:
        """Both, of runs on one tree; this one alone where the other recorded nothing."""
        if not other.measured or other.lost:
            return self
        tests: dict[str, dict[str, int]] = {"": {}}
        for name, marks in (*self.tests.items(), *other.tests.items()):
            known = tests.setdefault(name, {})
            known.update({path: known.get(path, 0) | bits for path, bits in marks.items()})
        return replace(self, tests=tests, opaque=self.opaque | other.opaque, calls=(*self.calls, *other.calls))


def trace_setup(ground: TestSandbox, files: Sequence[str] = (), *, calls: bool = False) -> dict[str, Any]:
    """What the child has to know to record: our coverage package, and which files are the project's product.

    Args:
        files: the only ones of which something is recorded; () = all.
        calls: write down calls of functions in these files, too.
    """
    found = importlib.util.find_spec("coverage")  # the child imports it; here it may lack sqlite3
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'coverage'", name="coverage")
    root = str(ground.root)
    return {
        "package": str(Path(found.origin).parent),
        "root": root,
        "include": [f"{root}/{one}" for one in files] or [f"{root}/*"],
        "omit": [f"{root}/{one.removeprefix('*/')}" for one in _OMIT] + list(_OMIT),
        "out": str(ground.scratch / "trace"),
        "called": [f"{root}/{one}" for one in files] if calls else [],
    }


def traced_of(run: SuiteRun, *, product: Collection[str] = ()) -> Traced:
    """Read what a run recorded; test files and planted tests are left out.

    Args:
        product: files that are the product although they are named as tests.
    """
    told = run.coverage
    if told is None:
        return Traced(note="this runner cannot tell what a test executes")
    if "tests" not in told:
        return Traced(note=str(told["note"]))
    files = [str(path) for path in told["files"]]
    looked_at = {number for number, path in enumerate(files) if path in product or not is_test_path(path)}
    tests = {
        str(name): {files[number]: int(bits, 16) for number, bits in marks if number in looked_at}
        for name in ("", *run.outcomes)
        if (marks := told["tests"].get(name))
    }
    lost = str(told["lost"])
    if lost and lost not in run.outcomes:  # a planted test was the first to see it
        lost = "the import of the test files"
    return Traced(tests=tests, note=_note(told, lost), lost=lost, opaque=frozenset(told["opaque"]), measured=True,
                  calls=tuple(told.get("calls", ())))  # fmt: skip


def bits_of(ranges: Iterable[str]) -> int:
    """Lines of ranges like "12-18" and "40" as bits."""
    found = 0
    for one in ranges:
        first, _, last = one.partition("-")
        low, high = int(first), int(last or first)
        found |= ((1 << (high - low + 1)) - 1) << low
    return found


def ranges_of(bits: int) -> list[str]:
    """Bits as ranges of lines, in order."""
    out: list[str] = []
    line = 0
    while bits:
        skip = (bits & -bits).bit_length() - 1
        bits >>= skip
        line += skip
        run = (~bits & (bits + 1)).bit_length() - 1
        out.append(str(line) if run == 1 else f"{line}-{line + run - 1}")
        bits >>= run
        line += run
    return out


def _note(told: Mapping[str, Any], lost: str) -> str:
    notes = []
    if lost:
        notes.append(f"another tracer took over during {lost}: what ran after it is not known")
    if told["core"] != "CTracer":
        notes.append(f"recorded by {told['core']}, which is slow: no compiled tracer fits this python")
    if told["owner"] != "ours":
        notes.append("recorded by the project's own coverage: ours does not fit this python")
    return "; ".join(notes)
