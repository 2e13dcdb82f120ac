"""The instructions of a conversation: short, stable, the same for every provider."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

WORK_MODES = ("build", "plan", "swarm", "swarm-build")


@cache
def prompt(name: str) -> str:
    """A text of the folder `prompts` beside this module, without its last line end."""
    return (Path(__file__).parent / "prompts" / f"{name}.md").read_text("utf-8").strip()


def bare_prompt(*, work_mode: str, workspace: str) -> str:
    """The fewest instructions with which an agent works safely."""
    return f"{prompt('bare')}\n{prompt('fence')}\nMode: {work_mode}. Workspace: {workspace}\n"


def subagent_prompt(*, goal_prompt: str, workspace: str) -> str:
    """The instructions of a subagent: those of its kind, nothing of the user's conversation."""
    parts = (prompt("subagent"), prompt("fence"), goal_prompt, f"Workspace: {workspace}")
    return "\n\n".join(part for part in parts if part) + "\n"


def system_prompt(*, work_mode: str, workspace: str, parts: Sequence[str] = ()) -> str:
    """Put the instructions together.

    Args:
        workspace: the folder that the agent works in.
        parts: what the user adds: instructions of the project, memory, skills; in this order.
    """
    own = [prompt("chat"), prompt("fence"), prompt(work_mode), f"Workspace: {workspace}"]
    return "\n\n".join([*own, *(part for part in parts if part)]) + "\n"
