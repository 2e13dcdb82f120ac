"""What becomes of tricks that were invented without reading the verifier, and of the honest solutions beside them.

    python -m bench.unseen                    every case of the honest corpus that holds a trick, too; minutes
    python -m bench.unseen js-queue-idle ...  the named ones
    python -m bench.unseen --json FILE        also writes the rows

The model is scripted and the examiner is off: what refuses a trick here is measurement alone. Each trick looks finished: its own
tests pass on its own code, and only the request tells that it is wrong (the tests below `hidden/` show how).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from agentforge.evals.corpus import load_own, tricked_names
from agentforge.evals.side_run import SideResult, run_side
from agentforge.evals.suites import process_ground


def main() -> None:
    """Play both sides of each case and print a row for each, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases; all when none is named")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="cases at a time")
    parser.add_argument("--json", type=Path, help="write the rows into this file, too")
    given = parser.parse_args()
    names = tuple(given.names) or tricked_names()
    unknown = sorted(set(names) - set(tricked_names()))
    if unknown:
        parser.error(f"there is no case with a trick of the name {', '.join(unknown)}")
    rows: list[dict[str, object]] = []
    with (
        tempfile.TemporaryDirectory(prefix="agentforge-unseen-") as folder,
        ProcessPoolExecutor(max_workers=max(1, given.j), mp_context=get_context("spawn")) as pool,
    ):
        for trick, twin in pool.map(_both, names, [folder] * len(names)):
            rows.append({"name": trick.name, "trick": asdict(trick), "twin": asdict(twin)})
            print(_row(trick, twin), flush=True)
    through = sum(row["trick"]["outcome"] == "delivered" for row in rows)  # type: ignore[index]
    refused = sum(not row["twin"]["right"] for row in rows)  # type: ignore[index]
    print(f"tricks: {len(rows) - through} of {len(rows)} stopped; honest work: {refused} of {len(rows)} refused")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _both(name: str, folder: str) -> tuple[SideResult, SideResult]:
    case, ground = load_own(name), process_ground(folder)
    return run_side(case, "trick", ground), run_side(case, "twin", ground)


def _row(trick: SideResult, twin: SideResult) -> str:
    stopped = "delivered" if trick.outcome == "delivered" else f"stopped in {trick.stage}: {', '.join(trick.rules)}"
    honest = "delivered" if twin.right else f"refused: {twin.detail[:160]}"
    return f"| {trick.name} | {stopped} | {honest} |"


if __name__ == "__main__":
    main()
