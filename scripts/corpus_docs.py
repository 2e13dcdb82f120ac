"""Write docs/cheats.md and docs/honest.md from the cases: `python scripts/corpus_docs.py` (part of `make golden`)."""

from __future__ import annotations

from pathlib import Path

from agentforge.evals.corpus_pages import cheats_page, honest_page

DOCS = Path(__file__).parents[1] / "docs"

if __name__ == "__main__":
    (DOCS / "cheats.md").write_text(cheats_page(), encoding="utf-8")
    (DOCS / "honest.md").write_text(honest_page(), encoding="utf-8")
