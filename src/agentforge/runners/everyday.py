"""Surroundings as a user has them, so that code which looks for those of a test run shows its other side.

A suite runs with a fixed hash seed, without bytecode, with an empty home, in a checkout that is no clone. Held-out checks run
without any of that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.runners.launch import Ground
    from agentforge.workspace.sandbox import Box

_OF_A_TEST_RUN = frozenset(
    {"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONPATH", "COVERAGE_FILE", "XDG_CACHE_HOME"}
)
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
_PROFILE = "export EDITOR=vi\n"


def everyday(box: Box, place: Ground) -> Box:
    """Leave out the variables that only a test run gets, and add those that every user has."""
    kept = {name: value for name, value in box.env.items() if name not in _OF_A_TEST_RUN}
    return replace(box, env={"USER": "user", "LOGNAME": "user", "TERM": "xterm", "PWD": str(place.root), **kept})


def furnish(place: Ground) -> None:
    """Make a clone of the checkout and a home of the home, as far as looking at them goes.

    Side effects: writes below the checkout and the scratch folder, which are thrown away.
    """
    clone = place.checkout / ".git"
    if not clone.exists():
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks"):
            (clone / folder).mkdir(parents=True)
        (clone / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
        (clone / "config").write_text(_CONFIG, "utf-8")
    home = place.scratch / "home"
    (home / ".config").mkdir(parents=True, exist_ok=True)
    (home / ".profile").write_text(_PROFILE, "utf-8")
