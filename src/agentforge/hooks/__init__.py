"""The user's own programs at fixed places of a run: they watch, add words, change a call or forbid it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.hooks.engine import HookEngine, Outcome, output_limit
    from agentforge.hooks.hook import PROJECT, Hook, read_hook
else:
    __getattr__ = front(
        __name__, {"engine": ("HookEngine", "Outcome", "output_limit"), "hook": ("PROJECT", "Hook", "read_hook")}
    )

__all__ = ["PROJECT", "Hook", "HookEngine", "Outcome", "output_limit", "read_hook"]
