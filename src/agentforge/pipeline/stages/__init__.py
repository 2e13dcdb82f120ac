"""The stages, one file each; the file name is the stage's name. Order lives here."""

from __future__ import annotations

from importlib import import_module

from agentforge.pipeline.stage import Stage

ORDER = ("intake", "clarify", "analyze", "spec", "red", "green", "refactor", "deliver")
ALIASES = {"design": "spec", "plan": "spec", "tests": "red", "code": "green", "commit": "deliver"}


def load_stages() -> dict[str, Stage]:
    """All stages in the order in which they run."""
    return {name: import_module(f"{__name__}.{name}").STAGE for name in ORDER}
