"""Write docs/cheats.md from the catalogue: `python scripts/cheats_docs.py` (part of `make golden`)."""

from __future__ import annotations

from pathlib import Path

from agentforge.evals.cheats_page import page

TARGET = Path(__file__).parents[1] / "docs" / "cheats.md"

if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
