"""The screen: a conversation on the whole terminal, drawn by Textual. Loaded only when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.tui.looks import ERRORS, knows_colour, knows_unicode, register
    from agentforge.tui.run import run_screen
else:
    __getattr__ = front(
        __name__, {"looks": ("ERRORS", "knows_colour", "knows_unicode", "register"), "run": ("run_screen",)}
    )

__all__ = ["ERRORS", "knows_colour", "knows_unicode", "register", "run_screen"]
