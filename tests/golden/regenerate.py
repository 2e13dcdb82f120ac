"""Write the stored views of every golden run anew: `python -m tests.golden.regenerate`.

A log that has a source beside it (NAME.yaml) is written from that, one event a second; the others are never rewritten.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from agentforge.store.log.records import write_line
from agentforge.store.views.projector import rebuild

GOLDEN = Path(__file__).parent
STORED = ("events.jsonl", "blobs")


def main() -> None:
    """Write the logs that have a source, rebuild each run in a copy and keep its views."""
    for source in sorted(GOLDEN.glob("*.yaml")):
        (GOLDEN / source.stem / "events.jsonl").write_bytes(written(source))
    for log in sorted(GOLDEN.glob("*/events.jsonl")):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "run"
            shutil.copytree(log.parent, copy, ignore=shutil.ignore_patterns("views"))
            rebuild(copy)
            shutil.rmtree(log.parent / "views", ignore_errors=True)
            shutil.copytree(copy, log.parent / "views", ignore=shutil.ignore_patterns("lease", *STORED))


def written(source: Path) -> bytes:
    """The log of a source: `began` (UTC), and `events`, each a mapping of its type to its data."""
    told = yaml.safe_load(source.read_text("utf-8"))
    began, prev, lines = datetime.fromisoformat(told["began"]), "0" * 64, []
    for number, event in enumerate(told["events"]):
        ((name, data),) = event.items()
        at = (began + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lines.append(write_line(name, data, seq=number + 1, at=at, fence=1, prev=prev))
        prev = json.loads(lines[-1])["hash"]
    return b"".join(lines)


if __name__ == "__main__":
    main()
