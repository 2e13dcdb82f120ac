"""The parts of a split request in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.app.parts import Part
    from agentforge.events.state import RunState


def part_lines(state: RunState) -> list[str]:
    """How the parts of a plan stand, a line each."""
    from agentforge.app.parts import parts_of
    from agentforge.cli.overview import standing_words

    return [f"{label_of(part)}: {part.task_id} {standing_words(part.row)}" for part in parts_of(state)]


def label_of(part: Part) -> str:
    """What a part is called among the parts of its plan."""
    from agentforge.events.splitting import part_label

    return part_label({"repo": part.repo, "part": part.name if part.name != part.repo else ""})
