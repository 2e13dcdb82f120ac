"""Write docs/honest.md from the honest corpus: `python scripts/honest_docs.py` (part of `make golden`)."""

from __future__ import annotations

from pathlib import Path

from agentforge.evals.honest_page import page

TARGET = Path(__file__).parents[1] / "docs" / "honest.md"

if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
