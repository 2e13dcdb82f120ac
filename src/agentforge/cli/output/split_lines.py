"""The parts of a split request in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.app.tasks.parts import parts_of
from agentforge.cli.output.overview import standing_words
from agentforge.events.kinds.dependencies import part_label

if TYPE_CHECKING:
    from agentforge.app.tasks.parts import SplitPart
    from agentforge.events.state.run_state import RunState


def part_lines(state: RunState) -> list[str]:
    """How the parts of a plan stand, a line each."""

    return [f"{label_of(part)}: {part.task_id} {standing_words(part.row)}" for part in parts_of(state)]


def label_of(part: SplitPart) -> str:
    """What a part is called among the parts of its plan."""

    return part_label({"repo": part.repo, "part": part.name if part.name != part.repo else ""})
