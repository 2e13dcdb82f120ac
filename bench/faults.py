"""A run is killed at, and finds no room at, every change that it makes on disk: what does it come to?

    python -m bench.faults --record build/faults.jsonl                  # the first change of every kind, by every fault
    python -m bench.faults --record build/faults.jsonl --each 3         # three of every kind
    python -m bench.faults --record build/faults.jsonl --each 0         # all of them; goes on where it stopped

A change is a system call that alters something below the folder of the repository and the home: its own, git's, the fleet's (see
`tests/support/kills/faults.c`). Each is tried in a fresh world; then `verify` must find nothing altered, and the run must come to
the same end as the one that nothing happened to.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.support.kills.every_change import SCENARIOS, Trial, points, tried
from tests.support.kills.faults import Mode


def main() -> int:
    """Try what the record does not hold yet; exit code 1 when one of all failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, default=Path("build") / "faults.jsonl")
    parser.add_argument("--each", type=int, default=1, help="so many changes of every kind; 0 all")
    parser.add_argument("--only", default="", help="changes that this expression finds")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), action="append")
    parser.add_argument("--mode", choices=[mode.name.lower() for mode in Mode if mode], action="append")
    options = parser.parse_args()
    options.record.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.record.read_text().splitlines()] if options.record.exists() else []
    done = {(row["scenario"], row["mode"], row["at"]) for row in rows}
    modes = [Mode[name.upper()] for name in options.mode or ()] or [mode for mode in Mode if mode]
    with tempfile.TemporaryDirectory(prefix="agentforge-faults-") as folder, ExitStack() as stack:
        for name in options.scenario or SCENARIOS:
            trial = Trial(Path(folder).resolve() / name, SCENARIOS[name])
            stack.callback(trial.disk.close)
            for mode, at, change in points(trial, modes, each=options.each, only=options.only):
                if (name, mode.name, at) in done:
                    continue
                problems = list(tried(trial, mode, at))
                told = {"change": trial.disk.struck or change, "problems": problems}
                rows.append({"scenario": name, "mode": mode.name, "at": at, **told})
                with options.record.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
                if problems:
                    sys.stderr.write(f"{name} {mode.name} at {at} ({change}): {problems}\n")
    counted = Counter((row["scenario"], row["mode"]) for row in rows)
    for (name, mode), count in sorted(counted.items()):
        bad = sum(1 for row in rows if (row["scenario"], row["mode"]) == (name, mode) and row["problems"])
        sys.stdout.write(f"{name} {mode}: {count} changes, {bad} with problems\n")
    return 1 if any(row["problems"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
