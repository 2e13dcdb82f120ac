"""What a stage read behind its submission stands in the context of the stage that follows."""

from __future__ import annotations

import pytest

from agentforge.events import kinds
from agentforge.events.state.attempt import FinishedStep, Turn
from agentforge.events.state.run_state import RunState
from agentforge.pipeline.engine.joint_replies import reads_for_the_next
from agentforge.pipeline.stages import load_stages
from tests.support.run_states import with_fields
from tests.support.stage_states import inside

STAGES = load_stages()


def finished(name: str) -> kinds.ToolFinished:
    return kinds.ToolFinished(step=1, index=0, call_id="c", name=name, status="success", summary="s", result="r")


def after(stage: str, *names: str) -> RunState:
    recent = (FinishedStep(step=1, said="", results=tuple(finished(name) for name in names)),)
    return with_fields(inside(stage), turn=Turn(step=1, recent=recent))


@pytest.mark.parametrize(
    ("stage", "names", "kept"),
    [
        ("clarify", ("submit_artifact", "read_file"), True),
        ("analyze", ("submit_artifact", "grep"), True),
        ("analyze", ("submit_artifact",), False),
        ("spec", ("submit_artifact", "read_file"), False),
    ],
)
def test_the_next_stage_is_shown_what_was_read(stage: str, names: tuple[str, ...], *, kept: bool) -> None:
    assert reads_for_the_next(stage, after(stage, *names), STAGES) is kept
