"""Write docs/licences.md: the licence of every package that the base or an extra brings: `make licences`.

Versions and ways come from uv.lock, licences from what is installed here; a package of another platform says so.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from locked import ROOT, locked

TARGET = ROOT / "docs" / "licences.md"
_HEAD = """# Licences of what AgentForge stands on

Written by `make licences` from the lock file and the metadata of the installed packages. AgentForge itself is MIT. Nothing of
these packages is copied into ours; `pip` brings them.

| package | version | licence | brought by |
|---|---|---|---|
"""
_UNSAID = "not said in its metadata"


def document() -> str:
    """Return the whole page."""
    rows = [
        f"| {one.name} | {one.version} | {licence(one.name)} | {', '.join(extra or 'base' for extra in one.by)} |"
        for one in locked()
    ]
    return _HEAD + "\n".join(rows) + "\n"


def licence(name: str) -> str:
    """What a package says of its licence: the SPDX expression, else its classifiers, else its free text."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return "not installed on this platform"
    said = found.metadata.get("License-Expression") or _classified(found) or _first_line(found) or _in_file(found)
    return " ".join(said.replace("|", "/").split()) or _UNSAID


def _classified(found: Distribution) -> str:
    words = found.metadata.get_all("Classifier") or []
    named = [word.rpartition(" :: ")[2] for word in words if word.startswith("License :: ")]
    return "; ".join(name for name in named if name != "OSI Approved")


def _first_line(found: Distribution) -> str:
    lines = (found.metadata.get("License") or "").strip().splitlines()
    return lines[0][:80] if lines else ""


def _in_file(found: Distribution) -> str:
    """The heading of the licence that lies beside the package."""
    names = ("LICENSE", "LICENCE", "COPYING")
    files = [file for file in found.files or () if file.name.upper().startswith(names)]
    text = files[0].read_text() if files else ""
    return next((f"{line.strip()} (by its file)" for line in text.splitlines() if line.strip()), "")[:80]


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
