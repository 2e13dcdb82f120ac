"""Write the stored views of every golden run anew: `python tests/golden/regenerate.py`. The logs are never rewritten."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from agentforge.store.projector import rebuild

GOLDEN = Path(__file__).parent
STORED = ("events.jsonl", "blobs")


def main() -> None:
    """Rebuild each run in a copy and keep its views."""
    for log in sorted(GOLDEN.glob("*/events.jsonl")):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "run"
            shutil.copytree(log.parent, copy, ignore=shutil.ignore_patterns("views"))
            rebuild(copy)
            shutil.rmtree(log.parent / "views", ignore_errors=True)
            shutil.copytree(copy, log.parent / "views", ignore=shutil.ignore_patterns("lease", *STORED))


if __name__ == "__main__":
    main()
