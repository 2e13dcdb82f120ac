"""The conversation half: the same agent loop as in a stage, with a history, a person, and modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.session.compaction import compacted
    from agentforge.session.decide import SPAWNS, TurnRules
    from agentforge.session.modes import (
        BARE_TOOLS,
        BUILD_TOOLS,
        LOOKING_MODES,
        PLAN_TOOLS,
        SELDOM_CALLED,
        bare_prompt,
        offered,
        only_looking,
        prompt,
        subagent_prompt,
        system_prompt,
    )
    from agentforge.session.performer import run_turn
    from agentforge.session.replay import Difference, replay_turns
    from agentforge.session.runtime import SessionRuntime, box_of, tool_context
    from agentforge.session.subagents import (
        Subagent,
        defined,
        own_subagents,
        run_child_turn,
        run_together,
        side_by_side,
        tool_of,
    )
else:
    __getattr__ = front(
        __name__,
        {
            "compaction": ("compacted",),
            "decide": ("SPAWNS", "TurnRules"),
            "modes": (
                "BARE_TOOLS",
                "BUILD_TOOLS",
                "LOOKING_MODES",
                "PLAN_TOOLS",
                "SELDOM_CALLED",
                "bare_prompt",
                "offered",
                "only_looking",
                "prompt",
                "subagent_prompt",
                "system_prompt",
            ),
            "performer": ("run_turn",),
            "replay": ("Difference", "replay_turns"),
            "runtime": ("SessionRuntime", "box_of", "tool_context"),
            "subagents": (
                "Subagent",
                "defined",
                "own_subagents",
                "run_child_turn",
                "run_together",
                "side_by_side",
                "tool_of",
            ),
        },
    )

__all__ = [
    "BARE_TOOLS",
    "BUILD_TOOLS",
    "LOOKING_MODES",
    "PLAN_TOOLS",
    "SELDOM_CALLED",
    "SPAWNS",
    "Difference",
    "SessionRuntime",
    "Subagent",
    "TurnRules",
    "bare_prompt",
    "box_of",
    "compacted",
    "defined",
    "offered",
    "only_looking",
    "own_subagents",
    "prompt",
    "replay_turns",
    "run_child_turn",
    "run_together",
    "run_turn",
    "side_by_side",
    "subagent_prompt",
    "system_prompt",
    "tool_context",
    "tool_of",
]
